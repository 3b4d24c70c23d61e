"""One script drives every client: an operation becomes a call of whichever tool the client declares."""

import json

import pytest

from tests.agents.model_server.conversation import Conversation, Json, Message, Tool
from tests.agents.model_server.scripted_reply import reply_to
from tests.agents.model_server.scripts import BASIC, SCRIPTS, scenario, with_inline_script

TEXT: Json = {"type": "string"}


def _tool(name: str, *properties: str, required: tuple[str, ...] = (), **types: Json) -> Tool:
    fields = {**dict.fromkeys(properties, TEXT), **types}
    return Tool(name, {"type": "object", "properties": fields, "required": list(required or properties)})


CLAUDE = (_tool("Write", "file_path", "content"), _tool("Bash", "command", "description"))
CODEX = (Tool("apply_patch", {}, freeform=True), _tool("exec_command", "cmd"))
GEMINI = (_tool("write_file", "file_path", "content"), _tool("run_shell_command", "command"))
OPENCODE = (_tool("write", "filePath", "content"), _tool("bash", "command", "description"))
COPILOT = (_tool("create", "path", "file_text"), _tool("bash", "command", "description"))
SHELL_ONLY = (_tool("bash", "command"),)
OLD_CODEX = (_tool("shell", command={"type": "array"}, required=("command",)),)


def _at(step: int, tools: tuple[Tool, ...], folder: str = "") -> Conversation:
    system = Message("system", f"Working directory: {folder}" if folder else "")
    past = [Message("assistant", calls=1), Message("tool", "ok")] * step
    return Conversation("m", (system, Message("user", "Work."), *past), tools)


@pytest.mark.parametrize(
    ("tools", "name", "arguments"),
    [
        (CLAUDE, "Write", {"file_path": "/ws/hello.txt", "content": "hello from the script\n"}),
        (GEMINI, "write_file", {"file_path": "/ws/hello.txt", "content": "hello from the script\n"}),
        (OPENCODE, "write", {"filePath": "/ws/hello.txt", "content": "hello from the script\n"}),
        (COPILOT, "create", {"path": "/ws/hello.txt", "file_text": "hello from the script\n"}),
        (
            CODEX,
            "apply_patch",
            "*** Begin Patch\n*** Add File: hello.txt\n+hello from the script\n*** End Patch\n",
        ),
    ],
    ids=["claude", "gemini", "opencode", "copilot", "codex"],
)
def test_write_finds_the_clients_own_tool(tools: tuple[Tool, ...], name: str, arguments: Json | str) -> None:
    (call,) = reply_to(_at(0, tools, folder="/ws"), BASIC).calls
    assert (call.name, call.arguments) == (name, arguments)


@pytest.mark.parametrize(
    ("tools", "name", "arguments"),
    [
        (CLAUDE, "Bash", {"command": "true", "description": "scripted step"}),
        (CODEX, "exec_command", {"cmd": "true"}),
        (OLD_CODEX, "shell", {"command": ["bash", "-lc", "true"]}),
        (GEMINI, "run_shell_command", {"command": "true"}),
        (SHELL_ONLY, "bash", {"command": "true"}),
    ],
    ids=["claude", "codex", "old codex", "gemini", "shell only"],
)
def test_shell_finds_the_clients_own_tool(tools: tuple[Tool, ...], name: str, arguments: Json) -> None:
    (call,) = reply_to(_at(0, tools), ({"op": "shell", "command": "true"},)).calls
    assert (call.name, call.arguments) == (name, arguments)


def test_edit_finds_the_clients_own_tool() -> None:
    edit = _tool("edit", "filePath", "oldString", "newString", replaceAll={"type": "boolean"})
    op: Json = {"op": "edit", "path": "a.txt", "old": "1", "new": "2"}
    (call,) = reply_to(_at(0, (edit,), folder="/ws"), (op,)).calls
    assert call.arguments == {"filePath": "/ws/a.txt", "oldString": "1", "newString": "2"}


