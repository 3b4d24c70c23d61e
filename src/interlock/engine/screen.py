"""The last look at what an agent made: which of its files may land, and whether there is a secret in them.

No agent moves a submodule: no other clone could fetch a commit that it made there.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from interlock.model.outcome import ErrorClass, Report
from interlock.model.reason import Reason, Why
from interlock.model.task import Commit
from interlock.model.unwanted import ScreenedChange

Screen = Callable[[Commit, Commit, str], Awaitable[ScreenedChange]]
"""Takes the base, the work and the ref that keeps the work."""
LEAKS_SHOWN = 5


async def screen_nothing(_base: Commit, work: Commit, _ref: str) -> ScreenedChange:
    """Every file may land."""
    return ScreenedChange(work)


async def screened(screen: Screen, report: Report) -> Report:
    """The report of what may land. One that moves a submodule or has a secret in it is a failure, and so is
    one of which nothing is left."""
    if report.error or report.commit is None:
        return report
    seen = await screen(report.base, report.commit, report.archived)
    report = replace(report, commit=seen.commit, left_out=seen.left_out)
    if seen.submodules:
        why = Reason(Why.SUBMODULE, {"paths": seen.submodules})
        names = ", ".join(seen.submodules)
        tail = f"Leave {names} at the commit that it was at, and make the change without it."
        return replace(report, error=ErrorClass.DENIED, why=why, tail=tail)
    if seen.leaks:
        return replace(report, error=ErrorClass.SECRET, why=_secret(seen))
    touched = tuple(path for path in report.touched if path not in seen.paths)
    if touched or not report.touched:
        return replace(report, touched=touched)
    files = tuple(out.text for out in seen.left_out[:LEAKS_SHOWN])
    return replace(report, error=ErrorClass.NO_CHANGE, why=Reason(Why.NONE_LANDS, {"files": files}))


def _secret(seen: ScreenedChange) -> Reason:
    """Name the places of the secrets, never their values."""
    places = tuple(leak.text for leak in seen.leaks[:LEAKS_SHOWN])
    return Reason(Why.LEAK, {"places": places, "count": len(seen.leaks)})
