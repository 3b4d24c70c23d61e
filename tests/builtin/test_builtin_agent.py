"""The built-in agent as a process, against a model server that answers from a list (A7, W13)."""

import json
from pathlib import Path

import pytest

from interlock.model.outcome import ErrorClass
from interlock.model.session import EventKind, Usage
from tests.builtin.bench import seated, worked
from tests.builtin.server import Answer, call, ollama, openai, raw_call, refuse, say, serving

pytestmark = pytest.mark.slow

HELLO = "<<<<<<< old\nhello\n=======\ngoodbye\n>>>>>>> new\n"


def test_it_edits_runs_a_command_and_says_that_it_is_done(tmp_path: Path) -> None:
    answers = [
        call("edit", path="src/hello.txt", old="", new="hello\n"),
        call("edit", path="src/hello.txt", old="hello", new="hello, world"),
        call("bash", command="cat src/hello.txt; exit 3"),
        say("All done."),
    ]
    with serving(answers) as model:
        session = worked(seated(tmp_path, model.url + "/v1"))
    assert (tmp_path / "workspace/src/hello.txt").read_text() == "hello, world\n"
    assert (session.code, session.verdict.error, session.verdict.summary) == (0, None, "All done.")
    assert [event.path for event in session.of(EventKind.EDIT)] == ["src/hello.txt"] * 2
    assert [(e.text, e.exit_code) for e in session.of(EventKind.COMMAND)] == [
        ("cat src/hello.txt; exit 3", 3)
    ]
    assert [result.ok for result in session.results] == [True, True, False]
    assert session.verdict.usage == Usage(400, 20, 40, calls=4)
    assert session.events[-1].kind is EventKind.END
    assert "hello, world\n\n(exit status 3)" in model.told(-1)
    assert set(model.paths) == {"/v1/chat/completions"}


def test_it_speaks_ollama_when_the_address_has_no_version(tmp_path: Path) -> None:
    answers = [ollama("", bash={"command": "echo hi > hi.txt"}), ollama("Done.")]
    with serving(answers) as model:
        session = worked(seated(tmp_path, model.url, ("--context", "16000")))
    assert session.verdict.error is None
    assert (tmp_path / "workspace/hi.txt").exists()
    assert set(model.paths) == {"/api/chat"}
    assert model.asked[0]["options"] == {"num_ctx": 16000}
    assert model.asked[1]["messages"][-1]["tool_name"] == "bash"
    assert session.verdict.usage == Usage(200, 10, 0, calls=2)


def test_through_the_proxy_it_uses_the_path_of_the_real_server_and_shows_its_token(tmp_path: Path) -> None:
    with serving([say("Done.")]) as model:
        far_away = "http://model.invalid:9/v1"
        worked(seated(tmp_path, far_away, proxy=(model.url, "t0ken")))
    assert model.paths == ["/v1/chat/completions"]
    assert model.tokens == ["Bearer t0ken"]


def test_the_token_is_not_for_the_commands(tmp_path: Path) -> None:
    with serving([call("bash", command="env"), say("Done.")]) as model:
        session = worked(seated(tmp_path, model.url + "/v1", proxy=(model.url, "t0ken")))
    assert "t0ken" not in session.results[0].text


@pytest.mark.parametrize(
    "path", ["../outside.txt", "/etc/interlock-was-here", "link/outside.txt", ".git/config", ".", ""]
)
def test_edit_stays_below_the_workspace(tmp_path: Path, path: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    with serving([call("edit", path=path, old="", new="out"), say("Done.")]) as model:
        context = seated(tmp_path, model.url + "/v1")
        (tmp_path / "workspace/link").symlink_to(tmp_path / "elsewhere")
        session = worked(context)
    assert [result.ok for result in session.results] == [False]
    assert "below the current folder" in session.results[0].text
    assert not list((tmp_path / "elsewhere").iterdir())
    assert not (tmp_path / "outside.txt").exists()
    assert session.of(EventKind.EDIT) == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (call("edit", path="a.txt", old="nowhere", new="x"), "occurs 0 times"),
        (call("edit", path="a.txt", old="one", new="x"), "occurs 2 times"),
        (call("edit", path="a.txt", old="", new="x"), "exists"),
        (call("edit", path="binary", old="x", new="y"), "binary"),
        (call("edit", path="a.txt"), "needs path, old, new"),
        (raw_call("bash", '{"command": '), "not JSON"),
        (call("browse", url="x"), "there is no tool 'browse'"),
    ],
)
def test_what_a_tool_cannot_do_is_told_to_the_model(tmp_path: Path, answer: Answer, words: str) -> None:
    with serving([answer, say("Done.")]) as model:
        context = seated(tmp_path, model.url + "/v1")
        (tmp_path / "workspace/a.txt").write_text("one one")
        (tmp_path / "workspace/binary").write_bytes(b"\xff\xfe")
        session = worked(context)
    assert [result.ok for result in session.results] == [False]
    assert words in session.results[0].text
    assert words in model.told(-1)
    assert (tmp_path / "workspace/a.txt").read_text() == "one one"
    assert session.verdict.error is None


