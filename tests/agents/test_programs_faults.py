"""A model that fails in every way there is: each real program's attempt ends, and is named rightly (A7)."""

import functools
import socket
from collections.abc import Callable, Iterator

import pytest

from interlock.model.outcome import ErrorClass
from tests.agents.model_server import RunningModel
from tests.agents.programs import Driven, script
from tests.agents.workshop import Job, Row, Workshop, first, run_ended

pytestmark = [pytest.mark.agents, pytest.mark.slow]

WORST = {"hang": ErrorClass.NETWORK, "drop": ErrorClass.NETWORK, "garbage": ErrorClass.MODEL}
"""By scenario of the scripted model, what the attempt must have failed with."""
OTHERS = {
    "f400": ErrorClass.BAD_REQUEST,
    "f401": ErrorClass.AUTH,
    "f429": ErrorClass.RATE_LIMIT,
    "f500": ErrorClass.OVERLOADED,
    "f529": ErrorClass.OVERLOADED,
    "hangmid": ErrorClass.NETWORK,
    "empty": ErrorClass.MODEL,
}
RECOVERS = "f429x2"
SILENCE = "2s"
"""How long the proxy lets a model be silent here; nobody wants to watch five minutes."""
LIMITS = {"timeout": "60s", "idle_timeout": "45s", "retries": 0}
"""For programs that would ask again for ever."""
GOAL = "Make made.txt. " + script(
    {"op": "write", "path": "made.txt", "content": "made\n"}, {"op": "say", "text": "All done."}
)


def failures(workshop: Workshop, jobs: dict[str, Job], at_once: int) -> dict[str, Row]:
    """Let each fail once; a model that cannot be had would be asked again for an hour."""
    workshop.environ["INTERLOCK_MODEL_SILENCE"] = SILENCE
    workshop.plan(jobs, **LIMITS)
    run = workshop.start("run", "--max-parallel", str(at_once))
    failed = {}
    for name in jobs:
        failed[name] = workshop.until(functools.partial(first, "PhaseFailed", name))
        workshop.interlock("cancel", name, code=None)
    workshop.until(run_ended)
    run.wait()
    return failed


def jobs_for(program: Driven, workshop: Workshop, model: RunningModel, faults: list[str]) -> dict[str, Job]:
    return {fault: Job(GOAL, program.agent(model.url(fault, f"{workshop.name}-{fault}"))) for fault in faults}


def told(program: Driven, failed: dict[str, Row]) -> str:
    parts = (f"{name} {fact['error']} after {fact['seconds']:.1f} s" for name, fact in failed.items())
    return f"{program.name}: {', '.join(parts)}"


def test_a_model_that_hangs_dies_or_talks_nonsense_ends_the_attempt_with_the_right_error(
    program: Driven, workshop: Workshop, model: RunningModel, figure: Callable[[str], None]
) -> None:
    failed = failures(workshop, jobs_for(program, workshop, model, list(WORST)), at_once=3)
    assert {name: fact["error"] for name, fact in failed.items()} == WORST
    assert all(model.calls(f"{workshop.name}-{fault}") for fault in WORST)
    figure(told(program, failed))


def test_two_refusals_of_a_busy_model_are_survived(
    program: Driven, workshop: Workshop, model: RunningModel
) -> None:
    workshop.plan(jobs_for(program, workshop, model, [RECOVERS]), retries=0)
    run = workshop.start("run")
    workshop.until(run_ended)
    assert run.wait() == 0, run.output
    assert workshop.git("show", "main:made.txt") == "made"
    assert [call.fault for call in model.calls(f"{workshop.name}-{RECOVERS}")][:3] == ["f429", "f429", None]


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address that refuses every connection: taken, and nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.night
def test_every_other_way_to_fail_is_told_apart(
    program: Driven, workshop: Workshop, model: RunningModel, nobody: str, figure: Callable[[str], None]
) -> None:
    jobs = jobs_for(program, workshop, model, list(OTHERS)) | {"refused": Job(GOAL, program.agent(nobody))}
    failed = failures(workshop, jobs, at_once=2)
    expected = {**OTHERS, "refused": ErrorClass.NETWORK}
    assert {name: fact["error"] for name, fact in failed.items()} == expected
    figure(told(program, failed))
