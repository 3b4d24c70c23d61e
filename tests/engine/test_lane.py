"""Two changes are checked at once through the real command, and main is green at every commit (D1)."""

import asyncio
import os
from pathlib import Path

import pytest

from interlock.engine.project import open_project
from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow

MEET = """\
test -e a.txt || exit 0
if test -e b.txt; then touch "$GATES/b"; else touch "$GATES/a"; fi
n=0
until test -e "$GATES/a" && test -e "$GATES/b"; do
  n=$((n+1)); test $n -lt 1200 || exit 1; sleep 0.05
done
"""
"""A check that ends only while that of the other change is there too."""
AGENT = 'echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"'
FIRST_WRONG = 'test "$INTERLOCK_TASK_ID$INTERLOCK_ATTEMPT" != a1 || { echo wrong > a.txt; exit; }\n'


def meeting(scratch: Scratch) -> Path:
    """A folder outside where the checks meet: none of the toolchains, which are part of their environment."""
    folder = scratch.root.parent / "meeting"
    folder.mkdir(exist_ok=True)
    return folder


def after_a(scratch: Scratch) -> str:
    """For an agent: b is made when a is being checked."""
    gate = WAIT.format(gate=meeting(scratch) / "a")
    return f'if test "$INTERLOCK_TASK_ID" = b; then {gate}; fi\n'


def verdicts(scratch: Scratch) -> list[tuple[str, str, str]]:
    """Kind, task and base of what became of each candidate, in order."""
    found = scratch.facts("CandidatePassed", "CandidateStale", "PhaseFailed", "Landed")
    return [(fact["kind"], fact["fact"]["task"], fact["fact"]["base"]) for fact in found]


def main_commits(scratch: Scratch, count: int) -> list[str]:
    return scratch.git("log", "--format=%H", f"-{count}", "main").split()


def builds(scratch: Scratch) -> list[tuple[str, list[str]]]:
    """Each build: its task, and those that it was on top of."""
    return [(fact["fact"]["task"], fact["fact"]["ahead"]) for fact in scratch.facts("BuildStarted")]


def test_two_changes_are_checked_at_the_same_time_and_both_land(scratch: Scratch) -> None:
    """D1: neither check could end if it had to wait for the other. The second runs once."""
    scratch.write(check__sh=f'GATES="{meeting(scratch)}"\n{MEET}', interlock__toml="land_together = false\n")
    scratch.graph(
        "  a: {goal: a}\n  b: {goal: b}\n",
        after_a(scratch) + AGENT,
        verify="sh check.sh",
    )
    start = scratch.git("rev-parse", "main")
    scratch.interlock("run", "--unsafe-no-sandbox")  # so that the checks can meet in a folder outside
    assert scratch.states() == {"a": "done", "b": "done"}
    _, first = main_commits(scratch, 2)
    assert verdicts(scratch) == [
        ("CandidatePassed", "a", start),
        ("Landed", "a", start),
        ("CandidatePassed", "b", first),
        ("Landed", "b", first),
    ]
    assert builds(scratch) == [("b", ["a"])]
    passed = [fact["fact"] for fact in scratch.facts("CandidatePassed")]
    assert [check["reused"] for fact in passed for check in fact["checks"]] == [False, True]
    said = scratch.interlock("explain", "b")
    assert "started because: tested early, on top of a (queued)" in said
    assert "`sh check.sh` passed (reused: the same files were tested before)" in said


COUNTS = """\
n=0
for test in *.case; do n=$((n+1)); echo "ok $n - $test"; done
echo "1..$n"
test -e a1.case || exit 0
case $(test -e one.case; echo $?) in
  1) touch "$GATES/b-ended";;
  0) touch "$GATES/a"; n=0
     until test -e "$GATES/b-ended"; do n=$((n+1)); test $n -lt 1200 || exit 1; sleep 0.05; done;;
esac
"""
"""A check with a report. That of `a` ends after that of `b`, which is on top of it."""


def test_tests_that_a_change_removes_are_counted_beside_those_of_the_change_below_it(
    scratch: Scratch,
) -> None:
    """a adds two tests and b removes two others, so that main had as many before."""
    cases = dict.fromkeys(("one__case", "two__case", "three__case", "four__case", "five__case"), "")
    scratch.write(check__sh=f'GATES="{meeting(scratch)}"\n{COUNTS}', **cases)
    agent = "case $INTERLOCK_TASK_ID in a) touch a1.case a2.case;; b) rm one.case two.case;; esac"
    scratch.graph("  a: {goal: a}\n  b: {goal: b}\n", after_a(scratch) + agent, verify="sh check.sh")
    scratch.interlock("run", "--unsafe-no-sandbox")
    assert builds(scratch) == [("b", ["a"])]
    evidence = {task["id"]: task["evidence"] for task in scratch.status()["tasks"]}
    assert (evidence["a"]["fewer_tests"], evidence["b"]["fewer_tests"]) == (0, 2)
    assert evidence["b"]["removed_tests"] == ["one.case", "two.case"]
    trailer = scratch.git("log", "-1", "--format=%(trailers:key=Interlock-Evidence,valueonly)", "main")
    assert "observed, it removes tests of main, without 2 tests of main" in trailer


def test_when_the_first_turns_red_the_second_is_built_again_and_lands(scratch: Scratch) -> None:
    """What was checked on top of a change that did not land never reaches main."""
    scratch.write(check__sh=f'GATES="{meeting(scratch)}"\n{MEET}grep -qx a a.txt\n')
    scratch.graph(
        "  a: {goal: a, retries: 1}\n  b: {goal: b}\n",
        after_a(scratch) + FIRST_WRONG + AGENT,
        verify="sh check.sh",
    )
    scratch.interlock("run", "--unsafe-no-sandbox")
    assert scratch.states() == {"a": "done", "b": "done"}
    found = [verdict[:2] for verdict in verdicts(scratch)]
    assert [task for kind, task in found if kind == "PhaseFailed"] == ["a"]
    assert builds(scratch)[0] == ("b", ["a"])
    for commit in main_commits(scratch, 2):
        names = scratch.git("ls-tree", "--name-only", commit).split()
        assert "a.txt" not in names or scratch.git("show", f"{commit}:a.txt") == "a"


@pytest.mark.parametrize("brake", ["true", "false"])
def test_no_more_changes_are_checked_at_once_than_there_are_processors(scratch: Scratch, brake: str) -> None:
    """Whatever brakes the start of agents: a check takes a processor for itself."""
    scratch.write(interlock__toml=f"lane_depth = 10000\nhost_brake = {brake}\n")

    async def depth() -> int:
        async with open_project(scratch.root) as project:
            return project.lane_depth

    scratch.graph("  a: {goal: a}\n")
    assert asyncio.run(depth()) == os.cpu_count()


def test_with_a_lane_depth_of_one_changes_are_checked_one_after_the_other(scratch: Scratch) -> None:
    scratch.write(interlock__toml="lane_depth = 1\n")
    scratch.graph("  a: {goal: a}\n  b: {goal: b}\n  c: {goal: c}\n", verify="'true'")
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done", "c": "done"}
    assert builds(scratch) == []
    lane = [fact["fact"]["task"] for fact in scratch.facts("CandidatePassed", "Landed")]
    assert lane[0::2] == lane[1::2]
