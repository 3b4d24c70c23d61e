"""Programs on this machine, each beside a supervisor that ends it when the engine cannot."""

import asyncio
import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path

from interlock.model.errors import EnvironmentProblem
from interlock.model.process import Command, Exit, Lease
from interlock.model.sandbox import NO_LIMITS
from interlock.process.choice import choose_confinement
from interlock.process.containment import Containment, strongest
from interlock.process.output import ProgramOutput
from interlock.process.probe import probe_overlay
from interlock.process.supervised import Bounds, Supervised, lease_clock
from interlock.process.survivors import end_survivors
from interlock.sandbox.confinement import Confinement


class LocalProcesses:
    """The real `Processes`. Making one finds out how process trees can be contained here."""

    def __init__(
        self,
        containment: Containment | None = None,
        grace_seconds: float = 5.0,
        log_limit_bytes: int = 4 * 1024**3,
        bounds: Bounds | None = None,
        choose: Callable[[], Confinement] = choose_confinement,
        clean: Callable[[str], str] | None = None,
    ) -> None:
        """`bounds` are those of programs with a grant that names none itself; `choose` finds the sandbox;
        `clean` takes secrets out of logs."""
        self._clean = clean
        self.containment = containment or strongest()
        self._bounds = bounds or Bounds()
        self._choose = choose
        self._grace_seconds = grace_seconds
        self._log_limit_bytes = log_limit_bytes
        self._running: dict[Hashable, Supervised] = {}
        self.lease = Lease(lease_clock, self._extend)

    async def run(self, command: Command, on_line: Callable[[str], None] | None = None) -> Exit:
        """Run it to its end, or to the end of its limits. Nothing of it is left when this is over."""
        began = time.monotonic()
        with self._open(command, on_line) as output:
            program = Supervised(
                command, self.containment, output, self._grace_seconds, self._bounds_of(command)
            )
            self._running[command.key] = program
            try:
                program.start()
                await program.finished()
            finally:
                if self._running.get(command.key) is program:
                    del self._running[command.key]
                program.close()
            ended, code = program.outcome()
            return Exit(ended, code, time.monotonic() - began, output.tail, output.log_bytes)

    def _extend(self, seconds: float) -> None:
        """The lease was renewed: it ends this long from now. A program that has ended does not care."""
        for program in self._running.values():
            program.extend(seconds)

    def send(self, key: Hashable, text: str) -> bool:
        program = self._running.get(key)
        return program is not None and program.send(text)

    def hang_up(self, key: Hashable) -> None:
        if program := self._running.get(key):
            program.hang_up()

    async def end_survivors(self, pid_file: str) -> None:
        await asyncio.to_thread(end_survivors, Path(pid_file))

    @property
    def sandbox(self) -> Confinement:
        """Return the sandbox of programs with a grant. Chosen at the first use: they never run without."""
        chosen = self._bounds.confinement or self._choose()
        if self._bounds.confinement is None:
            self._bounds = replace(self._bounds, confinement=chosen)
        return chosen

    def why_no_overlays(self, folder: Path) -> str:
        """Return the reason that overlays of layers in this folder do not work; empty: they do."""
        probed = probe_overlay(self.sandbox, self.containment, folder)
        return "" if probed.works else probed.message

    def _bounds_of(self, command: Command) -> Bounds | None:
        if command.grant is None:
            return None
        own = command.grant.limits
        return replace(
            self._bounds,
            confinement=self.sandbox,
            limits=self._bounds.limits if own == NO_LIMITS else own,
        )

    def _open(self, command: Command, on_line: Callable[[str], None] | None) -> ProgramOutput:
        try:
            return ProgramOutput(command.log, self._log_limit_bytes, on_line, self._clean)
        except OSError as error:
            raise EnvironmentProblem(f"cannot write the log {command.log}: {error.strerror}") from error
