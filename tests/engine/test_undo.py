"""D8, A13: what landed leaves main by one change that is checked, and its tasks are not done any more."""

import json

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow

THREE = "  base: {goal: x}\n  built: {goal: x, needs: [base]}\n  later: {goal: x, needs: [base]}\n"
CHECK = "test ! -e broken"


def files(scratch: Scratch) -> set[str]:
    return set(scratch.git("ls-tree", "--name-only", "main").split())


def test_a_task_is_undone_with_the_landed_task_that_needs_it_and_the_other_waits(scratch: Scratch) -> None:
    scratch.graph(THREE, verify=CHECK)
    scratch.interlock("run", "--only", "base", "--only", "built", code=None)
    assert scratch.states() == {"base": "done", "built": "done", "later": "waiting"}
    landed = scratch.git("rev-parse", "main")
    said = scratch.interlock("undo", "base", "--yes")
    assert "undo built" in said and "(built on base)" in said and "waits again: later" in said, said
    assert scratch.git("rev-parse", "main") == landed, "nothing moves before the checks"
    said = scratch.interlock("run", code=1)
    assert {"base.txt", "built.txt", "later.txt"}.isdisjoint(files(scratch))
    assert scratch.git("log", "-1", "--format=%P", "main") == landed, "one change on top of main"
    message = scratch.git("log", "-1", "--format=%B", "main")
    assert message.startswith("Undo base and 1 more\n") and "- built: " in message and "- base: " in message
    (passed,) = [
        each["fact"] for each in scratch.facts("CandidatePassed") if each["fact"]["task"] == "undo-base"
    ]
    assert [check["command"] for check in passed["checks"]] == [CHECK]
    states = {"base": "cancelled", "built": "cancelled", "later": "waiting", "undo-base": "done"}
    assert scratch.states() == states
    assert "undone by undo-base" in scratch.interlock("explain", "built")
    assert "blocked by base" in scratch.interlock("explain", "later")
    scratch.interlock("retry", "base", "built")
    scratch.interlock("run")
    assert {"base.txt", "built.txt", "later.txt"} <= files(scratch)
    assert set(scratch.states().values()) == {"done"}
    assert scratch.git("status", "--porcelain") == ""


def test_an_undone_task_stays_undone_in_the_next_runs(scratch: Scratch) -> None:
    """Its commit is still on main, below the one that undid it."""
    scratch.graph("  a: {goal: x}\n")
    scratch.interlock("run")
    scratch.interlock("undo", "a", "--yes")
    for _ in range(2):
        scratch.interlock("run", code=1)
        assert scratch.states() == {"a": "cancelled", "undo-a": "done"}
    scratch.interlock("retry", "a")
    scratch.interlock("run")
    assert "a.txt" in files(scratch)
    scratch.interlock("undo", "a", "--yes")
    scratch.interlock("run", code=1)
    assert scratch.states() == {"a": "cancelled", "undo-a": "done", "undo-a-2": "done"}


def test_a_task_whose_undo_is_undone_has_landed_again(scratch: Scratch) -> None:
    scratch.graph(THREE, verify=CHECK)
    scratch.interlock("run", "--only", "base", "--only", "built", code=None)
    verified = scratch.status()["tasks"][0]["evidence"]
    scratch.interlock("undo", "base", "--yes")
    scratch.interlock("run", code=1)
    assert "3 commits, 3 good" in scratch.interlock("verify", "main~3..main"), "the log knows what is undone"
    said = scratch.interlock("undo", "undo-base", "--yes")
    assert "counts as landed again: built, base" in said, said
    scratch.interlock("run")
    assert {"base.txt", "built.txt", "later.txt"} <= files(scratch), "what needs it goes on"
    states = dict.fromkeys(("base", "built", "later", "undo-undo-base"), "done")
    assert scratch.states() == states | {"undo-base": "cancelled"}
    assert scratch.status()["tasks"][0]["evidence"] == verified
    scratch.interlock("run")
    assert scratch.states() == states | {"undo-base": "cancelled"}, "and stays so"
    scratch.interlock("undo", "undo-undo-base", "--yes")
    scratch.interlock("run", code=1)
    assert "base.txt" not in files(scratch)
    states = {"base": "cancelled", "built": "cancelled", "undo-base": "done", "undo-undo-base": "cancelled"}
    assert scratch.states() | states == scratch.states()


