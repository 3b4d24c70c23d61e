"""Makes the resolver of a project's conflicts."""

from functools import partial
from pathlib import Path
from typing import Protocol

from interlock.engine.resolving import Resolver, ResolverMeans, find_mergiraf
from interlock.engine.settings import Settings
from interlock.git.place import Place
from interlock.run.proxied import ProxyNetwork
from interlock.verify.protocol import Checker


class Tools(Protocol):
    """The part of a project that is needed here."""

    @property
    def place(self) -> Place: ...

    @property
    def root(self) -> Path: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def checker(self) -> Checker: ...

    @property
    def network(self) -> ProxyNetwork: ...

    def clean(self, text: str) -> str: ...


def resolver_of(tools: Tools) -> Resolver:
    """Return a resolver that does what the settings say."""
    program = find_mergiraf(tools.root) if tools.settings.structural_merge == "auto" else ""

    def means() -> ResolverMeans:
        hosts = tools.settings.setup_hosts
        return ResolverMeans(tools.checker, partial(tools.network.to, "regenerate", hosts), tools.clean)

    return Resolver(tools.place, means, program)
