import json

import pytest

from interlock.agents.gemini import Gemini
from interlock.model.outcome import ErrorClass
from interlock.model.session import EventKind, Usage
from tests.adapters.replayed import SESSION, play, seat_for

Line = dict[str, object]

INIT: Line = {"type": "init", "session_id": SESSION, "model": "gemini-2.5-pro"}
ASKED: Line = {"type": "message", "role": "user", "content": "Fix it."}
WRITES: Line = {
    "type": "tool_use",
    "tool_name": "write_file",
    "tool_id": "write_file__1",
    "parameters": {"file_path": "/w/hello.txt", "content": "hello\n"},
}
WROTE: Line = {"type": "tool_result", "tool_id": "write_file__1", "status": "success"}
RUNS: Line = {
    "type": "tool_use",
    "tool_name": "run_shell_command",
    "tool_id": "shell__2",
    "parameters": {"command": "make test"},
}
RAN: Line = {"type": "tool_result", "tool_id": "shell__2", "status": "success", "output": "passed"}
SAYS: list[Line] = [
    {"type": "message", "role": "assistant", "content": "All ", "delta": True},
    {"type": "message", "role": "assistant", "content": "done.", "delta": True},
]
STATS: Line = {"input_tokens": 3300, "output_tokens": 150, "cached": 30, "tool_calls": 2}
GOOD: Line = {"type": "result", "status": "success", "stats": STATS}


def failed(message: str, kind: str = "unknown") -> Line:
    return {"type": "result", "status": "error", "error": {"type": kind, "message": message}, "stats": {}}


def test_a_whole_session_becomes_events_with_its_usage_and_last_words() -> None:
    played = play(Gemini(), [INIT, ASKED, WRITES, WROTE, RUNS, RAN, *SAYS, GOOD])

    assert played.kinds == "session tool edit result tool command result message usage end"
    assert played.of(EventKind.EDIT)[0].path == "/w/hello.txt"
    assert played.of(EventKind.COMMAND)[0].text == "make test"
    assert played.verdict.error is None
    assert played.verdict.summary == "All done."
    assert played.verdict.usage == Usage(3300, 150, 30)
    assert played.verdict.session == SESSION


def test_pieces_of_a_message_are_one_message() -> None:
    played = play(Gemini(), [INIT, *SAYS, WRITES])

    assert [event.text for event in played.of(EventKind.MESSAGE)] == ["All done."]


def test_that_a_command_failed_is_not_said_so_no_exit_code_is_claimed() -> None:
    """Trap: a command's result is "success" whatever its exit status was."""
    assert play(Gemini(), [RUNS, RAN]).of(EventKind.COMMAND)[0].exit_code is None


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (400, 144, ErrorClass.BAD_REQUEST),
        (401, 145, ErrorClass.AUTH),
        (429, 173, ErrorClass.RATE_LIMIT),
        (500, 244, ErrorClass.OVERLOADED),
        (529, 17, ErrorClass.OVERLOADED),
    ],
)
def test_the_exit_status_is_the_http_status_modulo_256(status: int, code: int, error: ErrorClass) -> None:
    """Trap: exit 144, 145, 173 and 244. The text may not name the status at all."""
    silent = play(Gemini(), [INIT, failed("[API Error: scripted failure]")], code)
    named = play(Gemini(), [INIT, failed(f'[API Error: {{"error":{{"code":{status},"message":"no"}}}}]')], 1)

    assert silent.verdict.error is error
    assert named.verdict.error is error


@pytest.mark.parametrize(
    ("code", "error"), [(41, ErrorClass.AUTH), (42, ErrorClass.BAD_REQUEST), (53, ErrorClass.TURNS)]
)
def test_its_own_exit_statuses_are_known(code: int, error: ErrorClass) -> None:
    """Trap: 41 is an unknown login, 42 bad input or a session of another folder, 53 the turn limit."""
    assert play(Gemini(), ["Invalid auth method selected."], code).verdict.error is error


def test_exit_0_after_a_signal_is_no_success() -> None:
    """Trap: SIGTERM and SIGINT end it with status 0, in the middle of its work."""
    assert play(Gemini(), [INIT, WRITES, WROTE], 0).verdict.error is ErrorClass.EXIT


