"""`interlock top`: the project in the whole terminal, and decisions with one key. A14."""

import asyncio
import fcntl
import os
import select
import struct
import subprocess
import sys
import termios
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import RichLog, Static, TabbedContent

from interlock.events.facts import (
    PermissionAnswered,
    PermissionAsked,
    QuestionAnswered,
    QuestionAsked,
    RunStarted,
)
from interlock.model.task import TaskId
from interlock.ui.cli import main
from interlock.ui.cli.output import Invocation, note
from interlock.ui.cli.session import opened, person
from interlock.ui.cli.top.desk import DIFF_LINES, Desk
from interlock.ui.cli.top.program import Top
from interlock.ui.cli.top.screens import OneTask, Overview, Rows
from interlock.ui.opening import open_log
from tests.engine.scratch import WAIT, Scratch
from tests.ui.conftest import Lab, task
from tests.warm import INTERLOCK, start_on_terminal

pytestmark = pytest.mark.slow

MAKES = 'echo "$INTERLOCK_ATTEMPT" > "$INTERLOCK_TASK_ID.txt"'
TASKS = "  a: {goal: Make a, review: required}\n  b: {goal: Make b, review: required}\n  c: {goal: Make c}\n"
Act = Callable[[Pilot[None]], Awaitable[None]]


def in_program(root: Path, act: Act, size: tuple[int, int] = (120, 40)) -> None:
    """Open the program on a project, without a terminal, and do something in it."""

    async def opening() -> None:
        async with program(root, size) as pilot:
            await act(pilot)

    asyncio.run(opening())


@asynccontextmanager
async def program(root: Path, size: tuple[int, int]) -> AsyncIterator[Pilot[None]]:
    async with open_log(root, {}, note, create=True) as log:
        top = Top(await Desk.load(log, person))
        async with top.run_test(size=size) as pilot:
            await until(pilot, lambda: isinstance(top.screen, Overview) and bool(text_of(pilot, "#heading")))
            yield pilot


async def until(pilot: Pilot[None], is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await pilot.pause(0.05)


def text_of(pilot: Pilot[None], selector: str) -> str:
    return str(pilot.app.screen.query_one(selector, Static).visual)


def table(pilot: Pilot[None], name: str) -> list[list[str]]:
    rows = pilot.app.screen.query_one(f"#{name}", Rows).shown
    return [[str(cell) for cell in row.cells] for row in rows]


def log_lines(pilot: Pilot[None]) -> list[str]:
    return [line.text.rstrip() for line in pilot.app.screen.query_one(RichLog).lines]


def told(pilot: Pilot[None]) -> str:
    """What the program said about the last action."""
    return "\n".join(each.message for each in pilot.app._notifications)


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path / "a repository")
    yield made
    made.close()


@pytest.fixture
def waiting(scratch: Scratch) -> Scratch:
    """Two changes wait for review, a third has landed."""
    scratch.graph(TASKS, MAKES, verify="'test -n x'")
    scratch.interlock("run", code=6)
    return scratch


def test_one_key_approves_what_is_selected_and_it_lands(waiting: Scratch) -> None:
    async def act(pilot: Pilot[None]) -> None:
        assert "2 waiting, 1 done" in text_of(pilot, "#heading")
        assert [row[:2] for row in table(pilot, "inbox")] == [["review", "a"], ["review", "b"]]
        assert ["c", "done"] in [row[:2] for row in table(pilot, "tasks")]
        await pilot.press("a")
        await until(pilot, lambda: [row[1] for row in table(pilot, "inbox")] == ["b"])
        assert "interlock approve a --change " in told(pilot)

    in_program(waiting.root, act)
    (approved,) = waiting.facts("ReviewApproved")
    assert approved["fact"]["task"] == "a"
    waiting.interlock("run", code=6)
    assert waiting.states() == {"a": "done", "b": "waiting", "c": "done"}