def test_a_task_that_was_retried_is_not_marked_as_landed_by_the_undo_of_its_undo(scratch: Scratch) -> None:
    gate = scratch.gates / "gate"
    agent = f"test $INTERLOCK_ATTEMPT = 1 || {{ {WAIT.format(gate=gate)}; }}\necho $INTERLOCK_ATTEMPT > a.txt"
    scratch.graph("  a: {goal: x}\n", agent)
    scratch.interlock("run")
    scratch.interlock("undo", "a", "--yes")
    scratch.interlock("run", code=1)
    scratch.interlock("retry", "a")
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    scratch.interlock("undo", "undo-a", "--yes")
    run.wait_for_line("undo-undo-a: landed as")
    gate.touch()
    assert run.wait() == 0, run.output
    assert scratch.states()["a"] == "done" and not scratch.facts("LandingSeen")
    assert scratch.git("show", "main:a.txt") != "1"


def test_the_undo_of_a_task_that_has_landed_again_is_not_undone(scratch: Scratch) -> None:
    """It took away a file that the second change had kept, and built on."""
    agent = "if test $INTERLOCK_ATTEMPT = 1; then git rm -q old.txt; fi; echo $INTERLOCK_ATTEMPT > a.txt"
    scratch.write(old__txt="old\n")
    scratch.graph("  a: {goal: x}\n", agent)
    scratch.interlock("run")
    assert "old.txt" not in files(scratch)
    scratch.interlock("undo", "a", "--yes")
    scratch.interlock("run", code=1)
    scratch.interlock("retry", "a")
    scratch.interlock("run")
    again = scratch.git("rev-parse", "main")
    assert {"a.txt", "old.txt"} <= files(scratch)
    for more in ((), ("--include-later",)):
        said = scratch.interlock("undo", "undo-a", "--yes", *more, code=2)
        assert f"a has landed again since undo-a (as {again[:12]})" in said
        assert "interlock undo a" in said
    scratch.interlock("run")
    assert scratch.git("rev-parse", "main") == again
    scratch.interlock("undo", "a", "--yes")
    scratch.interlock("run", code=1)
    assert "a.txt" not in files(scratch)


def test_an_undo_of_an_undo_is_given_up_if_the_task_lands_again_before_it(scratch: Scratch) -> None:
    gate = scratch.gates / "gate"
    agent = "if test $INTERLOCK_ATTEMPT = 1; then git rm -q old.txt; fi; echo $INTERLOCK_ATTEMPT > a.txt"
    waits = f"grep -q 1 a.txt || ! test -e a.txt || {{ {WAIT.format(gate=gate)}; }}\n"
    scratch.write(old__txt="old\n", check__sh=waits)
    scratch.graph("  a: {goal: x}\n", agent, verify="sh check.sh")
    scratch.interlock("run")
    scratch.interlock("undo", "a", "--yes")
    scratch.interlock("run", code=1)
    scratch.interlock("retry", "a")
    run = scratch.start("run")
    run.wait_for_line("a: change made in")
    scratch.interlock("undo", "undo-a", "--yes")
    gate.touch()
    assert run.wait() == 1, run.output
    assert "a landed again after this was begun" in run.output
    assert {"a.txt", "old.txt"} <= files(scratch)
    assert scratch.states() == {"a": "done", "undo-a": "done", "undo-undo-a": "failed"}


