"""For which agents a command hears of a moment, and for which its word counts."""

from enum import StrEnum

from interlock.model.moment import Moment


class MomentSource(StrEnum):
    """The source that tells us of a moment."""

    OURS = "ours"
    """We make it happen."""
    NATIVE = "native"
    """The program itself asks before it goes on."""
    OBSERVED = "observed"
    """Read from the program's output, when it has happened."""
    NEVER = "never"
    """No source tells us."""


OURS = frozenset({Moment.SESSION_START, Moment.PROMPT, Moment.SESSION_END})
IN_SESSION = (Moment.BEFORE_TOOL, Moment.AFTER_TOOL, Moment.BEFORE_COMPACT, Moment.STOP)
NATIVE = {
    "claude-code": frozenset(IN_SESSION),
    "built-in": frozenset({Moment.BEFORE_TOOL, Moment.STOP}),
}
"""By kind of agent: what the program runs hooks for by itself. The rest comes from its output."""
SILENT = {"command": frozenset(IN_SESSION)}
"""Moments that the output of a program does not tell. A plain program only says lines."""
STOPPABLE = frozenset({Moment.SESSION_START, Moment.PROMPT, Moment.BEFORE_TOOL, Moment.STOP})
"""Moments that a hook asked in time can still prevent."""


def source_of(use: str, moment: Moment) -> MomentSource:
    """Return the source of a moment for an agent of this kind."""
    if moment in OURS:
        return MomentSource.OURS
    if moment in NATIVE.get(use, ()):
        return MomentSource.NATIVE
    if moment is Moment.BEFORE_COMPACT or moment in SILENT.get(use, ()):
        return MomentSource.NEVER
    return MomentSource.OBSERVED


def can_block(use: str, moment: Moment) -> bool:
    """Tell if an objection keeps it from happening."""
    return moment in STOPPABLE and source_of(use, moment) in (MomentSource.OURS, MomentSource.NATIVE)
