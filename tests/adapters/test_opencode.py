import json

import pytest

from interlock.agents.opencode import Opencode
from interlock.model.outcome import ErrorClass
from interlock.model.process import Ended
from interlock.model.session import EventKind, Usage
from tests.adapters.replayed import play, seat_for

Line = dict[str, object]

SES = "ses_e1e95a6acffemYYOYM5R8KOTqi"


def line(kind: str, **part: object) -> Line:
    return {"type": kind, "sessionID": SES, "part": part}


def finish(reason: str, fresh: int = 990, output: int = 50, cached: int = 10, cost: float = 0) -> Line:
    tokens = {"input": fresh, "output": output, "reasoning": 0, "cache": {"write": 0, "read": cached}}
    return line("step_finish", reason=reason, tokens=tokens, cost=cost)


def tool(name: str, status: str = "completed", **state: object) -> Line:
    return line("tool_use", tool=name, callID="call_1", state={"status": status, **state})


def failed(status: int, message: str = "scripted failure", name: str = "APIError") -> Line:
    data = {"message": message, "statusCode": status, "isRetryable": False}
    return {"type": "error", "sessionID": SES, "error": {"name": name, "data": data}}


START = line("step_start")
WRITE = tool("write", input={"filePath": "/w/hello.txt"}, output="Wrote file successfully.")
RUN = tool("bash", input={"command": "make test"}, output="broken", metadata={"exit": 3})
TEXT = line("text", text="All done.")
REJECTED = tool(
    "write",
    "error",
    input={"filePath": "/w/hello.txt"},
    error="The user rejected permission to use this specific tool call.",
)


def logged(error: str, small: str = "false") -> str:
    return f'timestamp=1 level=ERROR message="stream error" small={small} agent=build error.error="{error}"'


def test_a_whole_session_becomes_events_with_its_usage_and_last_words() -> None:
    steps = [START, WRITE, finish("tool-calls"), START, RUN, finish("tool-calls", 1090)]
    played = play(Opencode(), [*steps, START, TEXT, finish("stop", 1190)])

    assert played.kinds == "session tool edit result usage tool command result usage message usage"
    assert played.of(EventKind.EDIT)[0].path == "/w/hello.txt"
    assert played.of(EventKind.COMMAND)[0].exit_code == 3
    assert played.verdict.error is None
    assert played.verdict.summary == "All done."
    assert played.verdict.session == SES


def test_usage_is_the_sum_of_the_steps_with_what_came_from_the_cache() -> None:
    """Trap: there is no total, and input tokens are without the cached ones."""
    lines = [START, WRITE, finish("tool-calls", 990, cost=0.5), START, TEXT, finish("stop", 1090, cost=0.25)]

    assert play(Opencode(), lines).verdict.usage == Usage(2100, 100, 20, 2, 0.75)


def test_no_price_is_not_a_price_of_nothing() -> None:
    usage = play(Opencode(), [START, TEXT, finish("stop")]).verdict.usage

    assert usage is not None
    assert usage.cost_usd is None


@pytest.mark.parametrize("code", [0, -15])
def test_a_session_that_did_not_stop_by_itself_is_no_success(code: int) -> None:
    """Trap: no final result event; only the reason of the last step tells."""
    assert play(Opencode(), [START, WRITE, finish("tool-calls")], code).verdict.error is ErrorClass.EXIT
    assert play(Opencode(), [START, TEXT, finish("stop"), START], code).verdict.error is ErrorClass.EXIT


def test_a_good_last_step_with_a_bad_exit_is_no_success() -> None:
    assert play(Opencode(), [START, TEXT, finish("stop")], 1).verdict.error is ErrorClass.EXIT


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, ErrorClass.BAD_REQUEST),
        (401, ErrorClass.AUTH),
        (429, ErrorClass.RATE_LIMIT),
        (500, ErrorClass.OVERLOADED),
        (529, ErrorClass.OVERLOADED),
    ],
)
def test_the_status_of_a_failed_request_is_its_class(status: int, error: ErrorClass) -> None:
    played = play(Opencode(), [failed(status)], 1)

    assert played.verdict.error is error
    assert played.verdict.session == SES


def test_too_much_for_the_model_is_named() -> None:
    assert (
        play(Opencode(), [failed(0, "too big", "ContextOverflowError")], 1).verdict.error
        is ErrorClass.CONTEXT
    )


