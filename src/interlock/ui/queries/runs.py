"""Finding a past run by what people call it."""

from interlock.learn.past import PastRun, past_runs
from interlock.model.errors import UsageError
from interlock.store.protocol import Store
from interlock.ui.cli.status import run_name
from interlock.ui.reading import all_rows
from interlock.ui.words.plain import counted

LAST = "last"


async def runs_of(store: Store) -> list[PastRun]:
    """All runs of the log, oldest first."""
    return past_runs([row async for row in all_rows(store)])


def find_run(runs: list[PastRun], name: str) -> PastRun:
    """By its number, by the beginning of its name, or `last`."""
    if not runs:
        raise UsageError("nothing has run in this repository yet", "interlock run")
    if name == LAST:
        return runs[-1]
    if name.isdecimal() and len(name) < 10 and 1 <= int(name) <= len(runs):
        return runs[int(name) - 1]
    found = [run for run in runs if run_name(run.run).startswith(name) or run.run == name]
    if len(found) == 1:
        return found[0]
    known = f"{len(found)} runs begin with `{name}`" if found else f"there is no run `{name}`"
    raise UsageError(f"{known}; the log has {counted(len(runs), 'run')}", "interlock replay lists them all")
