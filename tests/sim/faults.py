"""What can go wrong around one engine, thrown by the dice at every call it makes.

Rules:
1. Every call of every hand passes the engine's gate, before and after. Nothing else stands between the engine
   and its hands, so a crash can fall before an effect, after it, or (where a fake has steps) within it.
2. A crashed engine has no further effect, ever: its tasks are cancelled and its gate is shut.
3. A paused engine makes no call until it wakes; the world goes on without it.
4. `Weather.calm` ends all faults, so that a run can be asked to come to rest.
"""

import asyncio
import contextlib
import contextvars
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from interlock.model.errors import EnvironmentProblem, StoreUnavailable
from interlock.model.outcome import Move
from tests.sim.graph import LEASE_SECONDS
from tests.sim.loop import Simulation

WEIGHTY = 12.0
"""Calls that change something are this much likelier to be struck than the many that only look."""
WEIGHTIEST = {"repository.land": 60.0, "store.release": 20.0}
"""Where an answer that is lost hurts most, and which come seldom."""
LOOKS = (
    "store.read",
    "store.wait",
    "store.now",
    "store.head",
    "store.held",
    "repository.tip",
    "repository.fetch",
    "repository.past",
    "repository.fence_epoch",
)
MAX_CRASHES = 8


class Crashed(BaseException):
    """The engine's process is gone. Not an Exception: nothing in the engine may catch it."""


@dataclass(frozen=True, slots=True)
class Weather:
    """How likely each kind of trouble is, per call that only looks."""

    crash: float = 0.0
    pause: float = 0.0
    store_down: float = 0.0
    """One call fails, before or after its effect."""
    cut_off: float = 0.0
    """The store is out of reach for a while, perhaps longer than the lease."""
    git_trouble: float = 0.0
    latency: float = 0.3

    @property
    def calm(self) -> "Weather":
        return Weather(latency=self.latency)


def random_weather(dice: Random) -> Weather:
    """Each seed has its own mix: some kinds of trouble are absent, so that the others get further."""

    def some(rate: float) -> float:
        return rate * dice.choice([0.0, 0.0, 0.5, 1.0, 3.0])

    return Weather(
        crash=some(0.0008),
        pause=some(0.0004),
        store_down=some(0.001),
        cut_off=some(0.0005),
        git_trouble=some(0.001),
        latency=dice.choice([0.1, 0.3, 0.6]),
    )


@dataclass(slots=True)
class Incarnation:
    """One start of the engine: a process, as far as the world is concerned."""

    name: str
    alive: bool = True
    paused_until: float = 0.0
    pause_at: str = ""
    """The moment at which it is to be stopped, and for how long: set by whoever knows when it hurts."""
    pause_seconds: float = 0.0
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    cut_until: float = 0.0
    tasks: list[asyncio.Task[Any]] = field(
        default_factory=list
    )  # Any: what each returns is the engine's affair

    def wake_by(self, time: float) -> None:
        """A pause ends then at the latest."""
        self.paused_until = min(self.paused_until, time)
        self.woken.set()

    def crash(self) -> None:
        """Gone, with everything it was about to do."""
        self.alive = False
        for task in self.tasks:
            task.cancel()


OWNER: contextvars.ContextVar[Incarnation | None] = contextvars.ContextVar("OWNER", default=None)
"""The incarnation in whose name a task runs; its child tasks inherit it."""


