"""What an agent does, in words (T6)."""

import json

import pytest

from interlock.agents import ADAPTERS
from interlock.agents.adapter import Reader
from interlock.model.activity import Activity
from interlock.model.outcome import ErrorClass
from interlock.model.session import Event, EventKind
from tests.adapters.replayed import seat_for
from tests.adapters.test_recorded import RECORDINGS, USES


def uses(tool: str, **given: object) -> Event:
    return Event(EventKind.TOOL, json.dumps(given), tool=tool)


def words(*events: Event) -> str:
    activity = Activity("/w")
    for event in events:
        activity.hear(event)
    return activity.words


RESULT = Event(EventKind.RESULT, "ok")

SAID = [
    (uses("Edit", file_path="/w/src/app.py", old_string="a"), "edits src/app.py"),
    (uses("write_file", file_path="/w/hello.txt", content="hi"), "edits hello.txt"),
    (uses("Bash", command="cd /w && pytest -q", description="Run tests"), "runs `pytest -q`"),
    (uses("bash", command=["make", "a b"]), "runs `make 'a b'`"),
    (uses("Read", file_path="/w/README.md"), "reads README.md"),
    (uses("Grep", pattern="def area", path="/w/src"), "searches for def area"),
    (uses("WebFetch", url="http://x/y"), "fetches http://x/y"),
    (uses("TodoWrite", todos=[]), "updates its plan"),
    (uses("Task", description="look around"), "delegates: look around"),
    (uses("mcp__db__query", query="select 1"), "uses mcp__db__query: select 1"),
    (
        Event(EventKind.TOOL, "/bin/bash -lc 'pytest -q'", tool="command_execution"),
        "runs `pytest -q`",
    ),
    (Event(EventKind.TOOL, "/w/a.py /w/b.py", tool="file_change"), "edits a.py b.py"),
    (Event(EventKind.TOOL, "Edit hello.txt", tool="edit"), "edits hello.txt"),
    (Event(EventKind.TOOL, "Some thought", tool="think"), "thinks"),
    (Event(EventKind.TOOL, '{"command": "cut of', tool="Bash"), "runs a command"),
    (Event(EventKind.COMMAND, "pytest -q", exit_code=1), "ran `pytest -q` (exit 1)"),
    (Event(EventKind.EDIT, path="/w/a.py"), "edited a.py"),
    (Event(EventKind.MESSAGE, "\n Now the tests.\nThen more."), 'says "Now the tests.…"'),
    (
        Event(EventKind.ASKED, "rm -r build", tool="execute", ok=False),
        "waits for permission to run `rm -r build`",
    ),
    (Event(EventKind.DENIED, "rm -r build", tool="Bash", ok=False), "was not allowed to run `rm -r build`"),
    (Event(EventKind.RETRY, "529 overloaded"), "waits for the model: 529 overloaded"),
    (Event(EventKind.RETRY, error=ErrorClass.OVERLOADED), "waits for the model: overloaded"),
    (Event(EventKind.SESSION, session="s"), "thinks"),
    (Event(EventKind.END, "bye"), "finished"),
    (Event(EventKind.END, "no key", ok=False), "stopped: no key"),
]


@pytest.mark.parametrize(("event", "expected"), SAID, ids=[said for _, said in SAID])
def test_an_event_is_a_phrase(event: Event, expected: str) -> None:
    assert words(event) == expected


def test_after_a_tool_the_model_thinks_and_the_action_is_still_named() -> None:
    ran = Event(EventKind.COMMAND, "pytest -q", exit_code=1)
    assert words(uses("Bash", command="pytest -q"), ran, RESULT) == "thinks; ran `pytest -q` (exit 1)"
    assert words(uses("Read", file_path="/w/a.py"), RESULT, RESULT) == "thinks; reads a.py"


def test_the_words_are_one_bounded_line_that_no_terminal_obeys() -> None:
    said = words(uses("Bash", command="printf '\x1b]0;gotcha\x07\x1b[2J' " + "x" * 5000))
    assert len(said) <= 200
    assert said.startswith("runs `printf ''")
    assert said.isprintable()


def read(use: str, scenario: str) -> list[str]:
    """Everything that a real program's recorded session says, in words."""
    reader: Reader = ADAPTERS[use].reader(seat_for(use))
    activity = Activity("/workspace")
    lines = (RECORDINGS / use / f"{scenario}.jsonl").read_text().splitlines()
    return [said for line in lines for event in reader.read(line) if (said := activity.hear(event))]


@pytest.mark.parametrize("use", USES)
def test_each_program_tells_its_work_in_the_same_words(use: str) -> None:
    said = read(use, "basic")
    assert "edits hello.txt" in said
    assert "runs `echo ran > ran.txt && echo command-output`" in said
    assert not [words for words in said if "{" in words]
