"""The dependencies of an executor, besides workspaces and processes."""

from collections.abc import Callable
from dataclasses import dataclass, field

from interlock.model.sandbox import Sandbox
from interlock.proxy import Prices, Purse
from interlock.proxy.brake import ProviderBrake
from interlock.run.attempt_tools import ServeTools
from interlock.run.hooks import Hooks
from interlock.run.network import AttemptNetwork


@dataclass(frozen=True, slots=True)
class ExecutorOptions:
    """All but the network has a default that does nothing."""

    network: AttemptNetwork
    pass_env: tuple[str, ...] = ()
    sandbox: Sandbox = Sandbox.NONE
    """The sandbox of its processes, for the record and for what depends on it."""
    clean: Callable[[str], str] = str
    """Takes secrets out of text that is kept."""
    tell: Callable[[str], None] = lambda _text: None
    hooks: Hooks = field(default_factory=Hooks)
    """The user's commands that hear of sessions."""
    serve_tools: ServeTools | None = None
    """Serves the tools that agents may call; None: they have none of ours."""
    prices: Prices = field(default_factory=Prices)
    """Of what programs say that they have used with an account of their own."""
    brake: ProviderBrake | None = None
    """Hears of refusals from programs that are logged in with an account."""
    purse: Purse = field(default_factory=Purse)
    """The budgets, for programs that call their models without the proxy."""
    teardown: Callable[[], tuple[str, ...]] = tuple
    """The graph's commands for after each attempt."""
