"""Each of the eight real programs lands a change on main: sandboxed, proxied, counted to the token."""

from collections.abc import Callable, Sequence

import pytest

from interlock.model.session import EventKind
from tests.agents.model_server import RunningModel
from tests.agents.model_server.conversation import usage_of
from tests.agents.model_server.request_log import Seen
from tests.agents.programs import KEY_ENV, Driven, script
from tests.agents.workshop import Job, Row, Workshop, run_ended

pytestmark = [pytest.mark.agents, pytest.mark.slow]

CONTENT = "made by a real program\n"
LOOK_AROUND = (
    "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline > surroundings.bin 2>/dev/null; echo looked around"
)
"""All that a program can know of every process it can see."""


@pytest.fixture
def landed(program: Driven, workshop: Workshop, model: RunningModel) -> Workshop:
    """The repository after a run with one task."""
    goal = "Make made.txt. " + script(
        {"op": "write", "path": "made.txt", "content": CONTENT},
        {"op": "shell", "command": LOOK_AROUND},
        {"op": "say", "text": "All done."},
    )
    workshop.plan({"make": Job(goal, program.agent(model.url("basic", workshop.name)))}, retries=0)
    run = workshop.start("run")
    workshop.until(run_ended)
    assert run.wait() == 0, f"{run.output}\n{workshop.log('make')[-4000:]}"
    return workshop


def test_a_real_program_lands_a_change_and_every_token_is_counted(
    program: Driven,
    landed: Workshop,
    model: RunningModel,
    credential: str,
    figure: Callable[[str], None],
) -> None:
    calls = model.calls(landed.name)
    (work,) = (row["fact"] for row in landed.facts("WorkFinished"))
    (opened, *_) = reversed([row["fact"] for row in landed.facts("SessionOpened")])

    assert landed.git("show", "main:made.txt") == CONTENT.strip()
    assert len(calls) == (3 if program.has_tools else 1)
    assert _counted(work["usage"]) == _scripted(calls)
    assert work["session"] == opened["session"] != ""
    assert opened["sandbox"] == "bubblewrap"
    _check_credential(program, landed, model, credential)
    if program.tells:
        _check_events(landed, work)
    usage = work["usage"]
    figure(
        f"{program.name}: landed a change in {work['seconds']:.1f} s, "
        f"{usage['input_tokens']} tokens in, {usage['output_tokens']} out, {usage['calls']} calls"
    )


def _counted(usage: Row) -> tuple[int, int, int, int]:
    return usage["input_tokens"], usage["output_tokens"], usage["cached_tokens"], usage["calls"]


def _scripted(calls: Sequence[Seen]) -> tuple[int, int, int, int]:
    told = [usage_of(call.step) for call in calls]
    cached = sum(usage.cached for usage in told)
    # In Anthropic's protocol tokens from a cache are not among those of the input.
    beside = cached if calls[0].protocol == "anthropic" else 0
    return sum(usage.input for usage in told) + beside, sum(u.output for u in told), cached, len(told)


def _check_credential(program: Driven, landed: Workshop, model: RunningModel, credential: str) -> None:
    """It arrived with every request, and was nowhere on this side of the proxy."""
    for seen in model.seen(landed.name):
        assert any(credential in value for value in seen.headers.values()), seen.headers
        assert credential not in seen.body
    assert landed.holds(credential) == []
    if program.has_tools:
        around = (landed.root / "surroundings.bin").read_bytes()
        assert b"INTERLOCK_TASK_ID=make" in around
        assert credential.encode() not in around
        assert KEY_ENV.encode() not in around


def _check_events(landed: Workshop, work: Row) -> None:
    events = landed.events("make")
    kinds = {event["kind"] for event in events}
    assert {EventKind.SESSION, EventKind.TOOL, EventKind.EDIT, EventKind.COMMAND, EventKind.RESULT} <= kinds
    assert any(event.get("path", "").endswith("made.txt") for event in events)
    assert any("surroundings.bin" in event.get("text", "") for event in events if event["kind"] == "command")
    assert work["session"] in {event.get("session") for event in events}
