"""A person works in their own checkout while agents land: through the real command, with main checked out."""

import json
import os
import pty
from pathlib import Path

import pytest

from tests import warm
from tests.engine.scratch import INTERLOCK, WAIT, Background, Scratch
from tests.tiers import rest_at_night

pytestmark = pytest.mark.slow

OVERLOOKED = ["--skip-worktree", "--assume-unchanged"]


@pytest.fixture
def run(scratch: Scratch, gate: Path) -> Background:
    """A run whose agents change `same.txt` (task a) and add `new.txt` (task b) once the gate is there."""
    scratch.write(same__txt="1\n", other__txt="1\n")
    agent = (
        WAIT.format(gate=gate)
        + "\ncase $INTERLOCK_TASK_ID in a) echo 2 > same.txt;; b) echo 2 > new.txt;; esac"
    )
    scratch.graph("  a: {goal: x}\n  b: {goal: x}\n", agent)
    started = scratch.start("run")
    for task in "ab":
        started.wait_for_line(f"{task}: implement started")
    return started


def test_only_a_change_to_the_same_edited_file_waits(scratch: Scratch, gate: Path, run: Background) -> None:
    """W6: main is not written under a person's hands; they are told, and it lands when they are done."""
    scratch.write(same__txt="mine\n", other__txt="mine\n", untracked__txt="mine\n")
    scratch.git("add", "other.txt")
    gate.touch()
    run.wait_for_line("this change edits same.txt")
    run.wait_for_line("b: landed")
    assert scratch.git("show", "main:same.txt") == "1"
    assert scratch.git("show", "main:new.txt") == "2"
    assert (scratch.root / "new.txt").read_text() == "2\n"
    scratch.git("checkout", "--", "same.txt")
    assert run.wait() == 0
    assert scratch.git("show", "main:same.txt") == "2"
    # What was staged still is, and nothing else.
    assert scratch.git("status", "--porcelain") == "M  other.txt\n?? untracked.txt"
    assert (scratch.root / "other.txt").read_text() == "mine\n"


def test_a_run_ends_when_only_the_persons_edits_keep_changes_from_landing(
    scratch: Scratch, gate: Path, run: Background
) -> None:
    """A job without a terminal hung for ever: the run looks for half a minute, and says who has to act."""
    scratch.write(same__txt="mine\n")
    gate.touch()
    assert run.wait() == 6, run.output
    assert scratch.states() == {"a": "waiting", "b": "done"}
    (waiting,) = json.loads(scratch.read("inbox", "--json"))["items"]
    assert (waiting["kind"], waiting["task"]) == ("held-up", "a")
    assert "this change edits same.txt" in waiting["text"]
    assert "`git stash` lets it land" in waiting["text"]
    assert "interlock inbox" in scratch.interlock()
    assert "lands in about" not in scratch.interlock("queue")
    scratch.git("stash")
    scratch.interlock("run")
    assert scratch.git("show", "main:same.txt") == "2"


@pytest.mark.parametrize("mark", rest_at_night(OVERLOOKED, by_day=OVERLOOKED[:1]))
def test_an_edit_that_git_was_told_to_overlook_holds_the_landing_too(
    scratch: Scratch, gate: Path, run: Background, mark: str
) -> None:
    """Git reports no such edit, and cannot replace the file: main would move away from the checkout."""
    scratch.git("update-index", mark, "same.txt")
    scratch.write(same__txt="mine\n")
    gate.touch()
    run.wait_for_line("this change edits same.txt")
    run.wait_for_line("b: landed")
    assert (scratch.root / "same.txt").read_text() == "mine\n"
    scratch.git("update-index", mark.replace("--", "--no-"), "same.txt")
    scratch.git("checkout", "--", "same.txt")
    assert run.wait() == 0
    assert scratch.git("status", "--porcelain") == ""
    assert scratch.git("show", "main:same.txt") == "2"


def test_editing_the_task_graph_never_holds_a_landing(scratch: Scratch, gate: Path, run: Background) -> None:
    graph = scratch.root / "task-graph.yaml"
    graph.write_text(graph.read_text() + "# a remark\n")
    gate.touch()
    assert run.wait() == 0
    assert scratch.states() == {"a": "done", "b": "done"}
    assert scratch.git("status", "--porcelain").split() == ["M", "task-graph.yaml"]


@pytest.mark.parametrize("where", rest_at_night(["branch", "detached", "merging"], by_day=["merging"]))
def test_a_checkout_that_is_elsewhere_is_left_alone(
    scratch: Scratch, gate: Path, run: Background, where: str
) -> None:
    """On another branch, detached, or in the middle of a merge there: main moves, the checkout does not."""
    scratch.git(
        "switch", "-q", "--detach" if where == "detached" else "-c", *(["mine"] * (where != "detached"))
    )
    if where == "merging":
        scratch.write(same__txt="mine\n")
        scratch.commit("mine")
        scratch.git("branch", "-q", "theirs", "main")
        scratch.git("switch", "-q", "theirs")
        scratch.write(same__txt="theirs\n")
        scratch.commit("theirs")
        scratch.git("switch", "-q", "mine")
        with pytest.raises(Exception, match="merge"):
            scratch.git("merge", "theirs")
    before = scratch.git("status", "--porcelain=v2", "--branch")
    gate.touch()
    assert run.wait() == 0
    assert scratch.git("status", "--porcelain=v2", "--branch") == before
    assert scratch.git("show", "main:same.txt") == "2"


