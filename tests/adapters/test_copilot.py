import pytest

from interlock.agents.copilot import Copilot
from interlock.model.outcome import ErrorClass
from interlock.model.process import Ended
from interlock.model.session import EventKind, Usage
from tests.adapters.replayed import SESSION, play, seat_for

Line = dict[str, object]


def line(kind: str, **data: object) -> Line:
    return {"type": kind, "data": data}


def passing(kind: str, **data: object) -> Line:
    return {"type": kind, "data": data, "ephemeral": True}


def begins(tool: str, **given: str) -> Line:
    return line("tool.execution_start", toolCallId="call_1", toolName=tool, arguments=given)


def ends(**data: object) -> Line:
    return line("tool.execution_complete", toolCallId="call_1", **data)


def says(text: str) -> Line:
    return line("assistant.message", model="gpt-4.1", content=text, toolRequests=[])


def result(code: int = 0) -> Line:
    return {"type": "result", "sessionId": SESSION, "exitCode": code, "usage": {"premiumRequests": 0}}


def failure(kind: str, message: str, **more: object) -> Line:
    return line("session.error", errorType=kind, message=message, **more)


def model(count: int, given: int) -> Line:
    used = {"inputTokens": given, "outputTokens": 50 * count, "cacheReadTokens": 10 * count}
    return {"requests": {"count": count, "cost": 0}, "usage": used}


WROTE = ends(success=True, result={"content": "Created file"}, fileEdits=[{"path": "/w/hello.txt"}])
RAN = ends(success=True, result={"content": "broken"}, shellExecution={"exitCode": 3})
DENIED = ends(success=False, error={"message": "Permission to run this tool was denied", "code": "denied"})
USAGE: Line = {
    "totalUserRequests": 1,
    "modelMetrics": {"gpt-4.1": model(3, 3300), "gpt-4.1-mini": model(1, 200)},
}


def test_a_whole_session_becomes_events_with_its_last_words() -> None:
    lines = [
        *(says(""), begins("create", path="/w/hello.txt"), WROTE),
        *(says(""), begins("bash", command="make test"), RAN),
        *(says("All done."), result()),
    ]
    played = play(Copilot(), lines)

    assert played.kinds == "session tool edit result tool command result message session end"
    assert played.of(EventKind.EDIT)[0].path == "/w/hello.txt"
    assert played.of(EventKind.COMMAND)[0].exit_code == 3
    assert played.of(EventKind.SESSION)[0].model == "gpt-4.1"
    assert played.verdict.error is None
    assert played.verdict.summary == "All done."
    assert played.verdict.session == SESSION


def test_tokens_are_in_a_file_that_it_leaves_and_summed_over_models() -> None:
    """Trap: no event has tokens, the result's `usage` neither; only the usage file."""
    assert play(Copilot(), [says("All done."), result()]).verdict.usage is None
    assert play(Copilot(), [says("All done."), result(), USAGE]).verdict.usage == Usage(3500, 200, 40, 4)


def test_the_usage_file_is_in_its_own_home() -> None:
    """Trap: it renames the file into place, so that a device named here would become a plain file."""
    launch = Copilot().launch(seat_for("copilot"))
    path = launch.argv[launch.argv.index("--usage-output-file") + 1]

    assert [path] == [f"/home/attempt/{name}" for name in launch.leaves]


def test_chatter_is_passed_over() -> None:
    """Trap: most lines are `ephemeral`, pieces of what a later line says whole."""
    chatter = [
        passing("session.background_tasks_changed"),
        passing("assistant.message_delta", deltaContent="All "),
        passing("assistant.tool_call_delta", toolCallId="call_1", inputDelta="{"),
        passing("tool.shell_output", toolCallId="call_1", text="out"),
        line("assistant.turn_start", turnId="0"),
    ]

    assert play(Copilot(), chatter).events == ()


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (failure("query", "400 scripted failure", statusCode=400), ErrorClass.BAD_REQUEST),
        (failure("authentication", "Authentication failed", statusCode=401), ErrorClass.AUTH),
        (failure("rate_limit", "retried 5 times", statusCode=429), ErrorClass.RATE_LIMIT),
        (failure("query", "Last error: 500 scripted failure", statusCode=500), ErrorClass.OVERLOADED),
        (
            failure("query", "Last error: error reading a body: unexpected EOF during chunk"),
            ErrorClass.NETWORK,
        ),
        (failure("query", "Could not connect to local model provider at http://x"), ErrorClass.NETWORK),
        (failure("query", "request ended without sending any chunks"), ErrorClass.MODEL),
    ],
)
def test_an_error_of_the_session_has_its_class(line: Line, error: ErrorClass) -> None:
    assert play(Copilot(), [line, result(1)], 1).verdict.error is error