def test_a_denied_tool_ends_it_with_exit_0_and_is_the_reason() -> None:
    """Trap: it rejects by itself what nobody answers ("auto-rejecting"), stops, and exits with 0."""
    shout = "! permission requested: edit (hello.txt); auto-rejecting"
    played = play(Opencode(), [START, REJECTED, shout, finish("tool-calls")], 0)

    assert played.of(EventKind.DENIED)[0].tool == "write"
    assert played.verdict.error is ErrorClass.DENIED


def test_a_denied_tool_does_not_end_a_session_that_goes_on() -> None:
    played = play(Opencode(), [START, REJECTED, finish("tool-calls"), START, TEXT, finish("stop")])

    assert played.of(EventKind.DENIED)
    assert played.verdict.error is None


@pytest.mark.parametrize(
    ("error", "means"),
    [
        (
            "AI_APICallError: Cannot connect to API: Unable to connect. Is the computer able",
            ErrorClass.NETWORK,
        ),
        ("AI_APICallError: The socket connection was closed unexpectedly.", ErrorClass.NETWORK),
        ("AI_APICallError: Internal Server Error", ErrorClass.OVERLOADED),
    ],
)
def test_endless_retries_are_seen_in_its_log_and_explain_why_it_was_stopped(
    error: str, means: ErrorClass
) -> None:
    """Traps: 500, a drop and a refused connection are retried for over a minute, without an event."""
    played = play(Opencode(), [START, logged(error), logged(error)], -15, Ended.TIMEOUT)

    assert [event.error for event in played.of(EventKind.RETRY)] == [means, means]
    assert played.verdict.error is means


def test_the_log_is_asked_for() -> None:
    argv = Opencode().launch(seat_for("opencode")).argv

    assert "--print-logs" in argv
    assert argv[argv.index("--log-level") + 1] == "ERROR"


def test_a_title_that_fails_does_not_matter() -> None:
    assert not play(Opencode(), [logged("AI_RetryError: Cannot connect", "true")]).of(EventKind.RETRY)


def test_a_model_that_says_nothing_is_named_when_the_spinning_was_stopped() -> None:
    """Trap: an empty or senseless answer makes it ask again and again, some four times a second."""
    spins = [START, finish("unknown", 0, 0, 0)] * 40
    verdict = play(Opencode(), spins, -15, Ended.TIMEOUT).verdict

    assert verdict.error is ErrorClass.MODEL
    assert "40 times" in verdict.summary


def test_the_files_of_a_patch_are_edits() -> None:
    patch = tool(
        "apply_patch",
        input={"patchText": "*"},
        metadata={"files": [{"filePath": "/w/a"}, {"filePath": "/w/b"}]},
    )

    assert [event.path for event in play(Opencode(), [START, patch]).of(EventKind.EDIT)] == ["/w/a", "/w/b"]


def test_the_prompt_is_not_a_word_of_the_command() -> None:
    """Traps: a word with spaces arrives in quotes, a number breaks it; an open standard input blocks it."""
    prompt = 'Fix "the  bug"\n- 007 --help'
    launch = Opencode().launch(seat_for("opencode", prompt))

    assert launch.say == prompt
    assert not any(prompt in word for word in launch.argv)
    assert not Opencode().can_steer


def test_both_models_are_behind_the_proxy_and_all_is_allowed() -> None:
    """Trap: a `small_model` of its own would be asked elsewhere; a question would be rejected."""
    env = Opencode().launch(seat_for("opencode")).env
    config = json.loads(env["OPENCODE_CONFIG_CONTENT"])

    assert config["model"] == config["small_model"]
    assert config["enabled_providers"] == ["interlock"]
    assert config["provider"]["interlock"]["options"]["baseURL"] == "http://127.0.0.1:4321/v1"
    assert config["permission"] == {"*": "allow"}


def test_it_asks_for_no_title_and_looks_for_no_updates() -> None:
    launch = Opencode().launch(seat_for("opencode"))

    assert "--title" in launch.argv
    for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"):
        assert launch.env[f"OPENCODE_DISABLE_{name}"] == "1"


def test_it_does_not_resume_because_every_attempt_has_its_own_folder() -> None:
    """Traps: resuming from another folder hangs; several first starts in one home break its database."""
    assert not Opencode().can_resume


def test_with_a_login_of_its_own_it_gets_no_key_and_no_proxy() -> None:
    launch = Opencode().launch(seat_for("opencode", login=True))

    assert "ticket" not in launch.env["OPENCODE_CONFIG_CONTENT"]
    assert ".local/share/opencode/auth.json" in launch.account
