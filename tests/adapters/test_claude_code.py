import json
import shlex
from dataclasses import replace

import pytest

from interlock.agents.adapter import Dialogue, SessionVerdict
from interlock.agents.claude_code import ClaudeCode
from interlock.model.outcome import ErrorClass
from interlock.model.process import Ended, Exit
from interlock.model.session import EventKind
from tests.adapters.replayed import SESSION, Played, play, seat_for

Line = dict[str, object]

INIT: Line = {"type": "system", "subtype": "init", "session_id": SESSION, "model": "claude-opus-5-5"}


def assistant(*content: Line, id: str = "msg_1", model: str = "claude-opus-5-5") -> Line:
    return {"type": "assistant", "message": {"id": id, "model": model, "content": list(content)}}


def says(text: str) -> Line:
    return assistant({"type": "text", "text": text})


def uses(tool: str, **given: str) -> Line:
    return assistant({"type": "tool_use", "id": "call_1", "name": tool, "input": given})


def answered(text: str, *, is_error: bool = False) -> Line:
    block = {"type": "tool_result", "tool_use_id": "call_1", "content": text, "is_error": is_error}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def model(cost: float, basis: str = "list") -> Line:
    return {"inputTokens": 3300, "costUSD": cost, "costBasis": basis}


def result(text: str = "All done.", **more: object) -> Line:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": text,
        "num_turns": 3,
        "usage": {
            "input_tokens": 3300,
            "cache_creation_input_tokens": 200,
            "cache_read_input_tokens": 30,
            "output_tokens": 150,
        },
        **more,
    }


def failure(text: str, status: int | None = None, **more: object) -> Line:
    """A request that failed for good."""
    return result(text, is_error=True, terminal_reason="api_error", api_error_status=status, **more)


def played(*lines: Line | str, code: int = 0) -> Played:
    return play(ClaudeCode(), [INIT, *lines], code)


def test_a_whole_session_becomes_events_with_its_last_words() -> None:
    found = played(
        *(uses("Write", file_path="/w/hello.txt"), answered("File created")),
        *(uses("Bash", command="make test"), answered("Exit code 3\nbroken", is_error=True)),
        *(says("All done."), result()),
    )

    assert found.kinds == "session tool edit result tool command result message usage end"
    assert found.of(EventKind.SESSION)[0].model == "claude-opus-5-5"
    assert found.of(EventKind.EDIT)[0].path == "/w/hello.txt"
    assert found.of(EventKind.COMMAND)[0].exit_code == 3
    assert found.verdict.error is None
    assert found.verdict.summary == "All done."
    assert found.verdict.session == SESSION


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (failure("API Error: 400 no", 400), ErrorClass.BAD_REQUEST),
        (failure("API Error: 400 prompt is too long", 400), ErrorClass.CONTEXT),
        (failure("API Error: 400 Your credit balance is too low", 400), ErrorClass.QUOTA),
        (failure("Failed to authenticate.", 401), ErrorClass.AUTH),
        (failure("API Error: Request rejected (429)", 429), ErrorClass.RATE_LIMIT),
        (failure("API Error: 500 broke", 500), ErrorClass.OVERLOADED),
        (failure("API Error: 529 overloaded", 529), ErrorClass.OVERLOADED),
        (failure("API Error: Connection refused (ECONNREFUSED)"), ErrorClass.NETWORK),
        (failure("Request timed out"), ErrorClass.NETWORK),
        (failure("API Error: API returned an empty or malformed response (HTTP 200)"), ErrorClass.MODEL),
        (failure("Not logged in. Please run /login"), ErrorClass.AUTH),
    ],
)
def test_a_success_that_is_an_error_is_none(line: Line, error: ErrorClass) -> None:
    """Trap: what the model could not be asked has the subtype "success"; only `is_error` tells."""
    assert line["subtype"] == "success"
    assert played(line, code=1).verdict.error is error


@pytest.mark.parametrize(
    ("subtype", "error"),
    [
        ("error_max_turns", ErrorClass.TURNS),
        ("error_max_budget_usd", ErrorClass.BUDGET),
        ("error_during_execution", ErrorClass.EXIT),
    ],
)
def test_a_limit_of_its_own_has_its_class(subtype: str, error: ErrorClass) -> None:
    line = result("", subtype=subtype, is_error=True, errors=["Reached maximum number of turns (2)"])
    verdict = played(line, code=1).verdict

    assert verdict.error is error
    assert verdict.summary == "Reached maximum number of turns (2)"