def test_a_huge_output_is_cut_in_the_middle(tmp_path: Path) -> None:
    with serving([call("bash", command="echo first; yes | head -c 30000000; echo last"), say("Done.")]) as m:
        session = worked(seated(tmp_path, m.url + "/v1"))
    told = m.asked[-1]["messages"][-1]["content"]
    assert len(told) < 20_000
    assert told.startswith("first\n")
    assert "characters left out" in told
    assert told.endswith("last\n\n(exit status 0)")
    assert len(session.results[0].text) < 10_000


def test_a_command_that_does_not_end_is_killed_and_one_in_the_background_is_not_waited_for(
    tmp_path: Path,
) -> None:
    answers = [
        call("bash", command="echo begun; tail -f /dev/null"),
        call("bash", command="tail -f /dev/null & echo $! > pid; echo next"),
        call("bash", command="kill $(cat pid)"),
        say("Done."),
    ]
    with serving(answers) as model:
        session = worked(seated(tmp_path, model.url + "/v1", ("--command-seconds", "0.5")))
    assert [event.exit_code for event in session.of(EventKind.COMMAND)] == [-9, 0, 0]
    assert session.results[0].text == "begun\n\n(killed after 0.5 s)"
    assert session.results[1].text == "next\n\n(exit status 0)"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (refuse(400, "what is that"), ErrorClass.BAD_REQUEST),
        (refuse(401), ErrorClass.AUTH),
        (refuse(402), ErrorClass.QUOTA),
        (refuse(429), ErrorClass.RATE_LIMIT),
        (refuse(500), ErrorClass.OVERLOADED),
        (refuse(504), ErrorClass.NETWORK),
        (refuse(400, "the context is full"), ErrorClass.CONTEXT),
        (Answer(b"garbage"), ErrorClass.MODEL),
        (Answer(b"[]"), ErrorClass.MODEL),
        (Answer(b'{"error": {"message": "broken"}}'), ErrorClass.MODEL),
        (Answer(b'{"choices": []}'), ErrorClass.MODEL),
        (Answer(b""), ErrorClass.MODEL),
        (say("<think>hm</think>"), ErrorClass.MODEL),
        (Answer(b'{"choices": ', length=5000), ErrorClass.NETWORK),
        (Answer(hang=True), ErrorClass.NETWORK),
    ],
    ids=lambda value: str(getattr(value, "body", value))[:20],
)
def test_a_model_that_fails_ends_the_session_with_its_class(
    tmp_path: Path, answer: Answer, error: ErrorClass
) -> None:
    with serving([answer]) as model:
        session = worked(seated(tmp_path, model.url + "/v1", ("--answer-seconds", "2", "--retries", "2")))
    assert (session.code, session.verdict.error) == (1, error)
    assert session.verdict.summary or session.verdict.why
    assert not session.events[-1].ok


def test_a_server_that_is_not_there_is_tried_again_a_few_times(tmp_path: Path) -> None:
    with serving([say("nobody hears this")]) as model:
        url = model.url
    session = worked(seated(tmp_path, url + "/v1", ("--retries", "3")))
    assert session.verdict.error is ErrorClass.NETWORK
    assert [event.error for event in session.of(EventKind.RETRY)] == [ErrorClass.NETWORK] * 3


def test_a_proxy_that_says_it_is_in_vain_is_not_asked_again(tmp_path: Path) -> None:
    """The server behind it is down, and another agent may have the task."""
    with serving([refuse(502, "connection refused", X_Should_Retry="false")]) as model:
        session = worked(seated(tmp_path, model.url + "/v1", ("--retries", "3")))
    assert (session.verdict.error, len(model.asked)) == (ErrorClass.NETWORK, 1)


def test_a_busy_server_is_asked_again_until_it_answers(tmp_path: Path) -> None:
    with serving([refuse(429, Retry_After="0"), refuse(529), Answer(b"garbage"), say("Done.")]) as model:
        session = worked(seated(tmp_path, model.url + "/v1"))
    assert session.verdict.error is None
    assert [event.error for event in session.of(EventKind.RETRY)] == [
        ErrorClass.RATE_LIMIT,
        ErrorClass.OVERLOADED,
        ErrorClass.MODEL,
    ]


def test_a_model_that_goes_in_circles_is_stopped_at_the_turn_limit(tmp_path: Path) -> None:
    with serving([call("bash", command="echo around")]) as model:
        session = worked(seated(tmp_path, model.url + "/v1", ("--turns", "3")))
    assert (session.code, session.verdict.error) == (1, ErrorClass.TURNS)
    assert len(model.asked) == 3


