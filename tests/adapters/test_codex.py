import tomllib
from itertools import pairwise

import pytest

from interlock.agents.codex import KEY, Codex
from interlock.model.outcome import ErrorClass
from interlock.model.process import Ended
from interlock.model.session import EventKind, Usage
from tests.adapters.replayed import play, seat_for

Line = dict[str, object]

THREAD = "01a1e176-9840-7ae2-ba5e-f6fea4701ada"
STARTED: Line = {"type": "thread.started", "thread_id": THREAD}
COMPLETED: Line = {
    "type": "turn.completed",
    "usage": {
        "input_tokens": 3300,
        "cached_input_tokens": 30,
        "output_tokens": 150,
        "reasoning_output_tokens": 20,
    },
}


def begins(kind: str, **fields: object) -> Line:
    return {"type": "item.started", "item": {"id": "item_0", "type": kind, "status": "in_progress", **fields}}


def ends(kind: str, status: str = "completed", **fields: object) -> Line:
    return {"type": "item.completed", "item": {"id": "item_0", "type": kind, "status": status, **fields}}


def trouble(message: str) -> Line:
    return {"type": "error", "message": message}


def failed(message: str) -> Line:
    return {"type": "turn.failed", "error": {"message": message}}


SAYS = ends("agent_message", text="All done.")
CHANGES = [{"path": "/w/hello.txt", "kind": "add"}, {"path": "/w/old.txt", "kind": "delete"}]


def settings(argv: tuple[str, ...]) -> dict[str, object]:
    """What the options say, read as the program reads them: TOML."""
    told = [word for option, word in pairwise(argv) if option == "-c"]
    return tomllib.loads("\n".join(told))


def test_a_whole_session_becomes_events_with_its_last_words() -> None:
    lines: list[Line] = [
        STARTED,
        {"type": "turn.started"},
        *(begins("file_change", changes=CHANGES), ends("file_change", changes=CHANGES)),
        begins(
            "command_execution", command="/bin/bash -lc 'make test'", aggregated_output="", exit_code=None
        ),
        ends("command_execution", "failed", command="make test", aggregated_output="broken", exit_code=3),
        *(ends("reasoning", text="hm"), SAYS, COMPLETED),
    ]
    played = play(Codex(), lines)

    assert played.kinds == "session tool edit edit result tool command result message usage end"
    assert [event.path for event in played.of(EventKind.EDIT)] == ["/w/hello.txt", "/w/old.txt"]
    assert played.of(EventKind.COMMAND)[0].exit_code == 3
    assert not played.of(EventKind.RESULT)[1].ok
    assert played.verdict.error is None
    assert played.verdict.summary == "All done."
    assert played.verdict.usage == Usage(3300, 150, 30)


def test_the_id_to_resume_under_is_the_one_that_it_says() -> None:
    """Trap: it takes no id that was made before; it names its thread itself."""
    assert play(Codex(), [STARTED]).verdict.session == THREAD

    resumed = Codex().launch(seat_for("codex", resume=THREAD)).argv
    assert resumed[-4:] == ("resume", THREAD, "--", "Fix it.")
    assert "resume" not in Codex().launch(seat_for("codex")).argv
    assert play(Codex(), [], 1, resume=THREAD).verdict.session == THREAD


def test_a_resumed_thread_counts_its_earlier_part_again_so_nothing_is_claimed() -> None:
    assert play(Codex(), [STARTED, SAYS, COMPLETED], resume=THREAD).verdict.usage is None


def test_an_error_that_it_reconnects_after_is_a_retry_and_no_end() -> None:
    """Trap: such lines have the type "error", too."""
    again = trouble("Reconnecting... 1/3 (exceeded retry limit, last status: 429 Too Many Requests)")
    played = play(Codex(), [STARTED, again, again, SAYS, COMPLETED])

    assert [event.error for event in played.of(EventKind.RETRY)] == [ErrorClass.RATE_LIMIT] * 2
    assert not played.of(EventKind.ERROR)
    assert played.verdict.error is None


def test_a_server_that_cannot_be_reached_explains_why_it_was_stopped() -> None:
    """Trap: it waits for the network for ever."""
    waits = trouble("Reconnecting... waiting for network (Connection failed: error sending request)")

    assert play(Codex(), [STARTED, waits], -15, Ended.IDLE).verdict.error is ErrorClass.NETWORK


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ('{"error": {"message": "No.", "type": "invalid_request_error"}}', ErrorClass.BAD_REQUEST),
        (
            '{"error": {"message": "Too long.", "type": "invalid_request_error", '
            '"code": "context_length_exceeded"}}',
            ErrorClass.CONTEXT,
        ),
        ("unexpected status 401 Unauthorized: no such key, url: http://127.0.0.1:1/v1", ErrorClass.AUTH),
        ("exceeded retry limit, last status: 429 Too Many Requests", ErrorClass.RATE_LIMIT),
        ("Quota exceeded. Check your plan and billing details.", ErrorClass.QUOTA),
        ("You've hit your usage limit.", ErrorClass.QUOTA),
        (
            "We\N{RIGHT SINGLE QUOTATION MARK}re currently experiencing high demand, which may cause errors.",
            ErrorClass.OVERLOADED,
        ),
        ("stream disconnected before completion: Transport error: network error", ErrorClass.NETWORK),
        (
            "stream disconnected before completion: stream closed before response.completed",
            ErrorClass.MODEL,
        ),
        ("something never seen", ErrorClass.MODEL),
    ],
)
def test_a_turn_that_failed_has_its_class(message: str, error: ErrorClass) -> None:
    assert play(Codex(), [STARTED, trouble(message), failed(message)], 1).verdict.error is error


