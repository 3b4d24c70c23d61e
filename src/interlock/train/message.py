"""The commit message under which a change lands.

The goal is written by others. It must not be able to look like our trailers: git reads those from the last
paragraph only, but people and scripts search the whole message.
"""

import re
import unicodedata
from collections.abc import Sequence

from interlock.model.evidence import Evidence, Gap
from interlock.model.outcome import Resolved
from interlock.model.task import Task

SUBJECT_CHARS = 72
NAMED, NAME_CHARS = 5, 100
"""The most removed tests that a commit message names, and the most characters of each."""
RESOLVED_CHARS = 300
_GAPS: dict[Gap | None, str] = {
    Gap.NO_CHECKS: "no check covers it",
    Gap.RED_ON_MAIN: "a check fails on main too",
    Gap.UNREAD: "no check has read what it changes",
    Gap.FEWER_TESTS: "it removes tests of main",
    Gap.TESTS_REMOVED: "it removes tests that no report counts",
    Gap.ONLY_BUILT: "only a compiler or a linter noticed code broken on purpose",
    Gap.BLIND: "the checks did not notice code broken on purpose",
}
_TRAILER = re.compile(r"^\s*interlock-[a-z-]*\s*:", re.IGNORECASE)


def message(task: Task, attempt: int, evidence: Evidence, resolved: Sequence[Resolved] = ()) -> str:
    """Subject and body from the goal, then who did it and what shows that it works as trailers."""
    subject, body = title_and_text(task)
    trailers = (
        f"Interlock-Task: {task.id}\nInterlock-Attempt: {attempt}\nInterlock-Evidence: {worth(evidence)}\n"
    ) + "".join(f"Interlock-Resolved: {_line(file)}\n" for file in resolved)
    return "\n\n".join(part for part in (subject, body, trailers) if part)


def joint_message(parts: Sequence[tuple[Task, Evidence]]) -> str:
    """Return the message of a merge that lands several changes. Each has a commit of its own below it."""
    names = [task.id for task, _ in parts]
    listed = [f"- {task.id}: {title_and_text(task)[0]}" for task, _ in parts]
    weakest = next((evidence for _, evidence in parts if not evidence.is_verified), parts[0][1])
    trailers = "".join(f"Interlock-Task: {name}\n" for name in names)
    subject, _ = _split([f"Land {', '.join(names[:-1])} and {names[-1]}"])
    return "\n\n".join((subject, "\n".join(listed), f"{trailers}Interlock-Evidence: {worth(weakest)}\n"))


def _line(file: Resolved) -> str:
    """A file in which both sides clashed, and the command that made it."""
    words = f"{file.path} by {file.command}"
    return _plain(" ".join(words.split()))[:RESOLVED_CHARS]


def title_and_text(task: Task) -> tuple[str, str]:
    """The goal as a line and the rest, without what could pass for our trailers."""
    lines = "\n".join(map(_plain, task.goal.splitlines())).strip("\n").split("\n")
    return _split(lines if lines[0] else [task.id])


def worth(evidence: Evidence) -> str:
    """The grade in words that a later reader of the history understands without our log."""
    if evidence.is_verified:
        known = evidence.known_failures
        tests = f", {known} known failing test{'' if known == 1 else 's'} as on main" if known else ""
        untried = ", checks not tried by a break" if evidence.untried else ""
        return f"verified on the merged tree{tests}{untried}{_steering(evidence)}"
    gap = _GAPS.get(evidence.gap, "not checked")
    files = _bracketed(evidence.about, len(evidence.about)) if evidence.gap is Gap.TESTS_REMOVED else ""
    return f"{evidence.grade.value}, {gap}{files}{_removed(evidence)}{_steering(evidence)}"


def _steering(evidence: Evidence) -> str:
    """The files of the change that decide how its checks run."""
    named = _listed(evidence.steering, len(evidence.steering))
    return f"; the change edits how its checks run: {named}" if named else ""


def _removed(evidence: Evidence) -> str:
    """Tests of main that no longer pass."""
    count = evidence.fewer_tests
    named = _bracketed(evidence.removed_tests, count)
    return f", without {count} test{'' if count == 1 else 's'} of main{named}" if count else ""


def _bracketed(names: Sequence[str], count: int) -> str:
    return f" ({_listed(names, count)})" if names else ""


def _listed(names: Sequence[str], count: int) -> str:
    """The first of `count` names, which the agent chose."""
    shown = [_plain(" ".join(name.split()))[:NAME_CHARS] for name in names[:NAMED]]
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _split(lines: list[str]) -> tuple[str, str]:
    first = lines[0]
    if len(first) <= SUBJECT_CHARS:
        return first, "\n".join(lines[1:]).strip("\n")
    cut = first[: SUBJECT_CHARS - 1]
    return (cut.rsplit(" ", 1)[0].rstrip() or cut) + "…", "\n".join(lines).strip("\n")


def _plain(line: str) -> str:
    """Remove control and direction marks, and quote a line that looks like a trailer."""
    text = "".join(" " if char == "\t" else char for char in line if char == "\t" or _is_shown(char)).rstrip()
    return f"> {text}" if _TRAILER.match(text) else text


def _is_shown(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn")
