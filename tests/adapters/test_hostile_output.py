"""Hostile sessions for every adapter: recorded lines with values that no program means."""

import json
import random
from pathlib import Path

import pytest

from interlock.agents import ADAPTERS
from interlock.events.facts import WorkFinished
from interlock.events.record import decode, encode
from interlock.model.process import Ended, Exit
from interlock.model.task import TaskId
from interlock.run.session import SessionRecord
from tests.adapters.test_contract import RECORDINGS, context
from tests.tiers import EXAMPLES

pytestmark = [pytest.mark.contract, pytest.mark.property, pytest.mark.slow]

SESSIONS = 8 * EXAMPLES
"""Of each adapter: 200 by day, 8,000 at night."""
HOSTILE: tuple[object, ...] = (
    *(-1, -5_000, 0, 2**63, 10**30, 1e308, -1e308, float("nan"), float("inf"), True, None, "", "7", [], {}),
    *(
        "\x00",
        "\u202e",
        "caf\udce9",
        "x" * 2_000,
        [[[[[]]]]],
        [1, "a", None],
        {"a": {"b": -1}},
        "Exit code 1",
    ),
    *(
        "Exit Code: " + "9" * 5_000,
        "Exit code " + "9" * 5_000,
        "::interlock ask x?",
        "::interlock scope ../x",
    ),
)
NOISE = ("Attempt 1 failed " * 40, 'level=ERROR message="stream error" ' * 20, "Error: " * 50, "{" * 3_000)


def spoiled(value: object, dice: random.Random) -> object:
    """The value with some of its parts replaced."""
    if dice.random() < 0.08:
        return dice.choice(HOSTILE)
    if isinstance(value, dict):
        return {name: spoiled(each, dice) for name, each in value.items() if dice.random() > 0.02}
    return [spoiled(each, dice) for each in value] if isinstance(value, list) else value


def recorded(use: str) -> list[object]:
    """Objects that programs print: its own where they were recorded, else those of all others."""
    files = [*(RECORDINGS / use).glob("*.jsonl")] or [*RECORDINGS.glob("*/basic.jsonl")]
    lines = [line for path in files for line in path.read_text().splitlines() if line.startswith("{")]
    events = [{"event": kind, "input": 5, "output": 5, "text": "x"} for kind in ("usage", "message", "end")]
    return [json.loads(line) for line in lines[:200]] + events


@pytest.mark.parametrize("use", ADAPTERS)
def test_no_output_of_a_program_breaks_its_session_or_what_is_written_of_it(use: str, tmp_path: Path) -> None:
    dice, known = random.Random(use), recorded(use)
    for number in range(SESSIONS):
        session = SessionRecord(
            ADAPTERS[use].reader(context(use)), tmp_path / "events", str, "id", str(tmp_path)
        )
        for _ in range(8):
            line = json.dumps(spoiled(dice.choice(known), dice), ensure_ascii=False)
            session.hear(line if dice.random() < 0.9 else dice.choice((*NOISE, line[: len(line) // 2])))
        verdict = session.verdict(Exit(Ended.EXITED, number % 3, 1.0, ""), [])
        session.close()
        fact = WorkFinished(
            TaskId("a"),
            1,
            "implement",
            1,
            summary=verdict.summary,
            usage=verdict.usage,
            session=verdict.session,
        )
        assert isinstance(decode(*encode(fact)), WorkFinished)