def test_of_an_error_that_is_json_only_the_words_are_shown() -> None:
    verdict = play(
        Codex(), [failed('{"error": {"message": "No.", "type": "invalid_request_error"}}')], 1
    ).verdict

    assert verdict.summary == "No."


def test_a_thread_that_is_not_there_is_said_in_plain_words() -> None:
    """Trap: then there is no event at all."""
    verdict = play(Codex(), ["Error: thread/resume failed: no rollout found"], 1, resume=THREAD).verdict

    assert verdict.error is ErrorClass.EXIT
    assert "no rollout found" in verdict.summary


@pytest.mark.parametrize("code", [0, 1, -15])
def test_without_a_completed_turn_no_exit_status_is_a_success(code: int) -> None:
    assert play(Codex(), [STARTED, SAYS], code).verdict.error is ErrorClass.EXIT


def test_warnings_among_the_items_are_no_failure() -> None:
    """Trap: a model that it does not know is an item of the type "error", and the session goes on."""
    warning = ends("error", message="Model metadata for `x` not found.")

    assert play(Codex(), [STARTED, warning, SAYS, COMPLETED]).verdict.error is None


def test_a_patch_that_failed_changed_no_file() -> None:
    played = play(
        Codex(), [begins("file_change", changes=CHANGES), ends("file_change", "failed", changes=CHANGES)]
    )

    assert not played.of(EventKind.EDIT)
    assert not played.of(EventKind.RESULT)[0].ok


def test_a_tool_of_a_server_has_its_name_and_its_answer() -> None:
    call: Line = {"server": "calc", "tool": "add", "arguments": {"a": 1}}
    played = play(
        Codex(),
        [begins("mcp_tool_call", **call), ends("mcp_tool_call", "completed", **call, result={"sum": 2})],
    )

    assert [(event.kind, event.tool, event.text) for event in played.events] == [
        (EventKind.TOOL, "add", '{"a":1}'),
        (EventKind.RESULT, "add", '{"sum":2}'),
    ]


def test_it_asks_the_proxy_in_its_own_language_and_gives_up_in_time() -> None:
    """Trap: with one retry, two refusals in a row are fatal; without limits a silent model is waited for."""
    launch = Codex().launch(seat_for("codex"))
    told = settings(launch.argv)

    assert told["model"] == "gpt-5.5"
    assert told["model_provider"] == "interlock"
    assert told["model_providers"] == {
        "interlock": {
            "name": "interlock",
            "base_url": "http://127.0.0.1:4321/v1",
            "env_key": KEY,
            "wire_api": "responses",
            "request_max_retries": 3,
            "stream_max_retries": 3,
            "stream_idle_timeout_ms": 180_000,
        }
    }
    assert launch.env[KEY] == "ticket"
    assert not any("ticket" in word for word in launch.argv)


def test_it_does_not_wait_for_its_statistics_and_plugins() -> None:
    """Trap: it stays seconds longer when it cannot send or fetch them."""
    argv = Codex().launch(seat_for("codex")).argv

    assert settings(argv)["analytics"] == {"enabled": False}
    assert ("--disable", "plugins") in pairwise(argv)


def test_its_own_sandbox_is_off() -> None:
    """Trap: inside ours it would be broken, and then every command fails without an event, with status 0."""
    assert "--dangerously-bypass-approvals-and-sandbox" in Codex().launch(seat_for("codex")).argv


def test_its_home_is_not_below_its_folder_for_temporary_files() -> None:
    """Trap: it would then lack commands of its own, and only warn of it. Both are there when it starts."""
    launch = Codex().launch(seat_for("codex"))

    assert launch.env["CODEX_HOME"] == "/home/attempt/.codex"
    assert launch.env["TMPDIR"] == "/home/attempt/tmp"
    assert {name.split("/")[0] for name in launch.files} == {".codex", "tmp"}


def test_its_standard_input_is_closed() -> None:
    """Trap: an open one it reads to its end before it begins."""
    assert not Codex().launch(seat_for("codex")).say
    assert not Codex().can_steer


def test_a_prompt_that_looks_like_an_option_stays_a_prompt() -> None:
    assert Codex().launch(seat_for("codex", "--help me")).argv[-2:] == ("--", "--help me")


def test_what_a_person_adds_comes_after_what_is_set_and_wins() -> None:
    argv = Codex().launch(seat_for("codex", args=("-c", "model_reasoning_effort=low"))).argv

    assert argv.index("model_reasoning_effort=low") > argv.index("analytics.enabled=false")


def test_with_a_login_of_its_own_it_gets_no_key_and_no_proxy() -> None:
    launch = Codex().launch(seat_for("codex", login=True))

    assert "model_provider" not in settings(launch.argv)
    assert KEY not in launch.env
    assert launch.account == (".codex/auth.json",)
    assert launch.hosts