@pytest.mark.parametrize(
    "op",
    [
        {"op": "write", "path": "a.txt", "content": "x"},
        {"op": "edit", "path": "a.txt", "old": "1", "new": "2"},
        {"op": "read", "path": "a.txt"},
    ],
    ids=lambda op: str(op["op"]),
)
def test_a_client_with_a_shell_alone_does_everything_through_it(op: Json) -> None:
    (call,) = reply_to(_at(0, SHELL_ONLY), (op,)).calls
    assert call.name == "bash"
    assert isinstance(call.arguments, dict)
    assert "a.txt" in call.arguments["command"]


def test_any_tool_can_be_called_by_name() -> None:
    op: Json = {"op": "call", "tool": "mcp__calc__add", "arguments": {"a": 20, "b": 22}}
    (call,) = reply_to(_at(0, CLAUDE), (op,)).calls
    assert (call.name, call.arguments) == ("mcp__calc__add", {"a": 20, "b": 22})


def test_a_person_speaking_again_starts_the_script_again() -> None:
    done = _at(2, CLAUDE)
    again = Conversation(
        "m", (*done.messages, Message("assistant", "Done."), Message("user", "More.")), CLAUDE
    )
    assert (done.step, again.step) == (2, 0)
    ids = [call.id for talk in (_at(0, CLAUDE), again) for call in reply_to(talk, BASIC).calls]
    assert len(set(ids)) == 2


def test_a_reminder_is_nobody_speaking() -> None:
    reminder = Message("user", "<system-reminder>\nbe brief\n</system-reminder>")
    talk = _at(1, CLAUDE)
    assert Conversation("m", (*talk.messages, reminder), CLAUDE).step == 1


@pytest.mark.parametrize("wrap", ["{}", '"{}"'], ids=["as it is", "in quotes"])
def test_a_prompt_may_bring_its_own_script(wrap: str) -> None:
    script = json.dumps([{"op": "say", "text": 'a "word"'}])
    if wrap != "{}":
        script = script.replace("\\", "\\\\").replace('"', '\\"')
    planned = with_inline_script(scenario("basic", SCRIPTS), wrap.format(f"Do <<<SCRIPT {script} >>> now"))
    assert planned.script == ({"op": "say", "text": 'a "word"'},)


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (
            "Use *SEARCH/REPLACE* blocks.",
            "hello.txt\n```\n<<<<<<< SEARCH\n=======\nhello from the script\n>>>>>>> REPLACE\n```",
        ),
        ("Answer with a *file listing*.", "hello.txt\n```\nhello from the script\n```"),
    ],
    ids=["search and replace", "whole files"],
)
def test_a_client_without_tools_gets_its_edits_as_text(system: str, expected: str) -> None:
    talk = Conversation("m", (Message("system", system), Message("user", "Work.")))
    reply = reply_to(talk, BASIC)
    assert reply.text.startswith(expected)
    assert reply.text.endswith("All done.")


def test_a_client_that_ends_by_command_is_told_by_command() -> None:
    mark = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    talk = Conversation("m", (Message("user", f"Work, then echo {mark}."),), SHELL_ONLY)
    (call,) = reply_to(talk, ({"op": "say", "text": "Done it."},)).calls
    assert call.arguments == {"command": f"echo {mark} && echo 'Done it.'"}


def test_a_title_costs_nothing() -> None:
    talk = Conversation("m", (Message("system", "You are a title generator."), Message("user", "Work.")))
    assert reply_to(talk, BASIC).usage.input == 0


@pytest.mark.parametrize(
    ("name", "step", "earlier", "fault"),
    [
        ("basic", 0, 0, None),
        ("f429", 5, 9, "f429"),
        ("f429x2", 0, 1, "f429"),
        ("f429x2", 0, 2, None),
        ("drop@1", 0, 0, None),
        ("drop@1", 1, 4, "drop"),
        ("hangmid", 0, 0, "hangmid"),
        ("dropx1", 0, 0, "drop"),
        ("dropx1", 0, 1, None),
    ],
)
def test_a_scenarios_name_says_when_it_fails(name: str, step: int, earlier: int, fault: str | None) -> None:
    assert scenario(name, SCRIPTS).fault_at(step, earlier) == fault
