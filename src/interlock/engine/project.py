"""A project with its real hands: the wiring that `interlock run` and programs use.

Programs may drive Interlock through this: `accept_graph`, what is in `calls` (W14), `Engine` with `env()`.
"""

import functools
import itertools
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.engine.calls import Calls
from interlock.engine.canary import make_canaries
from interlock.engine.env import Env
from interlock.engine.environment import reusable
from interlock.engine.environments import GraphCommands, databases_of, refuse_without_server
from interlock.engine.graph_file import GraphFile
from interlock.engine.host import Host, IdleHost, LocalHost
from interlock.engine.identity import is_dead, new_incarnation
from interlock.engine.ledger import SNAPSHOT_EVERY, Tell
from interlock.engine.loading import catch_up, load_state
from interlock.engine.notary import notary_of
from interlock.engine.publish import Publisher
from interlock.engine.publishers import publisher_of
from interlock.engine.reserved import PROJECT_FILE, Reserved, names_in, own_attributes
from interlock.engine.resolvers import resolver_of
from interlock.engine.resolving import Resolver
from interlock.engine.resumption import held_until_morning
from interlock.engine.reviews import reviews_of
from interlock.engine.settings import FILE, Settings, load, project_name, setting_files, store_address
from interlock.engine.setups import SetupMeans, Setups
from interlock.engine.started_outside import started_outside
from interlock.engine.template import template_of
from interlock.engine.trust import Trust, Untrusted, Widening, of_graph, of_include, of_links
from interlock.events.facts import Fact, StateMoved
from interlock.events.snapshot import pack
from interlock.events.state import State
from interlock.git.branch import finish_move
from interlock.git.checkout import tracked_files
from interlock.git.discover import discover
from interlock.git.files import GRAPH_BYTES, read_regular
from interlock.git.include import FILE as INCLUDE_FILE
from interlock.git.include import read_patterns
from interlock.git.lineage import ensure_lineage
from interlock.git.place import Place
from interlock.git.radar import MergeRadar
from interlock.git.repository import GitRepository
from interlock.git.reverting import GitReverts
from interlock.git.screening import Screening
from interlock.git.workspaces import GitWorkspaces
from interlock.model.errors import UsageError
from interlock.model.moment import Moment
from interlock.model.pace import HangLimits
from interlock.model.redact import Redactor, secret_values
from interlock.model.sandbox import Limits, Sandbox
from interlock.model.unwanted import LandingRules
from interlock.plan import Graph, changes, parse
from interlock.process.choice import SandboxRequest, choose_confinement
from interlock.process.processes import LocalProcesses
from interlock.process.supervised import Bounds
from interlock.proxy import EgressProxy, ModelProxy, OpenGate, Prices, ProxyLimits, Purse
from interlock.proxy.brake import ProviderBrake, ServerCheck
from interlock.proxy.hosts import hosts_of
from interlock.run.attempt_token import project_secret
from interlock.run.attempt_tools import ServeTools
from interlock.run.executor import LocalExecutor
from interlock.run.hooks import Hooks
from interlock.run.options import ExecutorOptions
from interlock.run.proxied import ProxyNetwork, check_key
from interlock.store import Store, open_store
from interlock.verify.checker import LocalChecker
from interlock.verify.protocol import Beside

if TYPE_CHECKING:
    from interlock.store.databases import Databases


