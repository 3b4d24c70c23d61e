"""What the checks of a candidate say about it, and not about the main it stands on."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from interlock.model.outcome import CheckResult


@dataclass(frozen=True, slots=True)
class Verdict:
    """The checks of one candidate, judged as a difference to its base."""

    checks: tuple[CheckResult, ...]
    """All of them; those that fail on the base too are marked."""
    red: tuple[CheckResult, ...]
    """Those that are held against the candidate."""
    unknown: tuple[str, ...]
    """Failed commands of which it is not known how they end on the base: run them there and judge again."""

    @property
    def passed(self) -> bool:
        """May the candidate land."""
        return not self.red and not self.unknown


def judge(
    results: Sequence[CheckResult], done_when: Collection[str], base_exit: Mapping[str, int]
) -> Verdict:
    """Hold against the candidate what it promised (`done_when`) and what was green before it."""
    failed = [result for result in results if not result.passed]
    excused = {
        result.command
        for result in failed
        if result.command not in done_when and base_exit.get(result.command, 0) != 0
    }
    unknown = {
        result.command
        for result in failed
        if result.command not in done_when and result.command not in base_exit
    }
    return Verdict(
        tuple(replace(r, red_on_base=True) if not r.passed and r.command in excused else r for r in results),
        tuple(r for r in failed if r.command not in excused and r.command not in unknown),
        tuple(dict.fromkeys(r.command for r in failed if r.command in unknown)),
    )
