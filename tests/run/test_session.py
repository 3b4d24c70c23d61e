"""What is kept of a session, and what it was kept from (W13, D11)."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from interlock.agents.adapter import SessionVerdict
from interlock.model.process import Ended, Exit
from interlock.model.session import Event, EventKind
from interlock.run import session as module
from interlock.run.session import TEXT_CHARS, TOOLS_MOST, Denials, SessionRecord

WELL = Exit(Ended.EXITED, 0, 1.0, "")


class Script:
    """A reader whose lines are the events themselves."""

    def __init__(self, *events: Event) -> None:
        self._events = list(events)

    def read(self, line: str) -> Sequence[Event]:
        return [self._events.pop(0)] if line == "next" else []

    def verdict(self, _exited: Exit) -> SessionVerdict:
        return SessionVerdict(summary="done")


def played(tmp_path: Path, *events: Event) -> SessionRecord:
    session = SessionRecord(
        Script(*events), tmp_path / "events.jsonl", lambda text: text.replace("key", "*"), "s"
    )
    for _ in events:
        session.hear("next")
    return session


def tool(call: str, name: str) -> Event:
    return Event(EventKind.TOOL, "x", call=call, tool=name)


DENIED = Event(EventKind.DENIED, "rm -rf", call="1", tool="Bash", ok=False)


def test_a_denial_at_the_end_mattered(tmp_path: Path) -> None:
    verdict = played(tmp_path, tool("1", "Bash"), DENIED).verdict(WELL, [])
    assert (verdict.error, verdict.denied) == (None, "use Bash: rm -rf")


def test_a_denial_that_was_got_around_did_not(tmp_path: Path) -> None:
    again = (tool("2", "Bash"), Event(EventKind.RESULT, "ok", call="2"))
    assert played(tmp_path, tool("1", "Bash"), DENIED, *again).verdict(WELL, []).denied == ""


def test_another_tool_that_worked_does_not_make_up_for_it(tmp_path: Path) -> None:
    other = (tool("2", "Read"), Event(EventKind.RESULT, "ok", call="2"))
    assert played(tmp_path, tool("1", "Bash"), DENIED, *other).verdict(WELL, []).denied


def test_a_question_that_no_person_could_see_was_not_denied(tmp_path: Path) -> None:
    denied = Event(EventKind.DENIED, "no person is here", call="1", tool="AskUserQuestion", ok=False)
    verdict = played(tmp_path, tool("1", "AskUserQuestion"), denied).verdict(WELL, [])
    assert (verdict.denied, verdict.asks and verdict.asks.is_explicit) == ("", True)


def test_a_call_of_long_ago_is_forgotten_and_a_denial_stays_one() -> None:
    denials = Denials()
    for event in (tool("1", "Bash"), DENIED, *(tool(f"c{n}", "Read") for n in range(TOOLS_MOST))):
        denials.note(event)
    denials.note(Event(EventKind.RESULT, "ok", call="1"))
    assert denials.that_mattered() == "use Bash: rm -rf"


def test_tools_that_an_agent_makes_up_are_not_remembered_without_end() -> None:
    denials = Denials()
    for number in range(TOOLS_MOST + 5):
        denials.note(Event(EventKind.DENIED, "no", tool=f"t{number}", ok=False))
    assert denials.that_mattered() == f"use t{TOOLS_MOST - 1}: no"


def test_events_are_kept_clean_and_cut_one_a_line(tmp_path: Path) -> None:
    session = played(tmp_path, Event(EventKind.MESSAGE, "my key " + "x" * 2 * TEXT_CHARS))
    session.close()
    (line,) = (tmp_path / "events.jsonl").read_text().splitlines()
    kept = json.loads(line)
    assert kept["text"].startswith("my * xxx")
    assert len(kept["text"]) == TEXT_CHARS


def test_the_file_of_events_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVENTS_BYTES", 200)
    session = played(tmp_path, *[Event(EventKind.MESSAGE, "x" * 50)] * 10)
    session.close()
    assert 0 < (tmp_path / "events.jsonl").stat().st_size <= 200


def test_a_name_that_the_program_gives_its_session_is_the_one_to_resume(tmp_path: Path) -> None:
    assert played(tmp_path, Event(EventKind.SESSION, session="own")).verdict(WELL, []).session == "own"


def test_output_that_means_nothing_is_still_the_last_line(tmp_path: Path) -> None:
    session = played(tmp_path)
    session.hear("compiling")
    session.hear('{"type": "noise"}')
    assert (session.last_line, session.tail) == ("compiling", "")