@dataclass(frozen=True)
class Project(Calls):
    """One repository, its settings, its log and the hands that work on it."""

    place: Place
    settings: Settings
    store: Store
    origins: Mapping[str, str] = field(default_factory=dict)
    """Origin of each setting."""
    unsafe: bool = False
    """A person said on the command line that programs need no sandbox. No file can say that."""
    trust: Trust = field(default_factory=Trust)
    asked: tuple[Widening, ...] = ()
    """Values of the settings that widen the sandbox."""
    graph_commands: GraphCommands = field(default_factory=GraphCommands)
    """Commands of the graph that was read last."""

    @property
    def root(self) -> Path:
        """The top of the checkout we were called from."""
        return self.place.work_tree or self.place.common_dir

    @property
    def state_dir(self) -> Path:
        """Interlock's own folder."""
        return self.place.state

    @cached_property
    def repository(self) -> GitRepository:
        """The one path to main."""
        return GitRepository(self.place)

    @cached_property
    def workspaces(self) -> GitWorkspaces:
        """Makes the workspaces of agents."""
        return GitWorkspaces(
            self.place,
            why_copies=lambda: self.processes.why_no_overlays(self.state_dir),
            built=self.setups.shown,
            may_include=lambda text: not self.trust.missing(filter(None, [of_include(text)])),
        )

    @cached_property
    def setups(self) -> Setups:
        """Installs what trees need and the checkout lacks, as the graph says."""
        return Setups(self.place, self._setup_means)

    def _setup_means(self) -> SetupMeans:
        async def record(fact: Fact) -> None:
            await self.store.append([fact], new_incarnation())

        return SetupMeans(
            self.processes,
            self.workspaces,
            lambda: self.network.to("setup", self.settings.setup_hosts),
            record,
            self.settings.pass_env,
            (self.processes.sandbox.kind.value, *self.processes.sandbox.toolchains.folders),
        )

    @cached_property
    def processes(self) -> LocalProcesses:
        """Programs on this machine. Making it finds out how well they can be contained."""
        return LocalProcesses(
            log_limit_bytes=self.settings.log_limit_bytes,
            bounds=Bounds(limits=self.limits),
            choose=lambda: choose_confinement(self.wanted_sandbox, unsafe=self.unsafe),
            clean=self.clean,
        )

    @property
    def clean(self) -> Callable[[str], str]:
        """Takes the secrets of your environment, and what looks like one, out of text that is kept."""
        return Redactor(secret_values(os.environ)).clean

    @property
    def limits(self) -> Limits:
        """The most that an agent or a check may use of the machine."""
        settings = self.settings
        return Limits(settings.memory_limit_bytes, settings.process_limit, settings.disk_limit_bytes)

    @property
    def wanted_sandbox(self) -> SandboxRequest:
        """The sandbox that the settings ask for."""
        hidden = (str(self.place.common_dir), str(self.state_dir))
        settings = self.settings
        return SandboxRequest(
            settings.sandbox,
            settings.toolchains,
            settings.container_image,
            str(self.root),
            hidden,
            partial(tracked_files, self.place),
        )

    @cached_property
    def checker(self) -> LocalChecker:
        """The repository's own checks."""
        return LocalChecker(
            self.workspaces,
            self.processes,
            self.state_dir,
            self.settings.pass_env,
            at_once=self.lane_depth,
            beside=Beside(
                self.setups.ensure, self.network.to_databases, lambda: self.graph_commands.services
            ),
        )

    @cached_property
    def databases(self) -> "Databases | None":
        """Makes databases for attempts and checks."""
        return databases_of(self.settings, self.place)

    @cached_property
    def resolver(self) -> Resolver:
        """Resolves conflicts of merges."""
        return resolver_of(self)

    @property
    def screening(self) -> Screening:
        """The look at what agents would land."""
        return Screening(self.place, LandingRules(self.settings.land_files, self.settings.max_file_bytes))

    @cached_property
    def template(self) -> str:
        """Template of prompts, checked."""
        return template_of(self.settings, self.origins, self.root)

    @cached_property
    def brake(self) -> ProviderBrake | None:
        """Holds calls of models back."""
        return ProviderBrake(self.settings.model_hold_seconds) if self.settings.model_brake else None

    @cached_property
    def prices(self) -> Prices:
        """What tokens cost."""
        return Prices(self.settings.prices)

    @cached_property
    def purse(self) -> Purse:
        """The budgets, for the calls of models."""
        return Purse()

    @cached_property
    def network(self) -> ProxyNetwork:
        """The ways out of a sandbox. Sockets are gone with the process that made them."""
        sockets = self.state_dir / "sockets"
        fetches = self.settings.server_fetches == "allow"
        limits = ProxyLimits(silence_seconds=self.settings.model_silence_seconds, server_fetches=fetches)
        hosts_of(self.settings.allow_hosts)  # one that makes no sense is said before anything starts
        return ProxyNetwork(
            ModelProxy(os.environ, sockets, self.brake or OpenGate(), limits, self.prices, self.purse),
            EgressProxy(os.environ, sockets, ProxyLimits()),
            self.state_dir / "logs",
            self.processes.sandbox.alone,
            self.settings.allow_hosts,
            self.settings.key_hosts,
            self.databases,
            project_secret(self.state_dir),
        )

    def env(self, tell: Tell = lambda _text: None, serve_tools: ServeTools | None = None) -> Env:
        """Everything an engine needs, for real. `tell` hears of trouble that is being waited for."""
        options = ExecutorOptions(
            self.network,
            self.settings.pass_env,
            self.processes.sandbox.kind,
            self.clean,
            tell,
            Hooks(
                {Moment(name): commands for name, commands in self.settings.hooks.items()},
                self.settings.hook_timeout_seconds,
                self.root,
            ),
            serve_tools,
            self.prices,
            self.brake,
            self.purse,
            lambda: self.graph_commands.teardown,
        )
        return Env(
            self.store,
            self.repository,
            LocalExecutor(self.workspaces, self.processes, self.state_dir, options),
            self.checker,
            new_incarnation,
            self.processes.lease,
            is_dead,
            self.template,
            Reserved(self.reserved, self.screening.read, own_attributes(self.place)),
            clean=self.clean,
            lesson_hold_out=self.settings.lesson_hold_out,
            host=self.host,
            brakes=self.brake,
            plan=GraphFile(self),
            radar=None if self.settings.radar == "off" else MergeRadar(self.place),
            reach=ServerCheck(self.brake, os.environ) if self.brake else None,
            screen=self.screening.screen,
            notary=notary_of(self.place, self.settings, self.clean),
            canaries=functools.partial(make_canaries, self.place),
            publisher=self.publisher,
            environment=partial(reusable, self),
            is_confined=self.processes.sandbox.kind is not Sandbox.NONE,
            reduced=self.workspaces.reduced,
            reverts=GitReverts(self.place),
            resolve=self.resolver.resolve,
            reviews=reviews_of(self.place, self.settings, self.origins),
            circle_limit=self.settings.circle_limit,
            purse=self.purse,
            held_seconds=held_until_morning(self.settings),
            patience=HangLimits(self.settings.hang_factor, self.settings.hang_after_seconds),
        )

    @property
    def publisher(self) -> Publisher:
        """Publishes tested changes as the setting `land` says."""
        return publisher_of(self.place, self.repository, self.settings, self.origins)

    @property
    def host(self) -> Host:
        """The machine that agents run on."""
        if not self.settings.host_brake:
            return IdleHost()
        return LocalHost(self.state_dir, self.settings.disk_reserve_bytes)

    @cached_property
    def lane_depth(self) -> int:
        """Number of changes that are checked at once here."""
        if self.settings.land == "pull-request":  # it lands on main as it is, and on no other change
            return 1
        return min(self.settings.lane_depth, os.cpu_count() or 1)

    @cached_property
    def reserved(self) -> frozenset[str]:
        """The files that say what agents may do or are shown, as git names them."""
        settings = self.settings
        linked = PROJECT_FILE if (self.root / PROJECT_FILE).is_symlink() else ""
        named = (FILE, INCLUDE_FILE, settings.graph, settings.prompt_template, linked)
        own = [Path(path).expanduser() for path in [self.place.settings.get("core.excludesfile")] if path]
        commands = (*itertools.chain.from_iterable(settings.hooks.values()), *self.place.started)
        started = started_outside(self.root, os.environ, commands)
        own += [setting_files(self.root, os.environ)[-1], *map(Path, self.place.settings_files)]
        files = frozenset(names_in(self.root, [*own, *filter(None, named), *started]))
        hooks = self.place.settings.get("core.hookspath", "").rstrip("/").removesuffix("/_")  # so does husky
        folders = names_in(self.root, [Path(hooks).expanduser()]) if hooks else ()
        return files | {f"{folder}/" for folder in folders if not folder.startswith("..") and folder != "."}

    @property
    def how_to_begin(self) -> str:
        """Hint on how to get a first graph; a bare repository has no files for `init` to look at."""
        if self.place.work_tree is None:
            return "write one there, or git clone this repository and work in the clone"
        return "`interlock init` writes a first one"

    async def aclose(self) -> None:
        """Remove what is no longer needed of workspaces."""
        if "workspaces" in self.__dict__:
            await self.workspaces.close()
        if databases := self.__dict__.get("databases"):
            await databases.close()

    async def read_graph(self, name: str = "") -> Graph:
        """The task graph of the checkout, checked."""
        path = self.root / (name or self.settings.graph)
        try:
            text = read_regular(path, GRAPH_BYTES)
        except FileNotFoundError:
            raise UsageError(f"there is no {path.name} in {path.parent}", self.how_to_begin) from None
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}", "make the file readable") from None
        graph = parse(text, path.name, await self.repository.files())
        self.setups.spec = graph.setup
        self.resolver.commands = graph.regenerate
        self.graph_commands.take(graph)
        return graph

    def widenings(self, graph: Graph | None = None) -> list[Widening]:
        """All that the repository asks for beyond the sandbox."""
        source = Path(self.settings.graph).name
        found = [
            *self.asked,
            *of_links({FILE: FILE, "graph": self.settings.graph}, self.root),
            *of_graph(graph, source, self.settings.key_hosts),
            of_include(read_patterns(self.root)),
        ]
        return [value for value in found if value]

    def refuse_unagreed(self, graph: Graph) -> None:
        """Refuse a graph that would send a key to a foreign host, or that widens the sandbox
        without the user's agreement."""
        refuse_without_server(graph.leases, self.settings)
        for agent in graph.agents:
            check_key(agent, self.settings.key_hosts)
        if missing := self.trust.missing(self.widenings(graph)):
            raise Untrusted(missing)

    async def accept_graph(self, graph: Graph | None = None, actor: str = "") -> State:
        """Put what is new or changed in the graph into the log; the state after that."""
        graph = graph or await self.read_graph()
        self.refuse_unagreed(graph)
        state = await load_state(self.store)
        if facts := changes(state, graph):
            await self.store.append(facts, actor or new_incarnation())
            await catch_up(self.store, state)
            if len(facts) >= SNAPSHOT_EVERY:
                await self.store.save_snapshot(state.seq, pack(state))
        return state


@asynccontextmanager
async def open_project(
    path: Path, flags: Mapping[str, object] | None = None, tell: Tell = lambda _text: None
) -> AsyncIterator[Project]:
    """The project around a path, for work. Makes the state folder if it is not there yet."""
    place = await discover(path)
    if text := await finish_move(place):
        tell(text)
    loaded = load(place.work_tree or place.common_dir, flags or {})
    loaded.refuse_log()
    settings = loaded.settings
    if settings.branch:
        place = await discover(path, settings.branch)
    former = place.ensure_state()
    lineage = ensure_lineage(place.state)
    store = open_store(store_address(settings, place.state), project_name(settings, lineage))
    try:
        await store.identify(lineage)
        if store.notice:
            tell(store.notice)
        if former:
            await store.append([StateMoved(str(former), str(place.state))], new_incarnation())
        project = Project(place, settings, store, loaded.origins, trust=loaded.trust, asked=loaded.asked)
        try:
            yield project
        finally:
            await project.aclose()
    finally:
        await store.close()