def test_a_change_is_read_and_rejected_with_words_for_the_next_attempt(waiting: Scratch) -> None:
    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("j", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, OneTask))
        await until(pilot, lambda: "+++ b/b.txt" in text_of(pilot, "#change-text"))
        assert pilot.app.screen.query_one(TabbedContent).active == "change"
        await pilot.press("c", *"b.txt:1", "space", *"why?", "enter")
        await until(pilot, lambda: "comment of " in text_of(pilot, "#change-text"))
        await pilot.press("r", "escape")
        await pilot.press("r", *"no", "enter")
        await until(pilot, lambda: "interlock reject b -m no" in told(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: [row[1] for row in table(pilot, "inbox")] == ["a"])

    in_program(waiting.root, act)
    (rejected,) = waiting.facts("ReviewRejected")
    assert (rejected["fact"]["task"], rejected["fact"]["note"]) == ("b", "no")
    assert "why?" in rejected["fact"]["feedback"]


def test_a_change_that_was_replaced_while_it_was_read_is_not_approved(waiting: Scratch) -> None:
    """The key decides about the change on the screen, not about the one that is there now."""

    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await until(pilot, lambda: "+++ b/a.txt" in text_of(pilot, "#change-text"))
        top = pilot.app
        assert isinstance(top, Top)
        top.workers.cancel_all()  # the picture stands still, as under a slow disk
        await asyncio.to_thread(waiting.interlock, "reject", "a", "-m", "again")
        await asyncio.to_thread(waiting.interlock, "run", code=6)
        await pilot.press("a")
        await until(pilot, lambda: "the change of a is another one now" in told(pilot))

    in_program(waiting.root, act)
    assert waiting.facts("ReviewApproved") == []


def test_an_agent_may_look_and_not_decide(waiting: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")

    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("a")
        await until(pilot, lambda: "only a person may decide this" in told(pilot))

    in_program(waiting.root, act)
    assert waiting.facts("ReviewApproved") == []


def test_a_running_agent_is_followed_and_gets_a_message(scratch: Scratch) -> None:
    gate = scratch.gates / "gate"
    scratch.graph(
        "  t: {goal: Go slowly}\n", f"echo first words; {WAIT.format(gate=gate)}; echo last words; {MAKES}"
    )
    scratch.start("run")

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: [row[-1] for row in table(pilot, "lanes")] == ["first words"])
        assert table(pilot, "lanes")[0][:2] == ["t", "shell"]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, OneTask))
        await pilot.press("3")
        await until(pilot, lambda: "first words" in log_lines(pilot))
        await pilot.press("s", *"hurry", "enter")
        await until(pilot, lambda: "interlock say t hurry" in told(pilot))
        gate.touch()
        await until(pilot, lambda: "last words" in log_lines(pilot))
        await until(pilot, lambda: "landed as" in text_of(pilot, "#attempts-text"))

    in_program(scratch.root, act)


def test_what_agents_ask_is_answered(lab: Lab) -> None:
    lab.accept(task("leave"), task("why"))
    lab.take_charge(RunStarted("r", "h", 1, 3))
    for name in ("leave", "why"):
        epoch = lab.start(name).epoch
        key = TaskId(name)
        if name == "leave":
            lab.write(PermissionAsked(key, 1, "implement", epoch, "c1", "execute", "make c1"))
        else:
            lab.write(QuestionAsked(key, 1, "implement", epoch, "which one?"))

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot, "inbox")) == 2)
        kinds = [row[0] for row in table(pilot, "inbox")]
        await pilot.press(*["j"] * kinds.index("permission"), "a")
        await until(pilot, lambda: [row[0] for row in table(pilot, "inbox")] == ["question"])
        await pilot.press("y", *"both", "enter")
        await until(pilot, lambda: table(pilot, "inbox") == [])

    in_program(lab.root, act)
    assert lab.facts()[-2:] == [
        PermissionAnswered(TaskId("leave"), 1, "c1", allow=True),
        QuestionAnswered(TaskId("why"), 1, "both"),
    ]


def test_a_failed_task_is_retried_paused_and_cancelled(scratch: Scratch) -> None:
    scratch.graph("  bad: {goal: Fail, retries: 0}\n", "echo no; exit 3")
    scratch.interlock("run", code=1)

    async def act(pilot: Pilot[None]) -> None:
        assert [row[:2] for row in table(pilot, "inbox")] == [["failed", "bad"]]
        await pilot.press("a")
        await until(pilot, lambda: "interlock explain bad" in told(pilot))
        await pilot.press("t", *"again", "enter")
        await until(pilot, lambda: table(pilot, "inbox") == [])
        await pilot.press("p")
        await until(pilot, lambda: [row[0] for row in table(pilot, "inbox")] == ["paused"])
        await pilot.press("p")
        await until(pilot, lambda: table(pilot, "inbox") == [])
        await pilot.press("x", *"enough", "enter")
        await until(pilot, lambda: ["bad", "cancelled"] in [row[:2] for row in table(pilot, "tasks")])

    in_program(scratch.root, act)
    kinds = [fact["kind"] for fact in scratch.facts("TaskRetried", "Paused", "Unpaused", "TaskCancelled")]
    assert kinds == ["TaskRetried", "Paused", "Unpaused", "TaskCancelled"]


