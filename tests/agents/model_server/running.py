"""A scripted model server on a thread and loop of its own, for tests that start real programs."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import TypeVar

from aiohttp import web

from tests.agents.model_server.request_log import Seen
from tests.agents.model_server.scripts import Script
from tests.agents.model_server.server import ScriptedModel

T = TypeVar("T")
_ANSWER_SECONDS = 10


class RunningModel:
    """A server that listens. All questions are safe from another thread."""

    def __init__(self, host: str, port: int, pause_seconds: float) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="scripted-model", daemon=True)
        self._thread.start()
        self._model = ScriptedModel(pause_seconds=pause_seconds)
        self._runner = self._ask(_listen(self._model, host, port))
        self.host = host
        self.port: int = self._runner.addresses[0][1]

    def url(self, scenario: str = "basic", instance: str | None = None) -> str:
        """The base URL that stands for a scenario; append `/v1` for OpenAI's protocols."""
        name = f"{scenario}~{instance}" if instance else scenario
        return f"http://{self.host}:{self.port}/s/{name}"

    def add_script(self, name: str, script: Script) -> None:
        """A scenario of the test's own."""
        self._model.scripts[name] = script

    def seen(self, instance: str) -> list[Seen]:
        """Every request, also those around the model."""
        return self._model.log.of(instance)

    def calls(self, instance: str) -> list[Seen]:
        """The requests that asked the model to work: no titles, no questions around it."""
        return self._model.log.calls(instance)

    def wait_for_calls(self, instance: str, count: int = 1, seconds: float = 60) -> list[Seen]:
        """Block until the model has been asked so often: then a program is waiting for words."""
        return self._model.log.wait_for_calls(instance, count, seconds)

    def close(self) -> None:
        """Stop listening; hanging answers end. Closing twice does nothing."""
        if self._loop.is_closed():
            return
        self._ask(_close(self._model, self._runner))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _ask(self, question: Coroutine[None, None, T]) -> T:
        return asyncio.run_coroutine_threadsafe(question, self._loop).result(_ANSWER_SECONDS)


@contextmanager
def running_model(
    host: str = "127.0.0.1", port: int = 0, pause_seconds: float = 0.2
) -> Iterator[RunningModel]:
    """A server that listens until the block ends."""
    model = RunningModel(host, port, pause_seconds)
    try:
        yield model
    finally:
        model.close()


async def _listen(model: ScriptedModel, host: str, port: int) -> web.AppRunner:
    runner = web.AppRunner(model.application(), access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    return runner


async def _close(model: ScriptedModel, runner: web.AppRunner) -> None:
    model.closing.set()
    await runner.cleanup()
