"""Recordings that parsers are written against: whole lines, no machine's own paths, small enough to read."""

import json
import re
from pathlib import Path

import pytest

from scripts.agent_programs import PROGRAMS

HERE = Path(__file__).parent / "recordings"
FILES = sorted(path for path in HERE.rglob("*") if path.is_file())
EVENTS = [path for path in FILES if path.suffix == ".jsonl"]
MUST = ("basic", "401", "429", "hang")
PROSE = ("aider", "mini-swe-agent")


def _name(path: Path) -> str:
    return str(path.relative_to(HERE))


@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_every_program_has_its_recordings(program: str) -> None:
    wanted = (*MUST, *(() if program in PROSE else ("drop", "denied", "resume")))
    ending = "txt" if program in PROSE else "jsonl"
    assert [name for name in wanted if not (HERE / program / f"{name}.{ending}").exists()] == []
    outcomes = json.loads((HERE / program / "outcomes.json").read_text())
    assert outcomes["basic"]["exit"] == "0"


@pytest.mark.parametrize("path", EVENTS, ids=_name)
def test_every_line_is_one_event(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert all("type" in line for line in lines)


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_a_recording_is_small_and_names_no_machine(path: Path) -> None:
    text = path.read_text()
    assert len(text) < 60_000
    assert re.findall(r"/(?:root|work|tmp|var/tmp|Users)/\S*", text) == []
