"""Any agent that speaks the Agent Client Protocol, against a real one that follows orders (W13)."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from interlock.agents.acp.dialogue import OPEN_MOST
from interlock.agents.acp.program import Acp
from interlock.agents.adapter import Dialogue
from interlock.model.outcome import ErrorClass
from interlock.model.process import Ended, Exit
from interlock.model.session import Event, EventKind, Usage
from tests.acp.bench import fake, talk

slow = pytest.mark.slow


def on(kind: EventKind, act: str, *words: object) -> "Reaction":
    return Reaction(kind, act, words)


class Reaction:
    """Calls a method of the dialogue at the first event of a kind."""

    def __init__(self, kind: EventKind, act: str, words: Sequence[object]) -> None:
        self._kind, self._act, self._words = kind, act, words
        self.done = False

    def __call__(self, event: Event, dialogue: Dialogue) -> Sequence[Event]:
        if self.done or event.kind is not self._kind:
            return ()
        self.done = True
        return getattr(dialogue, self._act)(*self._words) or ()


@slow
def test_a_session_from_the_greeting_to_the_last_word(tmp_path: Path) -> None:
    done = talk(fake(tmp_path, "@write", "--noise"))
    assert (tmp_path / "workspace/hello.txt").read_text() == "hello\n"
    assert [event.kind for event in done.events] == [
        EventKind.SESSION,
        EventKind.MESSAGE,
        EventKind.TOOL,
        EventKind.EDIT,
        EventKind.RESULT,
        EventKind.TOOL,
        EventKind.COMMAND,
        EventKind.RESULT,
        EventKind.USAGE,
        EventKind.MESSAGE,
        EventKind.USAGE,
        EventKind.END,
    ]
    assert [event.path for event in done.of(EventKind.EDIT)] == ["hello.txt"]
    assert [(e.text, e.exit_code) for e in done.of(EventKind.COMMAND)] == [("cat hello.txt", 0)]
    assert done.texts(EventKind.MESSAGE) == ["I write it.", "All done."]
    assert (done.verdict.error, done.verdict.summary, done.verdict.session) == (None, "All done.", "fresh")
    assert done.verdict.usage == Usage(100, 10, 4).priced(0.25, "reported")


@slow
@pytest.mark.parametrize(
    ("permissions", "said", "kinds"),
    [
        ("allow", "You said once.", [EventKind.ASKED]),
        ("deny", "You said no.", [EventKind.ASKED, EventKind.DENIED]),
    ],
)
def test_a_rule_answers_what_the_agent_asks(
    tmp_path: Path, permissions: str, said: str, kinds: list[EventKind]
) -> None:
    done = talk(fake(tmp_path, "@ask", permissions=permissions))
    told = [event for event in done.events if event.kind in (EventKind.ASKED, EventKind.DENIED)]
    assert [event.kind for event in told] == kinds
    assert {(event.call, event.tool, event.text) for event in told} == {("c9", "edit", "Write hello.txt")}
    assert told[0].ok
    assert any(said in text for text in done.texts(EventKind.MESSAGE))
    assert (tmp_path / "workspace/hello.txt").exists() is (permissions == "allow")


@slow
@pytest.mark.parametrize("allow", [True, False])
def test_a_person_answers_what_the_agent_asks(tmp_path: Path, allow: bool) -> None:
    answer = on(EventKind.ASKED, "answer", "c9", allow)
    done = talk(fake(tmp_path, "@ask", permissions="ask"), answer)
    assert [event.ok for event in done.of(EventKind.ASKED)] == ([False, True] if allow else [False])
    assert len(done.of(EventKind.DENIED)) == (0 if allow else 1)
    assert (tmp_path / "workspace/hello.txt").exists() is allow
    assert done.verdict.error is None


@slow
def test_an_answer_to_nothing_is_nothing(tmp_path: Path) -> None:
    done = talk(fake(tmp_path, "@write"), on(EventKind.TOOL, "answer", "c1", False))
    assert done.of(EventKind.DENIED) == []
    assert done.verdict.error is None


@slow
def test_what_a_person_says_is_the_next_turn_of_the_same_session(tmp_path: Path) -> None:
    done = talk(fake(tmp_path, "@write"), on(EventKind.TOOL, "say", "@echo please"))
    assert done.texts(EventKind.MESSAGE)[-1] == "I was told: @echo please. All done."
    assert len(done.of(EventKind.SESSION)) == 1
    assert done.verdict.usage == Usage(200, 20, 8).priced(0.25, "reported")


@slow
def test_a_vendors_own_messages_are_ignored_and_its_own_requests_refused(tmp_path: Path) -> None:
    done = talk(fake(tmp_path, "@vendor"))
    assert "It said -32601." in done.texts(EventKind.MESSAGE)[0]
    assert done.verdict.error is None


@slow
@pytest.mark.parametrize(
    ("prompt", "error"),
    [
        ("@fail:-32000:log_in_first", ErrorClass.AUTH),
        ("@fail:-32603:HTTP_429_too_many_requests", ErrorClass.RATE_LIMIT),
        ("@fail:-32603:401_invalid_api_key", ErrorClass.AUTH),
        ("@fail:-32603:something_else", ErrorClass.EXIT),
        ("@stop:max_turn_requests", ErrorClass.TURNS),
        ("@stop:max_tokens", ErrorClass.CONTEXT),
        ("@stop:refusal", ErrorClass.MODEL),
        ("@text:API_Error:_429_rate_limit_exceeded", ErrorClass.RATE_LIMIT),
        ("@die", ErrorClass.EXIT),
    ],
)
def test_an_error_ends_the_session_with_its_class(tmp_path: Path, prompt: str, error: ErrorClass) -> None:
    done = talk(fake(tmp_path, prompt))
    assert done.verdict.error is error
    assert done.verdict.summary or done.verdict.why


@slow
def test_words_about_errors_after_real_work_are_no_error(tmp_path: Path) -> None:
    done = talk(fake(tmp_path, "@write @text:I_fixed_the_429_rate_limit_bug"))
    assert done.verdict.error is None


@slow
def test_an_agent_that_wants_a_key_gets_it_from_its_environment(tmp_path: Path) -> None:
    done = talk(fake(tmp_path, "@write", "--key"))
    assert done.verdict.error is None


@slow
@pytest.mark.parametrize(
    ("options", "resume", "session"),
    [
        (["--resume"], "known", "known"),
        (["--load"], "known", "known"),
        (["--load", "--resume"], "other", "other"),
        (["--load", "--resume"], "broken", "fresh"),
        ([], "known", "fresh"),
    ],
)
def test_a_session_that_was_cut_off_goes_on_where_the_agent_can(
    tmp_path: Path, options: list[str], resume: str, session: str
) -> None:
    done = talk(fake(tmp_path, "@write", *options, resume=resume))
    assert (done.verdict.error, done.verdict.session) == (None, session)
    assert "what was said before" not in "".join(done.texts(EventKind.MESSAGE))


@slow
def test_an_agent_that_does_not_leave_when_all_is_said_has_still_ended_well(tmp_path: Path) -> None:
    done = talk(fake(tmp_path, "@write", "--stubborn"))
    assert done.verdict.error is None


def ended(code: int = 0) -> Exit:
    return Exit(Ended.EXITED, code, 1.0, "")


def response(id: int, **result: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": id, "result": result})


@pytest.mark.parametrize(
    "answers",
    [
        [response(0, protocolVersion="one")],
        [response(0, protocolVersion=1), response(1, sessionId=5)],
        [response(0, protocolVersion=1), response(1, sessionId="s"), response(2, stopReason="tired")],
    ],
)
def test_an_answer_that_makes_no_sense_ends_the_session(tmp_path: Path, answers: list[str]) -> None:
    dialogue = Acp().reader(fake(tmp_path, "@write"))
    for line in answers:
        dialogue.read(line)
    assert dialogue.is_over
    assert dialogue.verdict(ended()).error is ErrorClass.MODEL


def test_garbage_is_noise_and_the_session_ends_with_the_program(tmp_path: Path) -> None:
    dialogue = Acp().reader(fake(tmp_path, "@write"))
    for line in ("", "{", "[]", "null", '{"jsonrpc": "2.0"}', "\x00\xff", '{"id": 0}', "{" * 5000):
        assert dialogue.read(line) == []
    assert not dialogue.is_over
    assert dialogue.verdict(ended(1)).error is ErrorClass.EXIT


def test_a_message_is_found_behind_words_on_the_same_line(tmp_path: Path) -> None:
    dialogue = Acp().reader(fake(tmp_path, "@write"))
    dialogue.read("warning: " + response(0, protocolVersion=1))
    assert "session/new" in "".join(dialogue.replies())


def test_nothing_that_the_agent_could_use_on_the_host_is_offered(tmp_path: Path) -> None:
    greeting = json.loads(Acp().launch(fake(tmp_path, "@write")).say)
    assert greeting["params"]["clientCapabilities"]["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert greeting["params"]["clientCapabilities"]["terminal"] is False


def test_questions_that_nobody_could_read_any_more_are_denied(tmp_path: Path) -> None:
    """An agent can ask without end; what waits for a person does not grow with it."""
    dialogue = Acp().reader(fake(tmp_path, "x", permissions="ask"))
    dialogue.replies()
    option = {"optionId": "no", "name": "No", "kind": "reject_once"}
    events: list[Event] = []
    asked = ""
    for number in range(OPEN_MOST + 5):
        params = {"sessionId": "s", "toolCall": {"toolCallId": f"c{number}"}, "options": [option]}
        asked = json.dumps(
            {"jsonrpc": "2.0", "id": number, "method": "session/request_permission", "params": params}
        )
        events += dialogue.read(asked)

    assert sum(event.kind is EventKind.ASKED and not event.ok for event in events) == OPEN_MOST
    assert next(event.call for event in events if event.kind is EventKind.DENIED) == f"c{OPEN_MOST}"
    answers = [json.loads(line) for line in dialogue.replies()]
    assert [answer["id"] for answer in answers] == [*range(OPEN_MOST, OPEN_MOST + 5)]
    assert {answer["result"]["outcome"]["optionId"] for answer in answers} == {"no"}
    dialogue.answer("c0", True)
    assert not any(event.kind is EventKind.DENIED for event in dialogue.read(asked))
