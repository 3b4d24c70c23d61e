"""The title and the text of a pull request: the goal, and the evidence for the change."""

import re
from collections.abc import Iterator

from interlock.events.state import TaskState
from interlock.events.task_parts import Candidate
from interlock.model.durations import precisely
from interlock.model.outcome import CheckResult
from interlock.train.message import title_and_text, worth

FILES = 40
"""The most files that the text names."""


def proposal_text(task: TaskState, candidate: Candidate, branch: str) -> tuple[str, str]:
    """The title and the text, for people who know nothing of this run."""
    title, rest = title_and_text(task.spec)
    parts = [rest, "\n".join(_evidence(candidate, branch)), "\n".join(_made_by(task))]
    return title, "\n\n".join(part for part in parts if part) + "\n"


def _evidence(candidate: Candidate, branch: str) -> Iterator[str]:
    grade = worth(candidate.evidence)
    yield "## Evidence"
    yield ""
    yield f"**{grade[0].upper()}{grade[1:]}**."
    yield ""
    yield (
        f"Tested commit: {candidate.commit}, tree {candidate.tree}, on top of {branch} at {candidate.base}. "
        f"If {branch} has moved on, the merged result was not tested."
    )
    if candidate.results:
        yield ""
        yield "| check | result | time |"
        yield "|---|---|---|"
        yield from map(_row, candidate.results)


def _row(check: CheckResult) -> str:
    known = ", as on main" if check.red_on_base else ""
    return f"| {_code(check.command)} | exit {check.exit_code}{known} | {precisely(check.seconds)} |"


def _made_by(task: TaskState) -> Iterator[str]:
    opened, agent = task.session.opened, task.who
    model = opened.model if opened and opened.model else agent.model
    kind = ", ".join(filter(None, (agent.use, model)))
    touched = task.change.work.touched if task.change.work else ()
    yield "## Made by"
    yield ""
    yield f"Agent {_code(agent.name)} ({kind}), task {_code(task.spec.id)}, attempt {task.attempt}."
    if touched:
        more = f" and {len(touched) - FILES} more" if len(touched) > FILES else ""
        yield ""
        yield f"Files: {', '.join(map(_code, touched[:FILES]))}{more}."


def _code(text: str) -> str:
    """Text as code in a table: agents choose the names of files."""
    plain = re.sub(r"[\s\x00-\x1f\x7f]+", " ", text).strip()
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", plain)), default=0))
    space = " " if "`" in plain else ""
    return f"{fence}{space}{plain}{space}{fence}".replace("|", "\\|")
