"""An agent that wants to edit more than was expected: how it asks, and what it hears (D3, W13)."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.run.scope import ASKED_MOST, Scope, answer_text

HERE = Path("/w/t")


class Asked:
    """Who is asked; each request is answered in the way the test says."""

    def __init__(self, verdict: Callable[[str], bool] | None = None, expected: tuple[str, ...] = ()) -> None:
        self.heard: list[tuple[tuple[str, ...], str]] = []
        self.scope = Scope(expected, HERE, self._ask)
        self._verdict = verdict

    async def _ask(self, paths: tuple[str, ...], why: str) -> None:
        self.heard.append((paths, why))
        if self._verdict:
            asyncio.get_running_loop().call_soon(
                self.scope.answered, paths, self._verdict(paths[0]), "b holds it alone"
            )

    def edit(self, path: str, tool: str = "Edit", key: str = "file_path") -> str:
        return asyncio.run(self.scope.objection({"tool_name": tool, "tool_input": {key: path}}))


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("::interlock scope a.py -- it is wrong there", (("a.py",), "it is wrong there")),
        ("  ::interlock scope a.py 'b c.py' docs/", (("a.py", "b c.py", "docs"), "")),
        ("::interlock scope ./src/../a.py a.py", (("a.py",), "")),
        (f"::interlock scope {HERE}/src/a.py", (("src/a.py",), "")),
        ("::interlock scope it's.py -- odd", (("it's.py",), "odd")),
        ("::interlock scope ../out.py /etc/passwd ..", None),
        ("::interlock scope", None),
        ("::interlock scope -- why", None),
        ("I would write ::interlock scope a.py", None),
        ("", None),
    ],
)
def test_a_line_asks_for_paths_inside_the_workspace(line: str, asked: object) -> None:
    assert Asked().scope.request_in(line) == asked


def test_what_was_expected_needs_no_leave() -> None:
    asked = Asked(expected=("src/**",))
    assert asked.edit(str(HERE / "src/a.py")) == ""
    assert asked.heard == []


def test_another_file_is_asked_for_once_and_then_edited() -> None:
    asked = Asked(lambda _: True, ("src/**",))
    assert [asked.edit(f"{HERE}/notes.md") for _ in range(3)] == ["", "", ""]
    assert asked.heard == [(("notes.md",), "Edit is about to edit it")]


def test_a_refusal_names_the_reason_and_is_asked_for_again_the_next_time() -> None:
    asked = Asked(lambda _: False)
    told = asked.edit(f"{HERE}/notes.md", "Write")
    assert told == answer_text(("notes.md",), False, "b holds it alone")
    assert "leave notes.md as it is: b holds it alone" in told
    asked.edit(f"{HERE}/notes.md")
    assert len(asked.heard) == 2


@pytest.mark.parametrize("tool", ["Read", "Bash", "Grep", ""])
def test_other_tools_are_none_of_our_business(tool: str) -> None:
    asked = Asked(lambda _: False)
    assert (asked.edit(f"{HERE}/notes.md", tool), asked.heard) == ("", [])


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "", "x\0y", "y" * 500])
def test_what_is_not_a_path_of_the_workspace_is_left_to_the_sandbox(path: str) -> None:
    asked = Asked(lambda _: False)
    assert (asked.edit(path), asked.heard) == ("", [])


def test_a_notebook_is_a_file() -> None:
    assert "leave n.ipynb" in Asked(lambda _: False).edit(f"{HERE}/n.ipynb", "NotebookEdit", "notebook_path")


def test_after_very_many_requests_an_agent_edits_without_asking() -> None:
    asked = Asked(lambda _: False)
    told = [asked.edit(f"{HERE}/{number}.py") for number in range(ASKED_MOST + 5)]
    assert len(asked.heard) == ASKED_MOST
    assert told[-5:] == [""] * 5


def test_the_same_request_is_not_passed_on_twice_while_it_is_open() -> None:
    asked = Asked()

    async def twice() -> None:
        await asked.scope.ask(("a.py",), "one")
        await asked.scope.ask(("a.py",), "two")
        assert not asked.scope.answered(("a.py",), True, "free")
        await asked.scope.ask(("a.py",), "three")

    asyncio.run(twice())
    assert [why for _, why in asked.heard] == ["one", "three"]
