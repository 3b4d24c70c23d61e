"""The live view: agent, last action in words, tokens, money, time; at 80 and at 160 columns (T6)."""

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from interlock.events.facts import RunStarted
from interlock.model.session import EventKind
from interlock.model.usage import Usage
from interlock.ui.at_work import Attempt, Growing, money, short_count
from interlock.ui.cli.live import Screen
from interlock.ui.plain import inert
from tests.ui.conftest import Lab, task
from tests.warm import INTERLOCK, pieces, start_on_terminal

TOOL = {"kind": "tool", "tool": "Bash", "text": json.dumps({"command": "pytest -q tests/[unit]"})}
SESSION = {"kind": "session", "session": "s", "model": "claude-opus-5-5"}
CALL = {"usage": {"input_tokens": 12_000, "output_tokens": 340, "calls": 1}}


def at_work(lab: Lab) -> None:
    """A task whose agent has asked its model once and runs a command."""
    lab.accept(task("parser"), task("later"))
    lab.take_charge(RunStarted("r", "h", 1, 3))
    lab.start("parser")
    write(lab.root / ".git/interlock/logs/parser/1.events.jsonl", SESSION, TOOL)
    write(lab.root / ".git/interlock/logs/parser/1.model.jsonl", CALL)


def write(path: Path, *lines: Mapping[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def screen(lab: Lab, columns: int) -> list[str]:
    """The first whole picture that `status -w` draws."""
    env = os.environ | {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "30", "NO_COLOR": "1"}
    process, mine = start_on_terminal([*INTERLOCK, "status", "-w"], lab.root, env)
    seen = ""
    for piece in pieces(mine):
        seen += piece
        if "waiting (1)" in seen and "later" in seen.partition("waiting (1)")[2]:
            break
    process.send_signal(signal.SIGINT)
    seen += "".join(pieces(mine))
    os.close(mine)
    process.wait()
    lines = [line.rstrip() for line in inert(seen.replace("\r", "")).split("\n")]
    return lines[: next(at for at, line in enumerate(lines) if "waiting (1)" in line)]


@pytest.mark.slow
def test_eighty_columns_show_agent_time_tokens_cost_and_the_last_action(lab: Lab) -> None:
    at_work(lab)
    lines = screen(lab, 80)
    (row,) = [line for line in lines if line.startswith("parser")][:1]
    assert row.split()[:2] == ["parser", "coder"]
    assert "12.3k" in row and " - " in row
    assert row.endswith("runs `pytest -q tests/[unit]`")
    assert max(map(len, lines)) <= 80


@pytest.mark.slow
def test_a_wide_terminal_shows_the_model_the_phase_and_tokens_in_two_parts(lab: Lab) -> None:
    at_work(lab)
    (row,) = [line for line in screen(lab, 160) if line.startswith("parser")][:1]
    assert "coder (claude-opus-5-5)" in row
    assert "implement #1" in row
    assert "12.0k in, 340 out" in row


def test_agents_tells_the_last_action_in_the_same_words(lab: Lab) -> None:
    at_work(lab)
    said = lab.run("agents").out
    assert "runs `pytest -q tests/[unit]`" in said
    assert "12,000 in, 340 out" in said
    (row,) = lab.run("agents", "--json").json["agents"]
    assert row["usage"]["input_tokens"] == 12_000
    assert row["usage"]["cost_usd"] is None


def test_money_is_what_the_program_says_and_tokens_are_what_the_proxy_counted(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path, tmp_path, "t", 1)
    write(tmp_path / "logs/t/1.model.jsonl", CALL, CALL)
    told = {"kind": EventKind.USAGE, "usage": {"input_tokens": 1, "output_tokens": 1, "cost_usd": 0.25}}
    write(tmp_path / "logs/t/1.events.jsonl", told)
    used = attempt.look(Usage(100, 10, cost_usd=1.0)).usage
    assert (used.input_tokens, used.output_tokens, used.cost_usd) == (24_100, 690, 1.25)


def test_the_model_of_a_program_that_does_not_tell_it_is_the_one_that_it_called(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path, tmp_path, "t", 1)
    write(tmp_path / "logs/t/1.events.jsonl", {"kind": "session", "session": "s"})
    write(tmp_path / "logs/t/1.model.jsonl", {**CALL, "model": "gpt-5.5"}, {**CALL, "model": None})
    assert attempt.look(Usage()).model == "gpt-5.5"
    write(tmp_path / "logs/t/1.events.jsonl", SESSION)
    assert attempt.look(Usage()).model == "claude-opus-5-5"


def test_a_growing_file_is_read_in_whole_lines_and_each_once(tmp_path: Path) -> None:
    path = tmp_path / "file"
    growing = Growing(path)
    assert growing.lines() == []
    path.write_bytes(b"one\ntw")
    assert growing.lines() == [b"one"]
    path.write_bytes(b"one\ntwo\nthree\n")
    assert growing.lines() == [b"two", b"three"]
    assert growing.lines() == []


@pytest.mark.parametrize(("tokens", "text"), [(950, "950"), (12_345, "12.3k"), (1_240_000, "1.2M")])
def test_tokens_are_counted_in_few_letters(tokens: int, text: str) -> None:
    assert short_count(tokens) == text


def test_a_price_that_is_not_known_is_a_dash() -> None:
    assert (money(None), money(0.034)) == ("-", "$0.03")


def test_a_line_that_is_longer_than_the_terminal_breaks_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = "12:00:00 parser: implement failed: " + "a long explanation " * 8
    Screen(lambda: "").print(text)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert " ".join(line.strip() for line in lines) == text.strip()
