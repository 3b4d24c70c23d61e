"""Changes that passed as one tree land as one merge, through the real command (D1)."""

import base64
import json

import pytest

from interlock.git.notes import REF
from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow

CHECK = """\
if test -e bad.txt; then echo bad; exit 1; fi
test -e a.txt || exit 0
until test -e b.txt || test -e "{gate}"; do sleep 0.05; done
"""
"""With the change of a alone it ends only when the gate is there; with that of b too, at once."""
AGENT = 'echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"'


def pair(scratch: Scratch, *flags: str) -> None:
    """Run until a and b have landed: b finishes while the check of a runs, which never ends by itself."""
    scratch.write(check__sh=CHECK.format(gate=scratch.gates / "a"))
    wait = WAIT.format(gate=scratch.gates / "b")
    agent = f'if test "$INTERLOCK_TASK_ID" = b; then {wait}; fi\n{AGENT}'
    scratch.graph("  a: {goal: Write a}\n  b: {goal: Write b}\n", agent, verify="sh check.sh")
    run = scratch.start("run", *flags)
    run.wait_for_line("a: change made")
    (scratch.gates / "b").touch()
    assert run.wait() == 0, run.output


def parents(scratch: Scratch, commit: str = "main") -> list[str]:
    return scratch.git("show", "-s", "--format=%P", commit).split()


def files(scratch: Scratch, commit: str) -> set[str]:
    return set(scratch.git("ls-tree", "--name-only", commit).split())


def test_two_changes_that_passed_as_one_land_as_one_merge(scratch: Scratch) -> None:
    """D1: the check of the first alone is not waited for. Main moves once, to the tree that was tested."""
    pair(scratch)
    assert scratch.states() == {"a": "done", "b": "done"}
    base, own = parents(scratch)
    assert scratch.git("show", "-s", "--format=%s", "main") == "Land a and b"
    landed = [fact["fact"] for fact in scratch.facts("Landed")]
    assert [(fact["task"], fact["commit"], fact["base"]) for fact in landed] == [
        (name, scratch.git("rev-parse", "main"), base) for name in "ab"
    ]
    joined = [fact["fact"] for fact in scratch.facts("CandidateJoined")]
    assert {fact["tree"] for fact in joined} == {scratch.git("rev-parse", "main^{tree}")}
    assert [check["reused"] for fact in joined for check in fact["checks"]] == [True, True]
    assert [fact["joined"]["own"] for fact in joined] == [scratch.git("rev-parse", f"{own}^"), own]
    assert scratch.git("log", "--format=%s", f"{base}..{own}").split("\n") == ["Write b", "Write a"]
    assert {"a.txt", "b.txt"} <= files(scratch, "main") and "b.txt" not in files(scratch, f"{own}^")


def test_what_landed_as_one_is_shown_and_verified_for_each(scratch: Scratch) -> None:
    """D9, D16: each task has its own diff, its own evidence, and its share of one statement."""
    pair(scratch)
    assert "passed as one with b, to land as one merge" in scratch.interlock("show", "a")
    assert "+++ b/a.txt" in scratch.interlock("diff", "a")
    assert "b.txt" not in scratch.interlock("diff", "a")
    assert "landed" in scratch.interlock("explain", "a")
    commit = scratch.git("rev-parse", "main")
    assert "a" in scratch.interlock("explain", commit)
    scratch.interlock("verify", "main")
    note = json.loads(scratch.git("notes", "--ref", REF, "show", "main"))
    said = json.loads(base64.b64decode(note["payload"]))["predicate"]["interlock"]
    assert [change["task"] for change in said["changes"]] == ["a", "b"]
    assert said["tree"] == {"gitTree": scratch.git("rev-parse", "main^{tree}")}


def test_one_of_them_is_undone_and_the_other_stays(scratch: Scratch) -> None:
    """D8: only the commit of that task is reverted."""
    pair(scratch)
    assert "  undo a (" in scratch.interlock("undo", "a", code=None)
    scratch.interlock("undo", "a", "--yes")
    scratch.interlock("run", code=1)  # as a is not done any more
    assert {"b.txt"} == files(scratch, "main") & {"a.txt", "b.txt"}
    states = scratch.states()
    assert (states["a"], states["b"]) == ("cancelled", "done")
