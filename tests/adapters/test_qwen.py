import json

import pytest

from interlock.agents.qwen import Qwen
from interlock.model.outcome import ErrorClass
from interlock.model.process import Ended
from interlock.model.session import EventKind, Usage
from tests.adapters.replayed import SESSION, play, seat_for

Line = dict[str, object]

INIT: Line = {"type": "system", "subtype": "init", "session_id": SESSION, "model": "qwen3-coder-plus"}
GOAL: Line = {"type": "stream_event", "event": {"type": "goal_state"}}
USED: Line = {"input_tokens": 3300, "output_tokens": 150, "cache_read_input_tokens": 30}
NOTHING: Line = {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0}


def assistant(*blocks: Line) -> Line:
    return {
        "type": "assistant",
        "session_id": SESSION,
        "message": {"role": "assistant", "content": [*blocks]},
    }


def said(text: str) -> Line:
    return assistant({"type": "text", "text": text})


def calls(tool: str, **given: str) -> Line:
    return assistant({"type": "tool_use", "id": "call_1", "name": tool, "input": given})


def answered(text: str, failed: bool = False) -> Line:
    block: Line = {"type": "tool_result", "tool_use_id": "call_1", "is_error": failed, "content": text}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def result(text: str, usage: Line = USED, **more: object) -> Line:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "num_turns": 3,
        "result": text,
        "usage": usage,
        "permission_denials": [],
        **more,
    }


def failure(message: str) -> Line:
    ended = {"subtype": "error_during_execution", "is_error": True, "error": {"message": message}}
    return result("", NOTHING, **ended)


def test_a_whole_session_becomes_events_with_its_usage_and_last_words() -> None:
    lines = [
        *(INIT, GOAL),
        *(calls("write_file", file_path="/w/hello.txt"), answered("Successfully created")),
        *(calls("run_shell_command", command="make test"), answered("passed")),
        *(said("All done."), result("All done.")),
    ]
    played = play(Qwen(), lines)

    assert played.kinds == "session tool edit result tool command result message usage end"
    assert played.of(EventKind.EDIT)[0].path == "/w/hello.txt"
    assert played.of(EventKind.COMMAND)[0].exit_code == 0
    assert played.verdict.error is None
    assert played.verdict.summary == "All done."
    assert played.verdict.usage == Usage(3300, 150, 30, 3)
    assert played.verdict.session == SESSION


def test_the_exit_status_of_a_command_is_in_its_words() -> None:
    text = "Command: false\nOutput: broken\nError: (none)\nExit Code: 3\nSignal: (none)"
    played = play(Qwen(), [calls("run_shell_command", command="false"), answered(text, failed=True)])

    assert played.of(EventKind.COMMAND)[0].exit_code == 3
    assert not played.of(EventKind.RESULT)[0].ok


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("[API Error: 400 scripted failure]", ErrorClass.BAD_REQUEST),
        ("[API Error: 401 scripted failure]", ErrorClass.AUTH),
        ("[API Error: 429 scripted failure]", ErrorClass.RATE_LIMIT),
        ("[API Error: 500 scripted failure]", ErrorClass.OVERLOADED),
        ("[API Error: terminated (cause: UND_ERR_SOCKET: other side closed)]", ErrorClass.NETWORK),
        ("[API Error: Connection error. (cause: fetch failed)]", ErrorClass.NETWORK),
        ("[API Error: Model stream ended without a finish reason.]", ErrorClass.MODEL),
        ("[API Error: Streaming request received a non-SSE response (HTTP 200)]", ErrorClass.MODEL),
    ],
)
@pytest.mark.parametrize("old", [True, False])
def test_a_failed_request_is_a_failure_in_old_versions_too(
    message: str, error: ErrorClass, old: bool
) -> None:
    """Trap: 0.15.10 reports 400, 401, drops, empty answers and refusals as success, with status 0."""
    end = result(message, NOTHING) if old else failure(message)
    verdict = play(Qwen(), [INIT, said(message), end], 0 if old else 1).verdict

    assert verdict.error is error
    assert verdict.summary == message


