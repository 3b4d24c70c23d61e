"""What counts as a question to a person at the end of a session: rules only (5: a question is a question)."""

import pytest

from interlock.git.protocol import Collected
from interlock.model.outcome import Asking, ErrorClass, Report
from interlock.model.session import Event, EventKind
from interlock.model.task import Commit, TaskId
from interlock.run.outcome import with_work
from interlock.run.question import MESSAGE_CHARS, TEXT_CHARS, Closing

UNCHANGED = Collected(Commit("b"), "refs/kept", changed=False)
CHANGED = Collected(Commit("c"), "refs/kept", changed=True, touched=("a.py",))


def said(text: str) -> Event:
    return Event(EventKind.MESSAGE, text)


def used(tool: str, given: str = "{}") -> Event:
    return Event(EventKind.TOOL, given, tool=tool, call="1")


def asks(*events: Event, printed: str = "") -> Asking | None:
    closing = Closing()
    for event in events:
        closing.note(event)
    return closing.asks(printed)


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("I looked.\n\nShould it accept strings as well?", "Should it accept strings as well?"),
        ("**Should it accept strings?**\n", "**Should it accept strings?**"),
        ("Which one do you want?\n\n- strings\n- bytes", "Which one do you want?\n\n- strings\n- bytes"),
        ("Which one?\n\n1. strings\n2. bytes", "Which one?\n\n1. strings\n2. bytes"),
        ("Strings or bytes (or both?)", "Strings or bytes (or both?)"),
    ],
)
def test_a_last_paragraph_that_ends_in_a_question_mark_asks(message: str, question: str) -> None:
    assert asks(said(message)) == Asking(question, message.strip())


@pytest.mark.parametrize(
    "message",
    [
        "All done.",
        "Why not? Because it works.",
        "Is it green?\n\nYes, it is.",
        "Which?\n\nI took the first.",
        "",
    ],
)
def test_other_messages_do_not(message: str) -> None:
    assert asks(said(message)) is None


def test_a_line_with_the_word_for_it_is_an_explicit_question() -> None:
    message = "I see two ways.\n::interlock ask Which database: sqlite or postgres\nI wait."
    assert asks(said(message)) == Asking("Which database: sqlite or postgres", message, is_explicit=True)


def test_only_the_last_message_counts() -> None:
    assert asks(said("::interlock ask Which?"), said("I found out myself. Done.")) is None


@pytest.mark.parametrize("tool", ["AskUserQuestion", "ask_user_question", "ask_user", "question"])
def test_a_tool_for_asking_people_asks_if_no_other_tool_follows(tool: str) -> None:
    given = '{"questions": [{"question": "Strings too?", "options": [{"label": "Yes"}]}]}'
    found = asks(used("Read"), used(tool, given), said("I wait for the answer."))
    assert found == Asking("Strings too?", "I wait for the answer.", is_explicit=True)
    assert asks(used(tool, given), used("Edit"), said("I decided.")) is None


def test_a_program_that_only_prints_asks_with_its_last_lines() -> None:
    found = asks(printed="reading a.py\n\nShould it accept \x1b[1mstrings\x1b[0m?\n")
    assert found is not None
    assert found.text == "Should it accept strings?"


def test_what_is_kept_is_bounded() -> None:
    found = asks(said("x" * 9_000 + "?"))
    assert found is not None
    assert (len(found.text), len(found.message)) == (TEXT_CHARS, MESSAGE_CHARS)


def test_a_question_without_a_change_is_no_failure() -> None:
    report = with_work(Report(TaskId("a"), 1, Commit("b"), asks=Asking("Strings?")), UNCHANGED)
    assert (report.error, report.asks) == (None, Asking("Strings?"))


def test_with_a_change_a_closing_offer_does_not_hold_it_up() -> None:
    offer, explicit = Asking("Shall I also do b?"), Asking("Which?", is_explicit=True)
    assert with_work(Report(TaskId("a"), 1, Commit("b"), asks=offer), CHANGED).asks is None
    assert with_work(Report(TaskId("a"), 1, Commit("b"), asks=explicit), CHANGED).asks is explicit


def test_a_denial_counts_only_if_nothing_was_made() -> None:
    denied = Report(TaskId("a"), 1, Commit("b"), denied="it was not allowed to use Bash: rm")
    assert with_work(denied, CHANGED).error is None
    assert with_work(denied, UNCHANGED).error is ErrorClass.DENIED
