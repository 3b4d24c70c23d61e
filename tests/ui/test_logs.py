"""`logs`: what an agent printed, to the byte, but never obeyed by the terminal (T6)."""

import os
from pathlib import Path

import pytest

from interlock.ui.cli.logs import CHUNK_BYTES, Printer
from interlock.ui.plain import inert
from tests.ui.conftest import Lab, task


def log(lab: Lab, name: str, attempt: int, text: str) -> None:
    path = lab.root / ".git/interlock" / "logs" / name / f"{attempt}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_newest_attempt_is_shown_unless_another_is_asked_for(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.fail("api", "no idea")
    lab.run("retry", "api")
    lab.start("api", attempt=2)
    log(lab, "api", 1, "first\n")
    log(lab, "api", 2, "second\n")
    assert lab.run("logs", "api").out == "second\n"
    assert lab.run("logs", "api", "--attempt", "1").out == "first\n"


def test_programs_get_one_line_of_json_for_each_line(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.start("api")
    log(lab, "api", 1, "one\ntwo\nthree")
    assert [line["line"] for line in lab.run("logs", "api", "--json").lines] == ["one", "two", "three"]


def test_following_ends_with_the_attempt(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.fail("api", "no idea")
    log(lab, "api", 1, "all of it\n")
    assert lab.run("logs", "api", "-f").out == "all of it\n"


def test_a_task_that_never_started_has_no_log_and_says_why_to_ask(lab: Lab) -> None:
    lab.accept(task("api"))
    result = lab.run("logs", "api")
    assert (result.code, "interlock explain api" in result.err) == (2, True)


def test_a_log_that_is_gone_is_said_to_be_gone(lab: Lab) -> None:
    lab.accept(task("api"))
    lab.fail("api", "no idea")
    assert "was deleted" in lab.run("logs", "api").err


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_regular_file_is_refused_and_never_waited_for(lab: Lab, kind: str) -> None:
    lab.accept(task("api"))
    lab.fail("api", "no idea")
    folder = lab.root / ".git/interlock/logs/api"
    folder.mkdir(parents=True)
    for path in (folder / "1.events.jsonl", folder / "1.prompt.md"):
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
    refused = lab.run("logs", "api", "--events")
    assert (refused.code, "is not a regular file" in refused.err) == (7, True), refused.err
    assert lab.run("prompt", "api", "--attempt", "1").code == 2


@pytest.mark.parametrize("lines", [1, 2, 5, 9_000, 20_000])
@pytest.mark.parametrize("ending", ["\n", ""])
def test_the_last_lines_are_found_from_the_end_of_a_large_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: int, ending: str
) -> None:
    written = [f"line {number} {'x' * (number % 40)}" for number in range(10_000)]
    path = tmp_path / "a.log"
    path.write_text("\n".join(written) + ending)
    assert path.stat().st_size > 3 * CHUNK_BYTES
    printer = Printer(path, as_json=False)
    printer.skip_to_last(lines)
    printer.print_new()
    assert capsys.readouterr().out.splitlines() == written[-lines:]


def test_a_character_cut_in_two_by_a_chunk_survives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.log"
    text = "x" * (CHUNK_BYTES - 1) + "ü"
    path.write_text(text)
    Printer(path, as_json=False).print_new()
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(
    ("hostile", "safe"),
    [
        ("\x1b[2Jgone", "gone"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]52;c;cm0=\x1b\\text", "text"),
        ("a\rb\x08c", "abc"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("\x9b31mred", "31mred"),
        ("exe.\u202egpj\u200b", "exe.gpj"),
    ],
)
def test_nothing_in_the_output_steers_the_terminal(hostile: str, safe: str) -> None:
    assert inert(hostile) == safe
