"""What the real programs printed, read by their adapters (see `tests/agents/recordings/README.md`)."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.agents import ADAPTERS
from interlock.agents.adapter import SessionVerdict
from interlock.model.outcome import ErrorClass
from interlock.model.process import Ended, Exit
from interlock.model.session import EventKind, Usage
from tests.adapters.replayed import Played, play, seat_for

RECORDINGS = Path(__file__).parent.parent / "agents" / "recordings"
USES = ("claude-code", "codex", "gemini", "qwen", "opencode", "copilot")

GOOD = ("basic", "edit", "failing", "resume")
BAD = {
    "400": ErrorClass.BAD_REQUEST,
    "401": ErrorClass.AUTH,
    "429": ErrorClass.RATE_LIMIT,
    "500": ErrorClass.OVERLOADED,
    "529": ErrorClass.OVERLOADED,
    "drop": ErrorClass.NETWORK,
    "refused": ErrorClass.NETWORK,
    "garbage": ErrorClass.MODEL,
    "empty": ErrorClass.MODEL,
    "hang": ErrorClass.EXIT,
    "hangmid": ErrorClass.EXIT,
}
UNTOLD = {("qwen", "500"), *(("opencode", name) for name in ("drop", "refused", "500", "529"))}
"""They retried in silence until they were ended; of OpenCode, the log was not recorded."""

EXPLAINED = {("codex", "hangmid"): ErrorClass.NETWORK}
"""It had said why it asks again before it was ended."""
INPUT = {"claude-code": 3330}
"""In its language, what came from a cache is not part of the input that the scripted model counts."""


def recorded(*scenarios: str) -> list[tuple[str, str]]:
    found = [
        (use, name) for use in USES for name in scenarios if (RECORDINGS / use / f"{name}.jsonl").exists()
    ]
    return [pair for pair in found if pair not in UNTOLD]


def lines_of(use: str, scenario: str) -> list[str]:
    """Standard error first, which is apart in the recordings, and the file that it leaves last."""
    paths = [RECORDINGS / use / f"{scenario}.{kind}" for kind in ("stderr", "jsonl")]
    lines = [line for path in paths if path.exists() for line in path.read_text().splitlines()]
    usage = RECORDINGS / use / f"{scenario}.usage.json"
    return [*lines, *([usage.read_text()] if usage.exists() else [])]


def replay(use: str, scenario: str) -> Played:
    folder = RECORDINGS / use
    exit_said = json.loads((folder / "outcomes.json").read_text())[scenario]["exit"]
    code, ended = (
        int(re.split(r"-> ", exit_said)[-1]),
        Ended.TIMEOUT if "killed" in exit_said else Ended.EXITED,
    )
    resume = "earlier" if scenario == "resume" and ADAPTERS[use].can_resume else ""
    return play(ADAPTERS[use], lines_of(use, scenario), code, ended, resume)


@pytest.mark.parametrize(("use", "scenario"), recorded(*GOOD))
def test_what_went_well_is_read_as_such(use: str, scenario: str) -> None:
    played = replay(use, scenario)

    assert played.verdict.error is None
    assert played.verdict.session
    assert played.verdict.summary


@pytest.mark.parametrize(("use", "scenario"), recorded(*BAD))
def test_what_went_wrong_has_its_class_whatever_the_exit_status(use: str, scenario: str) -> None:
    expected = EXPLAINED.get((use, scenario), BAD[scenario])

    assert replay(use, scenario).verdict.error is expected


@pytest.mark.parametrize("use", USES)
def test_the_tokens_are_those_that_the_model_counted(use: str) -> None:
    usage = replay(use, "basic").verdict.usage

    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (INPUT.get(use, 3300), 150, 30)


@pytest.mark.parametrize("use", USES)
def test_a_file_and_a_command_are_events_with_their_names(use: str) -> None:
    played = replay(use, "basic")

    assert [Path(event.path).name for event in played.of(EventKind.EDIT)] == ["hello.txt"]
    assert len(played.of(EventKind.COMMAND)) == 1
    assert [event.text for event in played.of(EventKind.MESSAGE)] == ["All done."]


@pytest.mark.parametrize("use", ["claude-code", "codex", "qwen", "opencode", "copilot"])
def test_a_command_that_failed_has_its_exit_status(use: str) -> None:
    assert replay(use, "failing").of(EventKind.COMMAND)[0].exit_code == 3


@pytest.mark.parametrize(("use", "scenario"), recorded("429x2"))
def test_a_model_that_refused_twice_was_asked_again(use: str, scenario: str) -> None:
    verdict = replay(use, scenario).verdict

    # Gemini was recorded with two attempts, and gave up.
    assert verdict.error is (ErrorClass.RATE_LIMIT if use == "gemini" else None)


@pytest.mark.parametrize("use", USES)
def test_no_line_whatever_breaks_a_reader(use: str) -> None:
    """Lines cut in the middle, of the wrong types, and of no sense at all."""
    reader = ADAPTERS[use].reader(seat_for(use))
    whole = (RECORDINGS / use / "basic.jsonl").read_text().splitlines()
    for line in whole:
        wrong = re.sub(r':\s*"[^"]*"', ": [1]", line)
        for broken in (
            line[: len(line) // 2],
            wrong,
            '{"type": 5}',
            '{"type": "result"}',
            "null",
            "\x00",
            "[]",
        ):
            reader.read(broken)

    assert isinstance(reader.verdict(Exit(Ended.EXITED, 0, 1.0, "")), SessionVerdict)


@pytest.mark.parametrize("use", ["codex", "copilot"])
def test_a_resumed_session_claims_no_tokens_of_its_earlier_part(use: str) -> None:
    """Trap: these count the whole session again; what this run used, only the proxy knows."""
    assert replay(use, "resume").verdict.usage is None


@pytest.mark.parametrize("use", ["codex", "copilot"])
def test_without_a_proxy_a_resumed_session_counts_what_came_after_the_earlier_part(use: str) -> None:
    """Trap: their sums go on, and with a login no proxy counts: 3300 of 5400 were counted before."""
    context = replace(seat_for(use, resume="old-one", login=True), used_before=Usage(3300, 150, 30, calls=3))
    reader = ADAPTERS[use].reader(context)
    for text in lines_of(use, "resume"):
        reader.read(text)
    usage = reader.verdict(Exit(Ended.EXITED, 0, 1.0, "")).usage

    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (2100, 100, 20)


@pytest.mark.parametrize(("use", "output"), [("claude-code", 2), ("qwen", 100)])
def test_a_session_that_is_cut_off_has_told_what_it_used_until_then(use: str, output: int) -> None:
    """With a login no proxy counts, and the sum at the end never comes."""
    reader = ADAPTERS[use].reader(seat_for(use, login=True))
    events = [event for text in lines_of(use, "basic") for event in reader.read(text)]
    second = [event for event in events if event.kind is EventKind.TOOL][1]

    assert second.usage == Usage(2120 if use == "claude-code" else 2100, output, 20, calls=2)
    total = reader.verdict(Exit(Ended.EXITED, 0, 1.0, "")).usage
    assert total is not None
    assert total.output_tokens == 150, "the sum at the end is the program's own"


def test_claude_code_counts_of_a_resumed_session_only_this_run() -> None:
    """Trap: beside that, it has the tokens and the money of the whole session (5400 in)."""
    usage = replay("claude-code", "resume").verdict.usage

    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (2120, 100, 20)


@pytest.mark.parametrize("use", ["claude-code", "qwen"])
def test_a_denied_command_was_not_run(use: str) -> None:
    """Trap: the program ends well all the same."""
    played = replay(use, "denied")

    assert len(played.of(EventKind.DENIED)) == 1
    assert not [event for event in played.of(EventKind.COMMAND) if event.exit_code == 0]
