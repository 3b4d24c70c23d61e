"""A main that another hand made red, in words: since which commit, by whom, and the command that mends it."""

from interlock.events.facts import CulpritFound
from interlock.events.main import freezes
from interlock.events.state import State
from interlock.events.state_parts import Broken, Culprit
from interlock.ui.plain import inert, listed, one_line

SHORT = 12
NAMES_SHOWN = 3


def broken_main(state: State) -> Broken | None:
    """Return the checks for which main is frozen; None if it is not."""
    return state.main.broken if freezes(state) else None


def broken_text(state: State) -> str:
    """One line on a main that is frozen; empty if it is not."""
    broken = broken_main(state)
    if broken is None:
        return ""
    found = broken.culprit
    since = f" since {culprit_text(found.commit, found.author, found.subject, found.task)}" if found else ""
    what = f"main is red{since}: {failing(broken)}; only a fix or a revert lands"
    if by := reverting(state):
        return f"{what}; {by} reverts it"
    if found and found.conflicts:
        return f"{what}; later commits changed the same lines of {listed(found.conflicts, NAMES_SHOWN)}"
    return what


def failing(broken: Broken) -> str:
    """Name the checks that fail."""
    names = listed([f"`{one_line(command)}`" for command in broken.commands], NAMES_SHOWN)
    return f"{names} {'fails' if len(broken.commands) == 1 else 'fail'}"


def culprit_text(commit: str, author: str, subject: str, task: str) -> str:
    if task:
        return f"{commit[:SHORT]}, which {task} landed"
    title = one_line(inert(subject))
    who = one_line(inert(author)) or "an unknown author"
    return f"{commit[:SHORT]} by {who}{f' ({title})' if title else ''}"


def mend_command(state: State) -> str:
    """Return the command that makes main green again; empty if it is not frozen."""
    broken = broken_main(state)
    if broken is None:
        return ""
    if reverting(state):
        return "interlock run"
    if found := broken.culprit:
        return undo_command(found.commit, found.conflicts)
    return "interlock doctor"


def reverting(state: State) -> str:
    """Return the task under way that undoes the commit to blame; empty if there is none."""
    broken = broken_main(state)
    wanted = broken.culprit.commit if broken and broken.culprit else ""
    for name, task in state.tasks.items():
        undo = task.change.undo
        if undo and not task.is_over and wanted in {each.change for each in undo.undoes}:
            return name
    return ""


def found_text(fact: CulpritFound) -> str:
    """The result of a search in one line."""
    if fact.fails_before:
        return f"`{fact.command}` fails where it has passed before: something outside the repository changed"
    if not fact.commit:
        return f"no commit was found since which `{fact.command}` fails on main"
    named = culprit_text(fact.commit, fact.author, fact.subject, fact.landed_by)
    said = f"`{fact.command}` fails on main since {named}"
    return said if fact.reverted_by else f"{said}. Next: {undo_command(fact.commit, fact.conflicts)}"


def undo_command(commit: str, conflicts: tuple[str, ...]) -> str:
    return f"interlock undo {commit[:SHORT]}{' --include-later' if conflicts else ''}"


def culprit_object(found: Culprit | None) -> dict[str, object] | None:
    """The commit to blame, for programs."""
    if found is None:
        return None
    return {
        "commit": found.commit,
        "author": found.author,
        "subject": found.subject,
        "task": found.task or None,
        "conflicts": found.conflicts,
    }
