"""The report of `doctor --prove`."""

import asyncio
import signal
import time
from contextlib import aclosing

from interlock.engine.settings import load
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import Invocation, note, paint, say, say_json
from interlock.ui.cli.prove.proof import Outcome, Result
from interlock.ui.cli.prove.show import prove

COLORS = {Outcome.FIRED: "green", Outcome.FAILED: "red", Outcome.UNBUILT: "yellow"}
WIDTH = 28


async def tell_proofs(invocation: Invocation, keep: bool) -> int:
    """Each proof as it ends, with its facts; the exit code."""
    began = time.monotonic()
    results: list[Result] = []
    _end_as_with_ctrl_c()
    async with aclosing(prove(load(invocation.project, {}).settings, keep)) as proofs:
        async for result in proofs:
            results.append(result)
            if not invocation.wants_json():
                for line in _lines(result):
                    say(line)
    failed = [result for result in results if result.outcome is Outcome.FAILED]
    seconds = time.monotonic() - began
    if invocation.wants_json():
        say_json({"ok": not failed, "seconds": seconds, "proofs": results})
    else:
        fired = sum(result.outcome is Outcome.FIRED for result in results)
        unbuilt = sum(result.outcome is Outcome.UNBUILT for result in results)
        say("")
        say(f"{fired} fired, {len(failed)} did not, {unbuilt} not built yet; {seconds:.0f} s")
    if failed or keep:
        for result in failed if failed else results:
            if result.repository:
                note(f"to inspect: interlock --project {result.repository} events")
    return ExitCode.FAILED if failed else ExitCode.OK


def _end_as_with_ctrl_c() -> None:
    """Treat SIGTERM and SIGHUP like Ctrl-C: proofs have processes to end and folders to remove first."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, signal.raise_signal, signal.SIGINT)


def _lines(result: Result) -> list[str]:
    mark = paint(f"{result.outcome.value:9}", COLORS[result.outcome])
    time_taken = f" ({result.seconds:.1f} s)" if result.seconds else ""
    return [
        f"{mark} {result.name:{WIDTH}} {result.text}{time_taken}",
        *(f"            {fact}" for fact in result.facts),
    ]
