"""Loads the state of a log from a store. Apart from the ledger: a reader imports nothing that writes."""

from collections.abc import AsyncIterator

from interlock import __version__
from interlock.events.fold import apply
from interlock.events.record import GENESIS, Recorded, UnknownFact, keep_before, verify_chain
from interlock.events.snapshot import unpack
from interlock.events.state import State
from interlock.events.versions import Unknown, newest
from interlock.model.reason import Reason, Value, Why
from interlock.store.protocol import Store

PAGE = 10_000
"""Facts read at a time."""


async def verify_log(store: Store) -> None:
    """`BrokenChain` if a fact was changed, removed or moved: nothing may be decided from such a log."""
    previous, after = GENESIS, 0
    while rows := await store.read(after, PAGE):
        verify_chain(rows, previous, after + 1)
        previous, after = rows[-1].hash, rows[-1].seq


async def load_state(store: Store) -> State:
    """The state of a log, by way of its snapshot if that fits."""
    saved = await store.load_snapshot()
    state = (unpack(saved[2], saved[1]) if saved else None) or State()
    async for _ in _folded(store, state):
        pass
    return state


async def catch_up(store: Store, state: State) -> list[Recorded]:
    """Fold what is new in the log into `state`; the new rows."""
    return [row async for row in _folded(store, state)]


async def _folded(store: Store, state: State) -> AsyncIterator[Recorded]:
    while rows := await store.read(state.seq, PAGE):
        for row in rows:
            apply(state, row)
            yield row


def unknown_text(state: State) -> str:
    """The fact of a newer Interlock that this one must not go on without, and the version that it needs;
    empty: the log has none."""
    if (found := state.unknown) is None:
        return ""
    if _is_for_us(found):
        return (
            f"fact {found.seq} ({found.kind}) is damaged or foreign: it needs Interlock {found.needs}, and "
            f"{__version__} does not know {found.what}"
        )
    needs = f"Interlock {found.needs}" if found.needs else "a newer Interlock"
    return f"fact {found.seq} ({found.kind}) needs {needs}, and this is {__version__}"


def unknown_reason(state: State) -> Reason | None:
    """The same as data."""
    if (found := state.unknown) is None:
        return None
    fields: dict[str, Value] = {"seq": found.seq, "kind": found.kind, "needs": found.needs}
    return Reason(Why.UNKNOWN_FACT, fields | {"version": __version__, "what": found.what})


def _is_for_us(found: Unknown) -> bool:
    """Return True if this version is new enough for the fact, by its own mark: no upgrade helps."""
    return bool(found.needs) and newest(__version__, found.needs) == __version__


def refuse_unknown(state: State) -> None:
    """Refuse to decide anything from a log with such a fact."""
    if text := unknown_text(state):
        raise UnknownFact(text, unknown_hint(state))


def unknown_hint(state: State) -> str:
    """The way out."""
    found = state.unknown
    if found and _is_for_us(found):
        return f"{keep_before(found.seq)}; `interlock events --since {found.seq - 1}` shows the fact"
    needs = f"Interlock {found.needs} or newer" if found and found.needs else "the newest Interlock"
    since = found.seq - 1 if found else 0
    return (
        f"install {needs}, then run the same command again; `interlock events --since {since}` shows the fact"
    )