def test_exit_0_after_a_signal_is_no_success() -> None:
    """Trap: SIGTERM and SIGINT end the real program with status 0, at times with a result that says 0 too."""
    abort = line("abort", reason="user_abort")

    assert play(Copilot(), [says(""), begins("bash", command="make")], 0).verdict.error is ErrorClass.EXIT
    assert play(Copilot(), [says("I begin."), abort, result(0)], 0).verdict.error is ErrorClass.EXIT
    assert play(Copilot(), [result(0)], 0).verdict.error is ErrorClass.EXIT


def test_a_denied_tool_is_said_although_the_session_ends_well() -> None:
    """Trap: a denied tool is `success: false` with code "denied", and never changes the exit status."""
    played = play(Copilot(), [says(""), begins("bash", command="make"), DENIED, says("All done."), result()])

    (denied,) = played.of(EventKind.DENIED)
    assert denied.tool == "bash"


def test_a_tool_that_the_sandbox_stopped_failed_and_was_not_denied() -> None:
    stopped = ends(success=False, error={"message": "EROFS: read-only file system", "code": "failure"})
    played = play(Copilot(), [begins("create", path="/etc/x"), stopped])

    assert not played.of(EventKind.DENIED)
    assert not played.of(EventKind.RESULT)[0].ok


def test_requests_that_failed_on_the_way_explain_why_it_was_stopped() -> None:
    trouble = passing("model.call_failure", statusCode=529, errorMessage="overloaded")
    played = play(Copilot(), [trouble, passing("assistant.turn_retry"), trouble], -9, Ended.TIMEOUT)

    assert len(played.of(EventKind.RETRY)) == 2
    assert played.verdict.error is ErrorClass.OVERLOADED


def test_it_is_offline_but_for_the_proxy_and_asks_nothing() -> None:
    """Trap: online it looks for a login and updates; a question would wait for ever."""
    launch = Copilot().launch(seat_for("copilot"))

    assert launch.env["COPILOT_OFFLINE"] == "true"
    assert launch.env["COPILOT_AUTO_UPDATE"] == "false"
    assert launch.env["COPILOT_PROVIDER_BASE_URL"] == "http://127.0.0.1:4321/v1"
    assert launch.env["COPILOT_PROVIDER_API_KEY"] == "ticket"
    assert launch.env["COPILOT_MODEL"]
    assert {"--allow-all", "--no-ask-user"} <= set(launch.argv)


def test_agents_share_no_cache_that_one_of_them_could_write() -> None:
    """Trap: it unpacks 235 MB into the cache of its home; a shared one would be a way from agent to agent."""
    assert "XDG_CACHE_HOME" not in Copilot().launch(seat_for("copilot")).env


def test_a_session_has_the_id_that_was_made_before_and_goes_on_under_it() -> None:
    assert f"--session-id={SESSION}" in Copilot().launch(seat_for("copilot")).argv

    resumed = Copilot().launch(seat_for("copilot", resume="old-one")).argv
    assert "--resume=old-one" in resumed
    assert not any(word.startswith("--session-id") for word in resumed)
    assert Copilot().can_resume


def test_a_prompt_that_looks_like_an_option_stays_a_prompt() -> None:
    assert Copilot().launch(seat_for("copilot", "--help me")).argv[-1] == "--prompt=--help me"


def test_with_a_login_of_its_own_it_gets_no_key_and_no_proxy() -> None:
    env = Copilot().launch(seat_for("copilot", login=True)).env

    assert not any("PROVIDER" in name or "OFFLINE" in name for name in env)