def test_exit_0_after_a_signal_is_no_success() -> None:
    """Trap: SIGINT ends it with status 0, at times without a result."""
    aborted = result("", subtype="error_during_execution", is_error=True, terminal_reason="aborted_tools")

    assert played(uses("Bash", command="make"), aborted).verdict.error is ErrorClass.EXIT
    assert played(aborted).verdict.summary == "it was interrupted"
    assert played(uses("Bash", command="make")).verdict.error is ErrorClass.EXIT


def test_what_the_program_says_in_the_models_place_is_no_message() -> None:
    """Trap: an error of a request comes as an assistant's message, too."""
    synthetic = assistant({"type": "text", "text": "API Error: 500"}, model="<synthetic>")
    found = played(synthetic, failure("API Error: 500", 500), code=1)

    assert not found.of(EventKind.MESSAGE)
    assert found.verdict.usage is not None
    assert found.verdict.usage.calls == 0


def test_a_denied_tool_is_said_although_the_session_ends_well() -> None:
    """Trap: the exit status is 0. The denial comes before the result of the tool, and is told once."""
    denied: Line = {"type": "system", "subtype": "permission_denied", "tool_use_id": "call_1"}
    refused = answered("This command requires approval", is_error=True)
    found = played(uses("Bash", command="make"), denied, refused, result())

    (denial,) = found.of(EventKind.DENIED)
    assert (denial.tool, denial.text) == ("Bash", "This command requires approval")
    assert len(found.of(EventKind.RESULT)) == 1
    assert not found.of(EventKind.COMMAND)


def test_a_command_that_a_hook_objected_to_was_not_run() -> None:
    objected = answered("PreToolUse:Bash hook error: [relay]: not this way", is_error=True)
    found = played(uses("Bash", command="make"), objected, result())

    assert found.of(EventKind.DENIED)[0].tool == "Bash"
    assert not found.of(EventKind.COMMAND)


def test_requests_that_failed_on_the_way_explain_why_it_was_stopped() -> None:
    trouble: Line = {"type": "system", "subtype": "api_retry", "error_status": 529, "error": "overloaded"}
    found = play(ClaudeCode(), [INIT, trouble, trouble], -9, Ended.IDLE)

    assert len(found.of(EventKind.RETRY)) == 2
    assert found.verdict.error is ErrorClass.OVERLOADED


def test_it_says_why_it_could_not_begin() -> None:
    """Trap: then there is no event at all."""
    verdict = play(ClaudeCode(), [f"Error: Session ID {SESSION} is already in use.\n"], 1).verdict

    assert verdict.error is ErrorClass.EXIT
    assert verdict.summary == f"Error: Session ID {SESSION} is already in use."


def test_input_is_all_input_and_calls_are_answers_of_the_model() -> None:
    """Trap: what came from the cache or went there stands apart; `num_turns` counts something else."""
    found = played(
        assistant({"type": "thinking", "thinking": "hm"}, id="msg_1"),
        assistant({"type": "text", "text": "I begin."}, id="msg_1"),
        assistant({"type": "text", "text": "All done."}, id="msg_2"),
        result(),
    )
    usage = found.verdict.usage

    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (3530, 150, 30)
    assert usage.calls == 2


def test_money_is_what_this_run_cost_and_only_at_known_prices() -> None:
    """Trap: the total is the session's, its earlier runs included; of an unknown model it is made up."""

    def cost(**models: Line) -> float | None:
        usage = played(result(total_cost_usd=9.0, model_usage_since_last_result=models)).verdict.usage
        assert usage is not None
        return usage.cost_usd

    assert cost(opus=model(0.5), haiku=model(0.25)) == 0.75
    assert cost(opus=model(0.5), local=model(0.25, "unknown")) is None
    assert cost() is None


class Talk:
    """A dialogue with the program's part spoken by the test."""

    def __init__(self) -> None:
        context = seat_for("claude-code")
        self.sent: list[Line] = [json.loads(ClaudeCode().launch(context).say)]
        dialogue = ClaudeCode().reader(context)
        assert isinstance(dialogue, Dialogue)
        self.dialogue = dialogue

    def say(self, text: str) -> Line:
        self.dialogue.say(text)
        self.sent += [json.loads(line) for line in self.dialogue.replies()]
        return self.sent[-1]

    def hears(self, *lines: Line) -> None:
        for line in lines:
            self.dialogue.read(json.dumps(line))

    def verdict(self) -> SessionVerdict:
        return self.dialogue.verdict(Exit(Ended.EXITED, 0, 1.0, ""))


def taken(message: Line) -> Line:
    """It tells that the model gets a message."""
    return {**message, "isReplay": True}