def own_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Let every incarnation know its tasks, so that all of them end with it."""

    def factory(
        loop: asyncio.AbstractEventLoop,
        coroutine: Any,
        context: contextvars.Context | None = None,
        **more: Any,
    ) -> asyncio.Task[Any]:  # Any: the signature that asyncio asks for
        task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=loop, context=context, **more)
        owner = OWNER.get() if context is None else context.get(OWNER)
        if owner is not None:
            owner.tasks.append(task)
        return task

    loop.set_task_factory(factory)


class Gate:
    """Where one incarnation meets its fate."""

    def __init__(self, who: Incarnation, simulation: Simulation, weather: Weather) -> None:
        self.who, self.simulation, self.weather = who, simulation, weather
        self.dice = simulation.dice(f"gate of {who.name}")
        self.on_trouble: Callable[[str], bool] = lambda _kind: True
        """Told of every fault; False takes it back."""

    def calm(self) -> None:
        self.weather = self.weather.calm

    async def step(self, name: str) -> None:
        """A moment at which the incarnation can die, be stopped for a while, or just be slow."""
        await self._moment(name, WEIGHTY)

    async def call(self, name: str, method: Callable[..., Awaitable[Any]], args: Any, kwargs: Any) -> Any:
        """One call of a hand. Any: hands of all kinds pass here, unchanged."""
        weight = 1.0 if name in LOOKS else WEIGHTIEST.get(name, WEIGHTY)
        await self._moment(f"before {name}", weight)
        if (refusal := self._refusal(name, weight)) is not None:
            return refusal
        result = await method(*args, **kwargs)
        self._lose_the_answer(name, weight)
        await self._moment(f"after {name}", weight)
        return result

    async def _moment(self, name: str, weight: float) -> None:
        self._live()
        weather, dice = self.weather, self.dice
        if weather.crash and self._strikes(weather.crash * weight, f"crash {name}"):
            self.who.crash()
            raise Crashed
        if weather.pause and self._strikes(weather.pause * weight, f"pause {name}"):
            self.who.paused_until = self.simulation.now() + LEASE_SECONDS * dice.uniform(0.3, 4.0)
        if self.who.pause_at == name:
            self.who.pause_at = ""
            self.simulation.note(f"{self.who.name}: pause {name}")
            self.who.paused_until = self.simulation.now() + self.who.pause_seconds
        await self._sleep_out()
        if dice.random() < (weather.latency if weight > 1.0 else weather.latency / 4):
            await asyncio.sleep(min(2.0, dice.expovariate(20.0)))
            self._live()

    async def _sleep_out(self) -> None:
        while (wait := self.who.paused_until - self.simulation.now()) > 0:
            self.who.woken.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self.who.woken.wait()  # it may be woken early
            self._live()

    @property
    def is_running(self) -> bool:
        return self.who.alive and self.who.paused_until <= self.simulation.now()

    def _live(self) -> None:
        if not self.who.alive:
            raise Crashed

    def _strikes(self, chance: float, kind: str) -> bool:
        if chance == 0.0 or self.dice.random() >= chance or not self.on_trouble(kind):
            return False
        self.simulation.note(f"{self.who.name}: {kind}")
        return True

    def _refusal(self, name: str, weight: float) -> Any:
        """The call fails before it does anything; or git says that main is busy or held."""
        hand = name.partition(".")[0]
        if hand == "store":
            if self._strikes(self.weather.cut_off, f"cut off before {name}"):
                self.who.cut_until = self.simulation.now() + LEASE_SECONDS * self.dice.uniform(0.1, 2.0)
            if self.who.cut_until > self.simulation.now() or self._strikes(
                self.weather.store_down * weight, f"down before {name}"
            ):
                raise StoreUnavailable(f"the simulated store is out of reach ({name})")
        elif self._strikes(self.weather.git_trouble * weight, f"trouble before {name}"):
            if name == "repository.land":
                return self.dice.choice([Move.BUSY, Move.HELD])
            raise EnvironmentProblem(f"simulated trouble before {name}")
        return None

    def _lose_the_answer(self, name: str, weight: float) -> None:
        """The call did its work, and the caller does not get to know it."""
        if name.startswith("store.") and self._strikes(
            self.weather.store_down * weight, f"down after {name}"
        ):
            raise StoreUnavailable(f"the simulated store broke off after {name}")
        if name.startswith("repository.") and self._strikes(
            self.weather.git_trouble * weight, f"trouble after {name}"
        ):
            raise EnvironmentProblem(f"simulated trouble after {name}")


class Gated:
    """Any hand, with the gate before and after each of its calls."""

    def __init__(self, name: str, hand: object, gate: Gate) -> None:
        self._name, self._hand, self._gate = name, hand, gate

    def __getattr__(self, method: str) -> Callable[..., Any]:  # Any: it stands in for hands of every kind
        real = getattr(self._hand, method)
        name = f"{self._name}.{method}"

        async def later(*args: Any, **kwargs: Any) -> Any:
            return await self._gate.call(name, real, args, kwargs)

        def at_once(*args: Any, **kwargs: Any) -> Any:
            is_harmless = self._gate.is_running or method == "running"  # which only looks, and cannot fail
            return real(*args, **kwargs) if is_harmless else None

        call = later if inspect.iscoroutinefunction(real) else at_once
        setattr(self, method, call)  # the next time it is found without coming here
        return call