def test_a_server_without_tools_gets_the_fenced_form(tmp_path: Path) -> None:
    answers = [
        refuse(400, '{"error": "tiny does not support tools"}'),
        say("First I make it.\n```edit hello.txt\nhello\n```\nAnd look:\n```bash\ncat hello.txt\n```"),
        say(f"```edit hello.txt\n{HELLO}```"),
        say("Done."),
    ]
    with serving(answers) as model:
        session = worked(seated(tmp_path, model.url + "/v1"))
    assert session.verdict.error is None
    assert (tmp_path / "workspace/hello.txt").read_text() == "goodbye\n"
    assert "tools" in model.asked[0]
    assert all("tools" not in asked for asked in model.asked[1:])
    assert "```bash" in model.told(1)
    assert "Result of bash:\nhello\n\n(exit status 0)" in model.told(2)


def test_a_model_that_ignores_its_tools_and_writes_blocks_is_understood(tmp_path: Path) -> None:
    with serving([say("```bash\necho hi > hi.txt\n```"), say("Done.")]) as model:
        session = worked(seated(tmp_path, model.url + "/v1"))
    assert session.verdict.error is None
    assert (tmp_path / "workspace/hi.txt").exists()
    assert "tools" not in model.asked[1]


def test_a_call_written_as_text_is_carried_out(tmp_path: Path) -> None:
    written = json.dumps({"name": "bash", "arguments": {"command": "echo hi > hi.txt"}})
    with serving([say(f"<think>how</think><tool_call>\n{written}\n</tool_call>"), say("Done.")]) as model:
        worked(seated(tmp_path, model.url + "/v1"))
    assert (tmp_path / "workspace/hi.txt").exists()
    assert "how" not in model.told(1)


def test_a_model_that_calls_tools_may_show_commands_without_running_them(tmp_path: Path) -> None:
    answers = [call("bash", command="true"), say("Done. Try it:\n```bash\ntouch never.txt\n```")]
    with serving(answers) as model:
        session = worked(seated(tmp_path, model.url + "/v1"))
    assert session.verdict.error is None
    assert len(session.of(EventKind.COMMAND)) == 1
    assert not (tmp_path / "workspace/never.txt").exists()


def test_old_results_are_dropped_when_the_context_is_full(tmp_path: Path) -> None:
    long = call("bash", command="yes old | head -c 9000")
    with serving([long, long, long, call("bash", command="echo new"), say("Done.")]) as model:
        session = worked(seated(tmp_path, model.url + "/v1", ("--context", "7000")))
    assert session.verdict.error is None
    messages = [message["content"] for message in model.asked[-1]["messages"]]
    assert messages[1] == "Say hello."
    assert "(left out to save room)" in messages
    assert messages[-1] == "new\n\n(exit status 0)"
    assert sum(len(str(message)) for message in messages[1:]) < 21_000


def test_a_server_that_says_the_context_is_full_gets_less(tmp_path: Path) -> None:
    long = call("bash", command="yes old | head -c 11000")
    full = refuse(400, "this exceeds the context window")
    with serving([long, long, call("bash", command="true"), full, full, say("Done.")]) as model:
        session = worked(seated(tmp_path, model.url + "/v1", ("--context", "10000")))
    assert session.verdict.error is None
    assert len(model.told(-1)) < len(model.told(3))


def test_what_a_person_says_meanwhile_is_told_at_the_next_turn(tmp_path: Path) -> None:
    with serving([say("Done."), say("Done in English.")]) as model:
        session = worked(seated(tmp_path, model.url + "/v1"), said="in English,\nplease")
    assert session.verdict.summary == "Done in English."
    assert model.asked[1]["messages"][-1] == {"role": "user", "content": "in English,\nplease"}


def test_a_session_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    answers = [call("bash", command="echo first"), refuse(401), say("Done.")]
    with serving(answers) as model:
        cut = worked(seated(tmp_path, model.url + "/v1", session="s1"))
        again = worked(seated(tmp_path, model.url + "/v1", session="s2", resume="s1"))
    assert cut.verdict.error is ErrorClass.AUTH
    assert again.verdict.error is None
    assert "first\n\n(exit status 0)" in model.told(2)
    assert again.verdict.session == "s2"


def test_a_session_that_left_nothing_begins_anew(tmp_path: Path) -> None:
    with serving([say("Done.")]) as model:
        session = worked(seated(tmp_path, model.url + "/v1", session="s2", resume="never-began"))
    assert session.verdict.error is None
    assert len(model.asked[0]["messages"]) == 2


def test_an_answer_with_a_list_for_content_is_no_answer(tmp_path: Path) -> None:
    with serving([openai({"role": "assistant", "content": [{"text": "x"}]})]) as model:
        session = worked(seated(tmp_path, model.url + "/v1", ("--retries", "1")))
    assert session.verdict.error is ErrorClass.MODEL


def test_a_program_that_dies_without_a_word_is_a_failure(tmp_path: Path) -> None:
    session = worked(seated(tmp_path, "http://127.0.0.1:9/v1", ("--no-such-option",)))
    assert (session.code, session.verdict.error) == (2, ErrorClass.EXIT)