def test_words_of_agents_are_neither_markup_nor_escape_sequences(lab: Lab) -> None:
    hostile = "\x1b]0;owned\x07[@click=app.quit]click[/] [bold]x[/] \x1b[2J\u202egnp"
    lab.accept(task("t"), task("u"))
    lab.take_charge(RunStarted("r", "h", 1, 3))
    lab.fail("t", hostile)

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: bool(table(pilot, "inbox")))
        (shown,) = table(pilot, "inbox")
        assert "[@click=app.quit]click[/] [bold]x[/]" in shown[-1]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, OneTask))
        await until(pilot, lambda: "[bold]x[/]" in text_of(pilot, "#attempts-text"))
        seen = "".join(text_of(pilot, f"#{name}-text") for name in ("attempts", "change", "causes"))
        assert not {"\x1b", "\u202e", "\x07"} & set(seen + shown[-1])

    in_program(lab.root, act)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
def test_a_thousand_tasks_are_shown_and_the_selection_stays(size: tuple[int, int], lab: Lab) -> None:
    lab.accept(*(task(f"t{number:04}") for number in range(1_000)))

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: bool(table(pilot, "tasks")))
        shown = table(pilot, "tasks")
        assert shown[-1][2:] == ["interlock status --all", "and 960 more"]
        await pilot.press("down", "down", "down")
        lab_write = asyncio.to_thread(lab.run, "cancel", "t0000")
        assert (await lab_write).code == 0
        await until(pilot, lambda: table(pilot, "tasks")[0][0] == "t0001")
        chosen = pilot.app.screen.query_one("#tasks", Rows).chosen
        assert chosen
        assert chosen.task == "t0003"

    in_program(lab.root, act, size)


def test_the_beginning_of_a_long_diff_is_shown(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: Much}\n", f"seq {DIFF_LINES + 10} > t.txt")
    scratch.interlock("run")

    async def look() -> str:
        async with opened(Invocation(scratch.root)) as log:
            return (await (await Desk.load(log, person)).pages("t")).change.plain

    lines = asyncio.run(look()).splitlines()
    assert len(lines) == DIFF_LINES + 1
    assert lines[-1].endswith("interlock diff t")


class Terminal:
    """The real command on a terminal of its own."""

    def __init__(self, root: Path, env: dict[str, str]) -> None:
        env = env | {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
        self.process, self._mine = start_on_terminal([*INTERLOCK, "top"], root, env)
        fcntl.ioctl(self._mine, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.seen = ""

    def wait_for(self, words: str) -> None:
        while words not in self.seen:
            assert select.select([self._mine], [], [], 60)[0], self.seen
            self.seen += os.read(self._mine, 65536).decode("utf-8", "replace")

    def press(self, keys: str) -> None:
        os.write(self._mine, keys.encode())

    def close(self) -> int:
        try:
            while os.read(self._mine, 65536):
                pass
        except OSError:  # Linux says so when the last writer is gone
            os.close(self._mine)
        return self.process.wait(30)


def test_the_command_draws_on_a_terminal_approves_and_leaves(waiting: Scratch) -> None:
    terminal = Terminal(waiting.root, waiting.env)
    terminal.wait_for("waits for review")
    terminal.press("a")
    terminal.wait_for("interlock approve a")
    terminal.press("q")
    assert terminal.close() == 0
    assert [row["fact"]["task"] for row in waiting.facts("ReviewApproved")] == ["a"]


def test_it_needs_a_terminal(lab: Lab) -> None:
    said = lab.run("top")
    assert said.code == 2
    assert "interlock status --json" in said.err


def test_without_textual_it_says_how_to_install_it(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "textual", None)  # as where it is not installed
    code = main(["--project", str(lab.root), "top"])
    assert code == 7
    assert "pip install 'interlock[top]'" in lab.capsys.readouterr().err


def test_help_does_not_load_textual() -> None:
    script = (
        "import sys; from interlock.ui.cli import main; main(['top', '-h']); print('textual' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "with one key" in said
    assert said.endswith("False\n")