def test_a_rebase_of_main_is_waited_for(scratch: Scratch, gate: Path, run: Background) -> None:
    """It ends by moving main itself, from where it began: nothing may land before."""
    start = scratch.git("rev-parse", "HEAD")
    scratch.write(other__txt="mine\n")
    scratch.commit("mine")
    scratch.git("switch", "-q", "-c", "theirs", start)
    scratch.write(other__txt="theirs\n")
    scratch.commit("theirs")
    scratch.git("switch", "-q", "main")
    with pytest.raises(Exception, match="rebase"):
        scratch.git("rebase", "theirs")
    gate.touch()
    run.wait_for_line("a rebase of main is under way")
    scratch.git("checkout", "--theirs", "other.txt")
    scratch.git("add", "other.txt")
    scratch.git("-c", "core.editor=true", "rebase", "--continue")
    assert run.wait() == 0
    assert scratch.git("show", "main:other.txt") == "mine"
    assert scratch.git("show", "main:same.txt") == "2"


def test_uncommitted_changes_are_mentioned_and_do_not_stop_a_run(scratch: Scratch) -> None:
    scratch.write(a__txt="1\n")
    scratch.graph("  t: {goal: x}\n")
    scratch.write(a__txt="mine\n")
    said = scratch.interlock("run")
    assert "agents do not see your uncommitted changes to a.txt" in said
    assert (scratch.root / "t.txt").read_text() == "t\n"
    assert (scratch.root / "a.txt").read_text() == "mine\n"
    assert "changes to the same files wait to land" in scratch.interlock("doctor", code=None)


def test_a_run_lands_on_the_branch_that_it_is_told(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: x}\n")
    scratch.git("switch", "-q", "-c", "mine")
    said = scratch.interlock("run", "--branch", "mine")
    assert "lands on" not in said
    assert (scratch.root / "t.txt").exists()
    assert "t.txt" not in scratch.git("ls-tree", "--name-only", "main")
    assert "there is no branch" in scratch.interlock("run", "--branch", "nowhere", code=7)


@pytest.mark.parametrize(("answer", "lands"), [("mine", "mine"), ("", "main")])
def test_on_a_terminal_the_branch_is_asked_for_once(
    scratch: Scratch, tmp_path: Path, answer: str, lands: str
) -> None:
    scratch.graph("  t: {goal: x}\n")
    scratch.git("switch", "-q", "-c", "mine")
    terminal, end = pty.openpty()
    try:
        os.write(terminal, f"{answer}\n".encode())
        with (tmp_path / "said").open("w+") as said:
            number = said.fileno()
            run = warm.start(
                [*INTERLOCK, "run"], scratch.root, scratch.env, out=number, err=number, stdin=end
            )
            assert run.wait(60) == 0
            said.seek(0)
            assert "You are on mine. Land on which branch? (main, mine) [main]" in said.read()
    finally:
        os.close(terminal)
        os.close(end)
    assert scratch.git("show", f"{lands}:t.txt") == "t"


def test_agents_that_only_the_checked_out_branch_has_are_refused_before_anything_starts(
    scratch: Scratch,
) -> None:
    scratch.write(readme__md="a project\n")
    scratch.commit()
    scratch.git("switch", "-q", "-c", "mine")
    scratch.graph("  a: {goal: a}\n")
    said = scratch.interlock("run", code=2)
    assert "main has no agent.sh, which the agent shell runs; mine has it" in said
    assert "interlock run --branch mine, or merge mine into main" in said
    assert not scratch.facts("PhaseStarted")
    scratch.interlock("run", "--branch", "mine")
    assert scratch.states() == {"a": "done"}


def test_a_partial_clone_is_told_how_to_fetch_the_rest(scratch: Scratch) -> None:
    """It said "git read-tree failed: cannot read object", and to see `doctor`, which saw nothing."""
    (scratch.root / "deep").mkdir()
    (scratch.root / "deep" / "far.txt").write_text("far\n")
    scratch.graph("  a: {goal: a}\n", verify="['test -f deep/far.txt']")
    scratch.git("config", "uploadpack.allowFilter", "true")
    part = scratch.root.parent / "part"
    scratch.git("clone", "-q", "--filter=blob:none", "--sparse", f"file://{scratch.root}", str(part))
    scratch.root = part
    said = "this is a partial clone: 1 file is not here that main has"
    assert said in scratch.interlock("run", code=7)
    assert said in scratch.interlock("doctor", "--no-checks", code=7)
    scratch.git("fetch", "-q", "--refetch", "--no-filter")
    scratch.interlock("run")
