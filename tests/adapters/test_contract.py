"""What holds for every adapter in the table; a new one is covered by its line there (A2, D11).

A program whose output was recorded (`tests/agents/recordings/<use>`) is also held to what it printed.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.agents import ADAPTERS
from interlock.agents.adapter import LaunchContext, Wire
from interlock.model.kinds import KINDS
from interlock.model.outcome import ErrorClass
from interlock.model.process import Ended, Exit
from interlock.model.session import EventKind
from tests.adapters.replayed import seat_for

pytestmark = pytest.mark.contract

RECORDINGS = Path(__file__).parent.parent / "agents" / "recordings"
RECORDED = [use for use in ADAPTERS if (RECORDINGS / use / "basic.jsonl").exists()]
TELLING = [use for use in ADAPTERS if use != "command"]
"""Those that say more than their exit status does."""
GARBAGE = ("", "null", "[]", "{}", "{" * 5000, '{"type": 5}', '{"type": "result"}', "\x00\x1b[31m", "\udcff{")


def context(use: str, resume: str = "", login: bool = False) -> LaunchContext:
    found = seat_for(use, resume=resume, login=login)
    agent = replace(found.agent, run=("some-program", "--acp"), url="http://127.0.0.1:1", model="some-model")
    return replace(found, agent=agent)


def lines_of(use: str, scenario: str) -> list[str]:
    folder = RECORDINGS / use
    found = [folder / f"{scenario}.{kind}" for kind in ("stderr", "jsonl")]
    lines = [line for path in found if path.exists() for line in path.read_text().splitlines()]
    left = folder / f"{scenario}.usage.json"
    return [*lines, *([left.read_text()] if left.exists() else [])]


def test_the_plan_and_the_table_know_the_same_kinds() -> None:
    assert set(KINDS) == set(ADAPTERS)
    assert all(adapter.use == use for use, adapter in ADAPTERS.items())


@pytest.mark.parametrize("use", ADAPTERS)
def test_what_opens_the_proxy_is_never_a_word_of_the_command(use: str) -> None:
    """D11: the list of processes is there for everybody to read."""
    launch = ADAPTERS[use].launch(context(use))
    assert launch.argv
    assert not [word for word in launch.argv if "ticket" in word]


@pytest.mark.parametrize("use", [use for use, adapter in ADAPTERS.items() if adapter.wire])
def test_a_program_with_a_model_is_told_where_the_proxy_is(use: str) -> None:
    launch = ADAPTERS[use].launch(context(use))
    told = [*launch.argv, *launch.env.values(), *launch.files.values(), launch.say]
    assert any("http://127.0.0.1:4321" in text for text in told)


@pytest.mark.parametrize("use", [use for use, kind in KINDS.items() if "login" not in kind.refuses])
def test_a_program_with_an_account_of_its_own_gets_nothing_of_the_proxy(use: str) -> None:
    launch = ADAPTERS[use].launch(context(use, login=True))
    told = [*launch.argv, *launch.env.values(), *launch.files.values()]
    assert not any("ticket" in text or "127.0.0.1:4321" in text for text in told)
    assert all(not Path(name).is_absolute() and ".." not in Path(name).parts for name in launch.account)


@pytest.mark.parametrize("use", ADAPTERS)
def test_files_are_written_below_the_home(use: str) -> None:
    launch = ADAPTERS[use].launch(context(use))
    assert all(
        not Path(n).is_absolute() and ".." not in Path(n).parts for n in (*launch.files, *launch.leaves)
    )


@pytest.mark.parametrize(
    "use", [use for use, adapter in ADAPTERS.items() if adapter.can_resume and adapter.program]
)
def test_a_session_that_goes_on_is_named_when_the_program_starts(use: str) -> None:
    """Those without a program of their own name it in what they talk about."""
    assert any("earlier-id" in word for word in ADAPTERS[use].launch(context(use, resume="earlier-id")).argv)


@pytest.mark.parametrize("use", TELLING)
@pytest.mark.parametrize("code", [0, 1, -9, 137])
def test_a_program_that_said_nothing_did_not_succeed_whatever_its_exit_status(use: str, code: int) -> None:
    """A2: success is never the exit status alone."""
    reader = ADAPTERS[use].reader(context(use))
    assert reader.verdict(Exit(Ended.EXITED, code, 1.0, "")).error is not None


@pytest.mark.parametrize("use", ADAPTERS)
def test_no_line_breaks_a_reader_and_garbage_is_no_success(use: str) -> None:
    reader = ADAPTERS[use].reader(context(use))
    huge = json.dumps({"type": "result", "result": "x" * (1 << 20)})
    for line in (*GARBAGE, huge, huge[: 1 << 19]):
        assert not [event for event in reader.read(line) if event.kind is EventKind.END and event.ok]
    assert use == "command" or reader.verdict(Exit(Ended.EXITED, 0, 1.0, "")).error is not None


@pytest.mark.parametrize("use", RECORDED)
def test_what_was_recorded_ends_well_and_its_tokens_are_the_models(use: str) -> None:
    reader = ADAPTERS[use].reader(context(use))
    for line in lines_of(use, "basic"):
        reader.read(line)
    verdict = reader.verdict(Exit(Ended.EXITED, 0, 1.0, ""))
    assert verdict.error is None
    assert verdict.usage is not None
    cached = 30 if ADAPTERS[use].wire is Wire.ANTHROPIC else 0  # there, they are counted apart
    assert (verdict.usage.input_tokens, verdict.usage.output_tokens) == (3300 + cached, 150)


@pytest.mark.parametrize("use", RECORDED)
def test_a_recording_that_was_cut_short_is_no_success(use: str) -> None:
    """A2: a program that died in the middle has said much, and not that it is done."""
    reader = ADAPTERS[use].reader(context(use))
    lines = (RECORDINGS / use / "basic.jsonl").read_text().splitlines()
    for line in lines[: len(lines) // 2]:
        reader.read(line)
        reader.read(line[: len(line) // 2])
    assert reader.verdict(Exit(Ended.EXITED, 137, 1.0, "")).error is ErrorClass.EXIT