def test_the_prompt_is_its_first_message_and_it_is_let_go_with_the_result() -> None:
    """Trap: it waits for more as long as its standard input is open."""
    talk = Talk()

    assert talk.sent[0]["message"] == {"role": "user", "content": "Fix it."}
    talk.hears(INIT, taken(talk.sent[0]), says("All done."))
    before = talk.dialogue.is_over
    talk.hears(result())
    assert (before, talk.dialogue.is_over) == (False, True)


def test_a_message_that_was_taken_within_the_turn_ends_with_it() -> None:
    talk = Talk()
    talk.hears(INIT, taken(talk.sent[0]), uses("Bash", command="make"))
    more = talk.say("Use make check.")
    talk.hears(answered("ok"), taken(more), says("All done."), result())

    assert talk.dialogue.is_over
    assert talk.verdict().error is None


def test_a_message_that_came_too_late_for_the_turn_gets_one_of_its_own() -> None:
    """Trap: the result of the first turn is then not the end. Tokens are those of both."""
    talk = Talk()
    talk.hears(INIT, taken(talk.sent[0]), says("All done."))
    more = talk.say("And the docs.")
    talk.hears(result("All done."))
    before = talk.dialogue.is_over
    talk.hears(taken(more), says("Docs too."), result("Docs too."))

    assert (before, talk.dialogue.is_over) == (False, True)
    verdict = talk.verdict()
    assert verdict.summary == "Docs too."
    assert verdict.usage is not None
    assert verdict.usage.output_tokens == 300


def test_every_message_has_an_id_of_its_own_in_every_run() -> None:
    """Trap: one that it has seen before it passes over."""
    talk = Talk()
    ids = [talk.sent[0]["uuid"], talk.say("a")["uuid"], talk.say("a")["uuid"]]
    context = seat_for("claude-code")
    others = [
        replace(context, session="another"),
        replace(context, prompt_file="/next/prompt.md", resume=context.session),
    ]
    ids += [json.loads(ClaudeCode().launch(other).say)["uuid"] for other in others]

    assert len(set(ids)) == 5


def test_an_answer_to_a_program_that_never_asks_is_nothing() -> None:
    assert not Talk().dialogue.answer("call_1", True)


def test_all_is_allowed_as_root_too_since_it_is_in_our_sandbox() -> None:
    """Trap: as root it refuses to start so, unless it is told that it is in a sandbox."""
    launch = ClaudeCode().launch(seat_for("claude-code"))

    assert ("--permission-mode", "bypassPermissions") in zip(launch.argv, launch.argv[1:], strict=False)
    assert launch.env["IS_SANDBOX"] == "1"


def test_it_calls_nobody_but_the_proxy_and_gives_up_in_time() -> None:
    """Traps: without these it updates itself, and asks for minutes. One retry would not survive two 429s."""
    env = ClaudeCode().launch(seat_for("claude-code")).env

    assert env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == env["DISABLE_AUTOUPDATER"] == "1"
    assert env["CLAUDE_CODE_MAX_RETRIES"] == "3"
    assert 60_000 <= int(env["API_TIMEOUT_MS"]) <= 600_000
    assert env["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:4321"
    assert env["ANTHROPIC_API_KEY"] == "ticket"


def test_a_session_has_the_id_that_was_made_before_and_goes_on_under_it() -> None:
    argv = ClaudeCode().launch(seat_for("claude-code")).argv
    assert argv[argv.index("--session-id") + 1] == SESSION

    resumed = ClaudeCode().launch(seat_for("claude-code", resume="old-one")).argv
    assert resumed[resumed.index("--resume") + 1] == "old-one"
    assert "--session-id" not in resumed
    assert play(ClaudeCode(), [], 1, resume="old-one").verdict.session == "old-one"


def test_hooks_are_its_own_with_our_commands() -> None:
    """W13: what it asks before a tool can keep the tool from running."""
    words = ("/opt/it's here/python", "relay.py", "4321")
    argv = ClaudeCode().launch(replace(seat_for("claude-code"), hooks={"PreToolUse": words})).argv
    (hooked,) = json.loads(argv[argv.index("--settings") + 1])["hooks"]["PreToolUse"]

    (hook,) = hooked["hooks"]
    assert hook["type"] == "command"
    assert tuple(shlex.split(hook["command"])) == words
    assert "--settings" not in ClaudeCode().launch(seat_for("claude-code")).argv


def test_a_prompt_is_no_word_of_the_command() -> None:
    argv = ClaudeCode().launch(seat_for("claude-code", "--help me")).argv

    assert not any("help" in word for word in argv)


def test_with_a_login_of_its_own_it_gets_no_key_and_no_proxy() -> None:
    launch = ClaudeCode().launch(seat_for("claude-code", login=True))

    assert not any(name.startswith("ANTHROPIC_") for name in launch.env)
    assert ".claude/.credentials.json" in launch.account
    assert launch.hosts