def test_exit_0_with_status_error_is_no_success() -> None:
    """Trap: an empty answer of the model ends with status 0 and `status: error`, which has no message."""
    lines: list[str | Line] = [
        INIT,
        {"type": "error", "severity": "error", "message": "Model stream ended without a finish reason."},
        {"type": "result", "status": "error", "stats": {}},
    ]
    verdict = play(Gemini(), lines, 0).verdict

    assert verdict.error is ErrorClass.MODEL
    assert "finish reason" in verdict.summary


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("[API Error: terminated]", ErrorClass.NETWORK),
        ("[API Error: exception TypeError: fetch failed sending request]", ErrorClass.NETWORK),
        ("[API Error: Incomplete JSON segment at the end]", ErrorClass.MODEL),
    ],
)
def test_a_dropped_a_refused_and_a_senseless_answer_are_told_apart(message: str, error: ErrorClass) -> None:
    assert play(Gemini(), [INIT, failed(message)], 1).verdict.error is error


def test_the_turn_limit_is_named() -> None:
    verdict = play(Gemini(), [INIT, failed("Reached max session turns", "FatalTurnLimitedError")], 53).verdict

    assert verdict.error is ErrorClass.TURNS


def test_a_line_about_a_retry_is_an_event_and_explains_an_end_that_does_not() -> None:
    retry = "Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {"
    played = play(Gemini(), [INIT, retry, failed("[API Error: scripted failure]")], 1)

    assert played.of(EventKind.RETRY)[0].error is ErrorClass.RATE_LIMIT
    assert played.verdict.error is ErrorClass.RATE_LIMIT


@pytest.mark.parametrize(
    "problem",
    [
        {"type": "policy_violation", "message": "Tool execution denied by policy."},
        {"type": "invalid_tool_params", "message": "Path not in workspace: /etc/x resolves outside"},
    ],
)
def test_a_denied_tool_is_said_although_the_session_ends_well(problem: dict[str, str]) -> None:
    """Trap: a denied tool never changes the exit status, nor the result."""
    refused: Line = {"type": "tool_result", "tool_id": "write_file__1", "status": "error", "error": problem}
    played = play(Gemini(), [INIT, WRITES, refused, *SAYS, GOOD])

    (denied,) = played.of(EventKind.DENIED)
    assert denied.tool == "write_file"
    assert not played.of(EventKind.EDIT)


def test_an_ordinary_failure_of_a_tool_is_no_denial() -> None:
    broken = {"type": "edit_no_occurrence_found", "message": "0 occurrences found"}
    refused: Line = {"type": "tool_result", "tool_id": "write_file__1", "status": "error", "error": broken}
    played = play(Gemini(), [WRITES, refused])

    assert not played.of(EventKind.DENIED)
    assert not played.of(EventKind.RESULT)[0].ok


def test_it_is_trusted_and_may_do_all_that_the_sandbox_allows() -> None:
    """Trap: without `--skip-trust` it loses the tools that write, and ends "well" with nothing done."""
    argv = Gemini().launch(seat_for("gemini")).argv

    assert "--skip-trust" in argv
    assert argv[argv.index("--approval-mode") + 1] == "yolo"


def test_the_settings_name_the_login_and_keep_retries_and_updates_short() -> None:
    """Trap: a base URL without `selectedType` is refused with 41; by itself it retries for over a minute."""
    launch = Gemini().launch(seat_for("gemini"))
    settings = json.loads(launch.files[".gemini/settings.json"])

    assert settings["security"]["auth"]["selectedType"] == "gemini-api-key"
    assert settings["security"]["folderTrust"]["enabled"] is False
    assert settings["general"]["maxAttempts"] == 3
    assert settings["general"]["retryFetchErrors"] is False
    assert settings["general"]["enableAutoUpdate"] is False
    assert launch.env["GEMINI_CLI_NO_RELAUNCH"] == "true"
    assert launch.env["GOOGLE_GEMINI_BASE_URL"] == "http://127.0.0.1:4321"
    assert launch.env["GEMINI_API_KEY"] == "ticket"


def test_a_prompt_that_looks_like_an_option_stays_a_prompt() -> None:
    assert Gemini().launch(seat_for("gemini", "--help me")).argv[-1] == "--prompt=--help me"


def test_the_session_has_the_id_that_was_made_before() -> None:
    argv = Gemini().launch(seat_for("gemini")).argv

    assert argv[argv.index("--session-id") + 1] == SESSION


def test_it_does_not_resume_because_every_attempt_has_its_own_folder() -> None:
    """Trap: resuming works only in the same project folder, else 42."""
    assert not Gemini().can_resume


def test_with_a_login_of_its_own_it_gets_no_key_and_no_proxy() -> None:
    launch = Gemini().launch(seat_for("gemini", login=True))

    assert not {"GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"} & set(launch.env)
    assert ".gemini/oauth_creds.json" in launch.account
