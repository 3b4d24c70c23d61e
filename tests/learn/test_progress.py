"""Sessions that go round in circles are stopped, and healthy ones are not (A18)."""

from collections.abc import Iterator, Sequence
from itertools import count, islice

import pytest

from interlock.agents import ADAPTERS
from interlock.learn.progress import MANY_SESSIONS, Progress, circle_limits
from interlock.model.progress import CircleLimits
from interlock.model.reason import Reason
from interlock.model.session import Event, EventKind
from interlock.model.usage import Usage
from tests.adapters.replayed import play
from tests.adapters.test_recorded import GOOD, lines_of, recorded
from tests.events.test_tallies import finish, journal_of, tally

LEAST = 12
ROUNDS = 200
"""The length of a session that nothing stops: a limit on turns, or the time of the task."""

Calls = Iterator[tuple[str, str, str]]
"""A tool, its argument, and its result."""


def events(calls: Calls, words: Sequence[str] = ()) -> list[Event]:
    """A session of `ROUNDS` calls that pays 1,000 tokens for each."""
    found: list[Event] = []
    for number, (tool, argument, result) in enumerate(islice(calls, ROUNDS), 1):
        usage = Usage(1_000 * number, calls=number)
        if words:
            found.append(Event(EventKind.MESSAGE, words[number % len(words)]))
        found.append(Event(EventKind.TOOL, argument, tool=tool, call=f"c{number}", usage=usage))
        found.append(Event(EventKind.RESULT, result, call=f"c{number}"))
    return found


def stop(found: Sequence[Event], limits: CircleLimits) -> tuple[Reason | None, int]:
    """The reason to stop a session, and the tokens until then."""
    progress, tokens = Progress(limits), 0
    for event in found:
        tokens = event.usage.tokens if event.usage else tokens
        if why := progress.hear(event):
            return why, tokens
    return None, tokens


def same_call() -> Calls:
    for _ in count():
        yield "bash", "ls src", "app.py"


def two_calls() -> Calls:
    for _ in count():
        yield "bash", "pytest -q", "1 failed in 0.31s"
        yield "read", "src/app.py", "def app(): ..."


def changing_times() -> Calls:
    for number in count():
        yield "bash", "pytest -q", f"1 failed in 0.{number}s"


def diff_that_comes_and_goes() -> Calls:
    for _ in count():
        yield "edit", "app.py: x = 1 -> x = 2", "edited"
        yield "bash", "pytest -q", "test_b failed"
        yield "edit", "app.py: x = 2 -> x = 1", "edited"
        yield "bash", "pytest -q", "test_a failed"


def missing_file() -> Calls:
    for _ in count():
        yield "Read", '{"file_path": "/w/nothing.py"}', "no such file"


def failing_edit() -> Calls:
    for _ in count():
        yield "Edit", '{"file_path": "a.py", "old": "x"}', "the old text was not found"


def work_then_circle() -> Calls:
    for number in range(30):
        yield "edit", f"step {number}", "edited"
        yield "bash", "pytest -q", f"{'abcdefghijklmnopqrstuvwxyzabcdefgh'[number]} failed"
    yield from two_calls()


def three_searches() -> Calls:
    for _ in count():
        for what in ("login", "session", "token"):
            yield "grep", what, ""


CIRCLES: dict[str, list[Event]] = {
    "the same call": events(same_call()),
    "two calls in turn": events(two_calls()),
    "only the time differs": events(changing_times()),
    "a diff that comes and goes": events(diff_that_comes_and_goes()),
    "a file that is not there": events(missing_file()),
    "an edit that never fits": events(failing_edit()),
    "good work, then a circle": events(work_then_circle()),
    "searches without a result": events(three_searches()),
    "apologies": [
        Event(EventKind.MESSAGE, f"{words} Attempt {chr(97 + n % 26)}.", usage=Usage(1_000 * n, calls=n))
        for n, words in enumerate(
            ["I apologize for the confusion.", "You're right, sorry!"] * (ROUNDS // 2), 1
        )
    ],
    "apologies between calls": events(same_call(), ["My mistake.", "Let me look again."]),
}


def test_ten_sessions_that_circle_are_stopped_early() -> None:
    spent = total = 0
    for name, session in CIRCLES.items():
        why, tokens = stop(session, CircleLimits(LEAST))
        assert why is not None, name
        spent, total = spent + tokens, total + max(e.usage.tokens for e in session if e.usage)
    assert len(CIRCLES) == 10
    assert spent < 0.11 * total  # 90 % are saved


RECORDED = recorded(*GOOD)


def test_there_are_twenty_recorded_sessions() -> None:
    assert len(RECORDED) >= 20


@pytest.mark.parametrize(("use", "name"), RECORDED)
def test_a_recorded_session_is_not_stopped(use: str, name: str) -> None:
    played = play(ADAPTERS[use], lines_of(use, name))
    assert stop(played.events, CircleLimits(LEAST))[0] is None


def checks_after_each_edit() -> Calls:
    for number in count():
        yield "edit", f"app.py, line {number}", "edited"
        yield "bash", "pytest -q", "1 failed"
        yield "bash", "git diff", "+ x"


def waits_for_a_server() -> Calls:
    for number in count():
        yield (
            "bash",
            "tail -1 build.log",
            f"step {'abcdefghij'[number // 10 % 10]}{'abcdefghij'[number % 10]}",
        )


def reads_a_lot() -> Calls:
    for number in count():
        yield "read", f"src/module_{number}.py", "..."


@pytest.mark.parametrize("calls", [checks_after_each_edit, reads_a_lot])
def test_long_healthy_sessions_are_not_stopped(calls: object) -> None:
    assert callable(calls)
    assert stop(events(calls()), CircleLimits(LEAST))[0] is None


def test_a_call_that_is_repeated_until_its_result_changes_makes_progress() -> None:
    assert stop(events(islice(waits_for_a_server(), 100)), CircleLimits(LEAST))[0] is None


def test_no_limit_stops_nothing() -> None:
    assert stop(events(same_call()), CircleLimits())[0] is None


def test_the_limits_are_learned_from_sessions_that_left_a_change() -> None:
    journal = journal_of(*(f"t{number}" for number in range(MANY_SESSIONS)))
    task = journal.task("t0")
    limits = circle_limits(journal.state, task, "bot", "small", LEAST)
    assert limits == CircleLimits(LEAST)
    for number in range(MANY_SESSIONS):
        journal.start(f"t{number}")
        finish(journal, f"t{number}", 5.0, usage=Usage(9_000 + number, 1_000, calls=9))
    tally(journal).repeats = 9
    learned = circle_limits(journal.state, task, "bot", "small", LEAST)
    assert learned.repeats == 18
    assert 40_000 <= learned.tokens < 41_000
    assert circle_limits(journal.state, task, "bot", "small", 0) == CircleLimits()
    why, tokens = stop(events(reads_a_lot()), learned)
    assert why is not None
    assert why.text("what") == "tokens"
    assert tokens <= 42_000
