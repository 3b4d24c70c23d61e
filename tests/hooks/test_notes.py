"""What is written down when a session is over (W13, D10)."""

from pathlib import Path

import pytest

from interlock.model.outcome import ErrorClass, Report
from interlock.model.session import SessionNotes
from interlock.model.task import Commit, TaskId
from interlock.run.notes import Notebook

T = TaskId("t")


def report(summary: str = "", **more: object) -> Report:
    return Report(T, 1, Commit("b"), summary=summary, **more)  # type: ignore[arg-type]  # fields of Report


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / "logs" / "t").mkdir(parents=True)
    return tmp_path


def events(state: Path, *lines: str) -> None:
    (state / "logs" / "t" / "1.events.jsonl").write_text("\n".join(lines))


def page(state: Path) -> str:
    return (state / "logs" / "t" / "1.notes.json").read_text()


def test_the_last_words_of_the_agent_are_its_summary(state: Path) -> None:
    events(
        state,
        '{"kind": "session", "session": "s-9", "model": "m"}',
        '{"kind": "message", "text": "I begin."}',
        '{"kind": "edit", "path": "a.py"}',
        '{"kind": "message", "text": "I renamed it."}',
        '{"kind": "usage", "usage": {"input_tokens": 7}}',
        '{"kind": "message", "te',  # it was killed while it wrote
    )
    book = Notebook(state)
    assert book.write(report("killed by signal 9", error=ErrorClass.EXIT), "agent-exit")
    assert book.look_up(T, 1) == SessionNotes("agent-exit", "I renamed it.", "logs/t/1.notes.json")
    for part in ('"session": "s-9"', '"a.py"', '"I begin."', '"input_tokens": 7', '"killed by signal 9"'):
        assert part in page(state)


def test_a_program_that_only_prints_lines_has_its_last_ones_kept_without_secrets(state: Path) -> None:
    """D11."""
    lines = ["# interlock: task t", *(f"line {number} s3cret" for number in range(50)), "", "\x1b[31mend"]
    (state / "logs" / "t" / "1.log").write_text("\n".join(lines))
    Notebook(state, lambda text: text.replace("s3cret", "***")).write(report(), "done")
    notes = Notebook(state).look_up(T, 1)
    assert notes
    assert notes.summary.splitlines()[-2:] == ["line 49 ***", "end"]
    assert "line 30" not in notes.summary


def test_the_json_of_a_program_that_said_nothing_is_nothing_it_said(state: Path) -> None:
    events(state, '{"kind": "session", "session": "s-9"}', '{"kind": "end", "ok": false, "text": "HTTP 401"}')
    log = state / "logs" / "t" / "1.log"
    log.write_text('# interlock: task t\n{"event": "session"}\n{"event": "end"}\n')
    Notebook(state).write(report("HTTP 401: no such key"), "auth")
    assert Notebook(state).look_up(T, 1) == SessionNotes(
        "auth", "HTTP 401: no such key", "logs/t/1.notes.json"
    )


def test_what_a_program_prints_beside_its_json_is_kept(state: Path) -> None:
    events(state, '{"kind": "session", "session": "s-9"}')
    (state / "logs" / "t" / "1.log").write_text('{"event": "session"}\nout of memory\n')
    Notebook(state).write(report("exit 1"), "agent-exit")
    assert Notebook(state).look_up(T, 1) == SessionNotes("agent-exit", "out of memory", "logs/t/1.notes.json")


def test_of_a_session_nobody_heard_of_there_are_notes_too(state: Path) -> None:
    Notebook(state).write(report("its holder is gone"), "lost")
    assert Notebook(state).look_up(T, 1) == SessionNotes("lost", "its holder is gone", "logs/t/1.notes.json")


def test_notes_are_made_once(state: Path) -> None:
    assert Notebook(state).write(report("first"), "done")
    assert not Notebook(state).write(report("second"), "lost")
    assert "first" in page(state)
    assert [path.name for path in (state / "logs" / "t").iterdir()] == ["1.notes.json"]


def test_damaged_notes_are_no_notes(state: Path) -> None:
    (state / "logs" / "t" / "1.notes.json").write_text("{")
    assert Notebook(state).look_up(T, 1) is None
