"""`interlock clutch`: how many agents may work on what, and the brake that says so."""

from collections.abc import Iterator

from interlock.engine.clutch import CategoryView
from interlock.engine.host import HostReading, LocalHost
from interlock.events.facts import ClutchDecided
from interlock.model.provider import is_account
from interlock.store.protocol import Store
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, paint, say_listing
from interlock.ui.cli.session import opened, read
from interlock.ui.plain import counted, inert
from interlock.ui.queries.clutch import (
    SHOWN,
    ClutchView,
    Decision,
    ProviderView,
    clutch_view,
    decision_of,
)
from interlock.ui.reading import PAGE
from interlock.ui.words.brakes import rate
from interlock.ui.words.facts import clock
from interlock.ui.words.reasons import reason_text, with_reasons


@cli_command("clutch")
async def clutch_command(invocation: Invocation) -> None:
    """Show the agent limit for each kind of work, the brake that sets it, and what would change it.

    For example: interlock clutch --json
    """
    async with opened(invocation) as project:
        reading = await read(project.store)
        decisions = await _decisions(project.store)
        view = clutch_view(reading, LocalHost().read(), decisions)
    say_listing(invocation, lambda: with_reasons(view), _lines(view))


async def _decisions(store: Store) -> tuple[Decision, ...]:
    """The last ones, read from the end of the log backwards."""
    found: list[Decision] = []
    end = await store.head()
    while end > 0 and len(found) < SHOWN:
        start = max(0, end - PAGE)
        rows = [row for row in await store.read(start, PAGE) if row.seq <= end]
        said = [(row.time, row.fact) for row in rows if row.kind == ClutchDecided.__name__]
        found = [*(decision_of(time, fact) for time, fact in said if isinstance(fact, ClutchDecided)), *found]
        end = start
    return tuple(found[-SHOWN:])


def _lines(view: ClutchView) -> Iterator[str]:
    if not view.decisions:
        note("the clutch has made no decision yet; next: interlock run --max-parallel auto")
    if view.limit:
        running = (
            f"{counted(view.at_work, 'agent')} at work of {view.limit}"
            if view.is_running
            else "no run is active"
        )
        yield f"{paint('all', 'cyan')}  {running}  {reason_text(view.why)}"
    for category in view.categories:
        yield from _category_lines(category)
    for provider in view.providers:
        yield from _provider_lines(provider)
    yield f"{paint('machine', 'cyan')}  {_host(view.host)}"
    if view.decisions:
        yield paint("last decisions", "cyan")
    for decision in view.decisions:
        about = f"{inert(decision.about)}: {decision.limit}"
        yield f"  {clock(decision.time)}  {about}  {decision.brake}: {reason_text(decision.why)}"


def _category_lines(view: CategoryView) -> Iterator[str]:
    limit, name = view.limit, paint(inert(view.category), "cyan")
    running = f"{view.at_work} at work of {limit.limit}, {view.queued} queued"
    yield f"{name}  {running}  {limit.brake}, since {clock(limit.time)}: {reason_text(limit.why)}"
    tried = ", ".join(
        f"{counted(arm.agents, 'agent')} {rate(arm.landed_per_hour)}{'' if arm.is_tried else ' (not tried)'}"
        for arm in view.arms
    )
    yield f"  landed an hour: {tried}"
    if view.outlook:
        yield f"  {reason_text(view.outlook)}"


def _provider_lines(view: ProviderView) -> Iterator[str]:
    agents = "any number of agents" if view.agents is None else counted(view.agents, "agent")
    what = "at work" if is_account(view.provider) else "calls"
    calls = f"at most {view.calls_at_once:.0f} {what} at once"
    refused = f"{view.refused} of {view.calls} refused so far"
    yield f"{paint(inert(view.provider), 'cyan')}  {agents}, {calls}; {refused}"
    if view.why:
        until = f", closed until {clock(view.until)}" if view.until else ""
        yield f"  {reason_text(view.why)}{until}"


def _host(reading: HostReading) -> str:
    if not reading.total_bytes:
        return f"memory unknown; {_processors(reading)}"
    free, total = reading.available_bytes / 2**30, reading.total_bytes / 2**30
    room = counted(max(0, reading.room), "agent")
    return f"{free:.1f} of {total:.1f} GiB of memory free, enough for {room} more; {_processors(reading)}"


def _processors(reading: HostReading) -> str:
    return f"programs waited for a CPU in {reading.cpu_stalled:.0%} of the last minute"