def test_an_undo_that_later_changes_are_in_the_way_of_names_them_and_can_include_them(
    scratch: Scratch,
) -> None:
    tasks = "  one: {goal: x}\n  two: {goal: x}\n  else: {goal: x}\n"
    agent = 'case $INTERLOCK_TASK_ID in else) echo e > e.txt;; *) echo "$INTERLOCK_TASK_ID" > list.txt;; esac'
    scratch.graph(tasks, agent)
    for task in ("one", "two", "else"):
        scratch.interlock("run", "--only", task, code=None)
    said = scratch.interlock("undo", "one", "--yes", code=2)
    assert "two (" in said and "changed the same lines of list.txt" in said, said
    assert "interlock undo one --include-later" in said and "else" not in said
    assert scratch.facts("RevertPrepared") == []
    said = scratch.interlock("undo", "one", "--include-later", "--yes", "--json")
    assert [each["task"] for each in json.loads(said)["undoes"]] == ["two", "one"]
    scratch.interlock("run", code=1)
    assert "list.txt" not in files(scratch) and "e.txt" in files(scratch)
    assert scratch.states() == {"one": "cancelled", "two": "cancelled", "else": "done", "undo-one": "done"}


def test_an_undo_whose_checks_are_red_does_not_land(scratch: Scratch) -> None:
    """The other change needs what is undone, although the graph does not say so."""
    tasks = "  a: {goal: x}\n  b: {goal: x}\n"
    scratch.graph(tasks, verify="test ! -e b.txt || test -e a.txt")
    scratch.interlock("run", "--max-parallel", "1")
    landed = scratch.git("rev-parse", "main")
    scratch.interlock("undo", "a", "--yes")
    scratch.interlock("run", code=1)
    assert scratch.git("rev-parse", "main") == landed
    assert scratch.states() == {"a": "done", "b": "done", "undo-a": "failed"}


def test_a_commit_of_a_person_is_undone_while_a_run_is_active(scratch: Scratch) -> None:
    gate = scratch.gates / "gate"
    scratch.graph("  a: {goal: x}\n", f"{WAIT.format(gate=gate)}\necho a > a.txt", verify=CHECK)
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    scratch.write(theirs__txt="x")
    theirs = scratch.commit("Theirs")
    assert "the active run" in scratch.interlock("undo", theirs[:10], "--yes")
    run.wait_for_line("landed as")
    assert "theirs.txt" not in files(scratch)
    gate.touch()
    assert run.wait() == 0, run.output
    assert "a.txt" in files(scratch)


def test_what_cannot_be_undone_is_refused(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: x}\n  b: {goal: x}\n")
    scratch.interlock("run", "--only", "a", code=None)
    assert "b has not landed, it is waiting" in scratch.interlock("undo", "b", code=2)
    assert "no task `nope`" in scratch.interlock("undo", "nope", code=2)
    assert "use --yes" in scratch.interlock("undo", "a", code=2)
    first = scratch.git("rev-list", "--max-parents=0", "main")
    assert "the first commit of main" in scratch.interlock("undo", first, code=2)
    scratch.interlock("undo", "a", "--yes")
    assert "undo-a undoes that already" in scratch.interlock("undo", "a", "--yes", code=2)


def test_an_undo_waits_while_the_commit_of_another_keeps_a_check_from_running(scratch: Scratch) -> None:
    scratch.write(check__sh="#!/bin/sh\n")
    (scratch.root / "check.sh").chmod(0o755)
    scratch.graph("  a: {goal: x}\n", verify="./check.sh")
    scratch.interlock("run")
    scratch.interlock("undo", "a", "--yes")
    scratch.git("rm", "-q", "check.sh")
    theirs = scratch.commit("Remove the check")
    scratch.interlock("run", code=None)
    assert scratch.states() == {"a": "done", "undo-a": "waiting"}
    assert not scratch.facts("PhaseFailed")
    assert "`./check.sh`" in scratch.interlock("explain", "undo-a")
    scratch.git("revert", "--no-edit", theirs)
    scratch.interlock("run", code=1)
    assert scratch.states() == {"a": "cancelled", "undo-a": "done"}