def test_a_success_without_a_single_token_is_none() -> None:
    """Trap: 0.15.10 again, should it ever say nothing at all."""
    assert play(Qwen(), [INIT, result("", NOTHING)], 0).verdict.error is ErrorClass.MODEL


def test_exit_0_without_a_result_is_no_success() -> None:
    assert play(Qwen(), [INIT, said("I begin.")], 0).verdict.error is ErrorClass.EXIT


@pytest.mark.parametrize(("code", "error"), [(53, ErrorClass.TURNS), (55, ErrorClass.BUDGET)])
def test_its_caps_have_exit_statuses_of_their_own(code: int, error: ErrorClass) -> None:
    """Trap: 53 is the turn limit, 55 a limit on time or tool calls; there is no result line then."""
    assert play(Qwen(), [INIT], code).verdict.error is error


def test_the_turn_limit_is_a_plain_line() -> None:
    assert (
        play(Qwen(), [INIT, "Reached max session turns for this session."], 53).verdict.error
        is ErrorClass.TURNS
    )


def test_a_session_that_was_stopped_while_it_retried_says_why() -> None:
    """Trap: it goes on asking for over a minute, and has then no result line."""
    retries = [
        "Retrying in 60s (attempt 1/10): [API Error: 429 scripted failure]",
        "Retrying provider attempt (0 buffered tool call(s) discarded).",
    ]
    played = play(Qwen(), [INIT, *retries], 130, Ended.TIMEOUT)

    assert len(played.of(EventKind.RETRY)) == 2
    assert played.verdict.error is ErrorClass.RATE_LIMIT


def test_a_model_that_recovered_leaves_no_trace_of_its_trouble() -> None:
    retry = "Retrying in 1s (attempt 1/2): [API Error: 429 scripted failure]"

    assert play(Qwen(), [INIT, retry, said("All done."), result("All done.")]).verdict.error is None
    assert play(Qwen(), [INIT, retry, said("I begin.")], -9).verdict.error is ErrorClass.EXIT


def test_a_denied_tool_is_said_although_the_session_ends_well() -> None:
    """Trap: a denied tool never changes the exit status, nor the result."""
    denials = [{"tool_name": "run_shell_command", "tool_use_id": "call_1", "tool_input": {"command": "rm x"}}]
    played = play(Qwen(), [INIT, said("All done."), result("All done.", permission_denials=denials)])

    (denied,) = played.of(EventKind.DENIED)
    assert denied.tool == "run_shell_command"
    assert "rm x" in denied.text


def test_it_is_started_without_questions_and_gives_up_early() -> None:
    launch = Qwen().launch(seat_for("qwen"))
    patience = json.loads(launch.files[".qwen/settings.json"])["model"]["generationConfig"]

    assert launch.argv[launch.argv.index("--approval-mode") + 1] == "yolo"
    assert launch.argv[launch.argv.index("--session-id") + 1] == SESSION
    assert patience["maxRetries"] == 0
    assert launch.env["OPENAI_BASE_URL"] == "http://127.0.0.1:4321/v1"
    assert launch.env["OPENAI_API_KEY"] == "ticket"


def test_a_prompt_that_looks_like_an_option_stays_a_prompt() -> None:
    assert Qwen().launch(seat_for("qwen", "--help me")).argv[-1] == "--prompt=--help me"


def test_it_does_not_resume_because_every_attempt_has_its_own_folder() -> None:
    """Traps: resuming works only in the same folder, and counts the tokens of the earlier part again."""
    assert not Qwen().can_resume


def test_with_a_login_of_its_own_it_gets_no_key_and_no_proxy() -> None:
    launch = Qwen().launch(seat_for("qwen", login=True))

    assert launch.argv[launch.argv.index("--auth-type") + 1] == "qwen-oauth"
    assert not {"OPENAI_API_KEY", "OPENAI_BASE_URL"} & set(launch.env)
