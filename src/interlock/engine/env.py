"""Every effect the engine can have, in one place, so that a whole run can happen in simulated time."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from interlock.engine.graph_watch import GraphSource
from interlock.engine.host import Host, IdleHost
from interlock.engine.notary import Notary
from interlock.engine.publish import LocalOnly, Publisher
from interlock.engine.reserved import Reserved
from interlock.engine.resolving import Job, keep
from interlock.engine.reviews import Reviews
from interlock.engine.screen import Screen, screen_nothing
from interlock.engine.template import shipped
from interlock.git.protocol import Radar, Repository
from interlock.git.reverting import Reverts
from interlock.learn.lessons import HOLD_OUT
from interlock.model.canary import Canary, CanaryResult
from interlock.model.outcome import Merge
from interlock.model.pace import HangLimits
from interlock.model.process import Lease
from interlock.model.redact import Redactor
from interlock.model.task import Tree
from interlock.proxy import Purse
from interlock.proxy.brake import ProviderBrake, ServerCheck
from interlock.run.protocol import Executor
from interlock.store.protocol import Store
from interlock.verify.protocol import Checker


async def _unknown_environment() -> str:
    """Return no digest: no result of a check is reused."""
    return ""


async def _whole_tree(tree: Tree, _inputs: Sequence[str]) -> Tree:
    """Return the tree itself: every check sees all of it."""
    return tree


Inputs = Mapping[str, tuple[str, ...]]
"""Globs of the files that checks see, by command, for those that do not see all files."""


async def _no_canaries(_tree: Tree, _commands: Sequence[str], _since: Tree, _: Inputs) -> Sequence[Canary]:
    """Return no canary: nothing is broken on purpose."""
    return ()


@dataclass(frozen=True, slots=True)
class Trials:
    """The trials of canaries that this engine has made: the log shows them to later checks."""

    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    found: dict[str, CanaryResult] = field(default_factory=dict)
    """Results by `canary_key`."""


@dataclass(frozen=True, slots=True)
class Env:
    """The hands of one engine. Time passes in its event loop: real in production, virtual in simulation."""

    store: Store
    repository: Repository
    executor: Executor
    checker: Checker
    new_id: Callable[[], str]
    """A fresh identity, never handed out twice."""
    lease: Lease
    """The time for which this controller is sure to be in charge, on the clock of agents and checks."""
    is_dead: Callable[[str], bool]
    """Returns True if this process is known to have ended. False when it cannot be known."""
    template: str = field(default_factory=shipped)
    """Template of prompts."""
    reserved: Reserved = field(default_factory=Reserved)
    """The files that decide what agents may do: no agent's change of them lands."""
    clean: Callable[[str], str] = field(default_factory=lambda: Redactor().clean)
    """Takes secrets out of text that is kept."""
    lesson_hold_out: float = HOLD_OUT
    """The share of attempts that a lesson is kept from; 1: what was learned is not used."""
    host: Host = field(default_factory=IdleHost)
    """The machine that agents run on."""
    brakes: ProviderBrake | None = None
    """Limits that the providers of models have shown."""
    plan: GraphSource | None = None
    """The task graph, which people may change while a run goes on; None: it stays as it is."""
    radar: Radar | None = None
    """Finds changes under way that conflict; None: they are not looked for."""
    reach: ServerCheck | None = None
    """Checks if their servers listen."""
    screen: Screen = screen_nothing
    """Looks at the files of a change before it may land."""
    publisher: Publisher = field(default_factory=LocalOnly)
    """Publishes a tested change before the branch moves here."""
    canaries: Callable[[Tree, Sequence[str], Tree, Inputs], Awaitable[Sequence[Canary]]] = _no_canaries
    """Trees of main with one place broken for these commands, the likeliest to be noticed first.

    The second tree: files that differ from it are not broken; empty: any may be."""
    trials: Trials = field(default_factory=Trials)
    """Their results in this run."""
    environment: Callable[[], Awaitable[str]] = _unknown_environment
    """Digest of what decides the result of a check besides the tree, as it is now; empty: it is not known."""
    notary: Notary | None = None
    """Writes a statement about each landed commit; None: there are none."""
    reduced: Callable[[Tree, Sequence[str]], Awaitable[Tree]] = _whole_tree
    """Returns the tree with only those files of another that match globs: what a check with inputs sees."""
    is_confined: bool = True
    """False: checks run without a sandbox."""
    reverts: Reverts | None = None
    """Undoes commits of main in memory; None: the commit that made main red is not searched."""
    resolve: Callable[[Merge, Job], Awaitable[Merge]] = keep
    """Resolves conflicts of merges where that is safe."""
    reviews: Reviews = field(default_factory=Reviews)
    """Says which tested changes a person has to approve before they land."""
    circle_limit: int = 0
    """Old tool calls in a row after which a session may be stopped; 0: none is."""
    purse: Purse = field(default_factory=Purse)
    """The budgets, for the calls of models."""
    held_seconds: Callable[[float], float] = lambda _: 0.0
    """Returns the time for which work still waits if the quota that stopped it is back at this time."""
    patience: HangLimits = field(default_factory=HangLimits)
    """Limits after which a check that takes longer than usual is ended."""
