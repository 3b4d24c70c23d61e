"""D8: on a main that another hand made red lands only a fix or a revert, and the commit to blame is named."""

import json

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow

TASKS = "  a: {goal: x}\n  b: {goal: x, needs: [a]}\n"
CHECK = "test ! -e broken"
"""No report: which tests fail is not known, so no change could be judged beside it."""


def push(scratch: Scratch, name: str) -> str:
    """A person commits a file to main."""
    (scratch.root / name).write_text("x")
    return scratch.commit(f"Add {name}")


def subjects(scratch: Scratch) -> list[str]:
    return scratch.git("log", "--format=%s", "--first-parent", "main").splitlines()


def test_a_red_commit_before_a_run_freezes_main_until_it_is_undone(scratch: Scratch) -> None:
    scratch.graph(TASKS, verify=f"'{CHECK}'")
    scratch.interlock("run", "--only", "a")
    good = push(scratch, "one")
    red = push(scratch, "broken")
    last = push(scratch, "two")
    said = scratch.interlock("run", code=6)
    assert scratch.git("rev-parse", "main") == last, "nothing landed"
    why = f"main is red since {red[:12]} by Person (Add broken): `{CHECK}` fails"
    command = f"interlock undo {red[:12]}"
    assert why in said and f"next: {command}" in said, said
    for shown in (scratch.interlock("status"), scratch.interlock("inbox")):
        assert why in shown, shown
    assert command in scratch.interlock("inbox") and command in scratch.interlock("explain", "b")
    frozen = scratch.status()["main"]["frozen"]
    assert (frozen["culprit"]["commit"], frozen["next"], frozen["checks"]) == (red, command, [CHECK])
    assert scratch.interlock("status", "--exit-code", code=6)
    tried = [each["fact"] for each in scratch.facts("CulpritFound")]
    assert [(each["commit"], each["author"]) for each in tried] == [(red, "Person")]
    scratch.interlock("undo", red[:12], "--yes")
    said = scratch.interlock("run")
    assert subjects(scratch)[:3] == ["x", f"Undo {red[:12]}", "Add two"], said
    assert scratch.states()["b"] == "done" and scratch.status()["main"]["frozen"] is None
    assert good in scratch.git("rev-list", "main")


def test_a_red_commit_during_a_run_lets_nothing_land_and_its_undo_lets_the_queue_go_on(
    scratch: Scratch,
) -> None:
    first, gate = scratch.gates / "first", scratch.gates / "gate"
    agent = (
        f"case $INTERLOCK_TASK_ID in a) {WAIT.format(gate=first)};; c) {WAIT.format(gate=gate)};; esac\n"
        'echo x > "$INTERLOCK_TASK_ID.txt"'
    )
    scratch.graph("  a: {goal: a}\n  c: {goal: c}\n", agent, verify=f"'{CHECK}'")
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    run.wait_for_line("c: implement started")
    red = push(scratch, "broken")
    first.touch()
    run.wait_for_line(
        f"fails on main since {red[:12]} by Person (Add broken). Next: interlock undo {red[:12]}"
    )
    assert subjects(scratch)[0] == "Add broken"
    assert f"main is red since {red[:12]} by Person" in scratch.interlock("status")
    scratch.interlock("undo", red, "--yes")
    run.wait_for_line("a: landed as")
    gate.touch()
    assert run.wait() == 0, run.output
    assert sorted(subjects(scratch)[:2]) == ["a", "c"] and subjects(scratch)[2] == f"Undo {red[:12]}"


def test_a_person_who_mends_main_sets_it_free(scratch: Scratch) -> None:
    scratch.graph(TASKS, verify=f"'{CHECK}'")
    scratch.interlock("run", "--only", "a")
    push(scratch, "broken")
    scratch.interlock("run", code=6)
    (scratch.root / "broken").unlink()
    scratch.commit("Mend it")
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done"} and scratch.facts("RevertPrepared") == []


REPORT = (
    "fail=0; for n in *.must; do "
    'if test -e "${n%.must}"; then echo "ok 1 - $n"; else echo "not ok 1 - $n"; fail=1; fi; done; '
    'echo "1..$(ls *.must | wc -l)"; exit $fail'
)


def test_a_change_that_only_makes_nothing_worse_waits_and_a_fix_lands(scratch: Scratch) -> None:
    """The check names its failing tests, so by `judge` every change would land on the red main."""
    (scratch.root / "here.must").write_text("")
    (scratch.root / "here").write_text("")
    scratch.write(check__sh=REPORT)
    gate = scratch.gates / "gate"
    agent = (
        f"case $INTERLOCK_TASK_ID in fix) {WAIT.format(gate=gate)}; echo > there;; "
        "*) echo x > $INTERLOCK_TASK_ID.txt;; esac"
    )
    scratch.graph(
        "  a: {goal: a}\n  other: {goal: other, needs: [a]}\n  fix: {goal: fix, needs: [a]}\n",
        agent,
        verify="sh check.sh",
    )
    scratch.interlock("run", "--only", "a")
    red = push(scratch, "there.must")
    run = scratch.start("run")
    run.wait_for_line("other: 1 check passed")
    assert subjects(scratch)[0] == "Add there.must"
    run.wait_for_line(f"fails on main since {red[:12]}")
    assert "waits until main is green: `sh check.sh` fails there" in scratch.interlock("explain", "other")
    gate.touch()
    assert run.wait() == 0, run.output
    assert subjects(scratch)[:3] == ["other", "fix", "Add there.must"], run.output


def test_a_commit_after_which_the_check_cannot_run_freezes_main_too(scratch: Scratch) -> None:
    (scratch.root / "check.sh").write_text("#!/bin/sh\n")
    (scratch.root / "check.sh").chmod(0o755)
    scratch.graph(f"{TASKS}  c: {{goal: x}}\n", verify="./check.sh")
    scratch.interlock("run", "--only", "a")
    scratch.interlock("cancel", "c")  # no failure
    scratch.git("rm", "-q", "check.sh")
    red = scratch.commit("Remove the check")
    said = scratch.interlock("run", code=6)
    assert f"next: interlock undo {red[:12]}" in said, said
    scratch.interlock("status", "--exit-code", code=6)
    scratch.interlock("undo", red, "--yes")
    scratch.interlock("retry", "c")
    scratch.interlock("run")
    assert set(scratch.states().values()) == {"done"}


def test_a_commit_that_is_undone_is_blamed_no_more_if_another_one_keeps_main_red(scratch: Scratch) -> None:
    (scratch.root / "here.must").write_text("")
    (scratch.root / "here").write_text("")
    scratch.write(check__sh=REPORT)
    scratch.graph(TASKS, verify="sh check.sh")
    scratch.interlock("run", "--only", "a")
    first, second = push(scratch, "there.must"), push(scratch, "far.must")
    assert f"next: interlock undo {first[:12]}" in scratch.interlock("run", code=6)
    scratch.interlock("undo", first, "--yes")
    said = scratch.interlock("run", code=6)
    assert subjects(scratch)[0] == f"Undo {first[:12]}", said
    for shown in (said, scratch.interlock("status"), scratch.interlock("inbox")):
        assert f"interlock undo {first[:12]}" not in shown and "interlock doctor" in shown, shown
    assert scratch.status()["main"]["frozen"]["culprit"] is None
    scratch.interlock("undo", second, "--yes")
    scratch.interlock("run")
    assert scratch.status()["main"]["frozen"] is None


def test_with_judge_the_same_change_lands_on_the_red_main(scratch: Scratch) -> None:
    (scratch.root / "here.must").write_text("")
    (scratch.root / "here").write_text("")
    scratch.write(check__sh=REPORT, interlock__toml='on_red_main = "judge"\n')
    scratch.graph(TASKS, verify="sh check.sh")
    scratch.interlock("run", "--only", "a")
    push(scratch, "there.must")
    scratch.interlock("run")
    assert subjects(scratch)[:2] == ["x", "Add there.must"] and scratch.facts("MainJudged") == []


def test_with_revert_a_red_commit_is_undone_without_a_person(scratch: Scratch) -> None:
    scratch.write(interlock__toml='on_red_main = "revert"\n')
    scratch.graph(TASKS, verify=f"'{CHECK}'")
    scratch.interlock("run", "--only", "a")
    red = push(scratch, "broken")
    scratch.interlock("run")
    assert subjects(scratch)[:3] == ["x", f"Undo {red[:12]}", "Add broken"]
    assert scratch.states() == {"a": "done", "b": "done", f"undo-{red[:12]}": "done"}


def test_with_revert_a_commit_that_was_found_before_is_undone_once(scratch: Scratch) -> None:
    """The setting is the person's own, so main does not move by it."""
    scratch.graph(TASKS, verify=f"'{CHECK}'")
    scratch.interlock("run", "--only", "a")
    red = push(scratch, "broken")
    scratch.interlock("run", code=6)
    (scratch.root / ".git" / "info" / "exclude").write_text("interlock.toml\n")
    scratch.write(interlock__toml='on_red_main = "revert"\n')
    scratch.interlock("run")
    assert subjects(scratch)[:3] == ["x", f"Undo {red[:12]}", "Add broken"]
    assert len(scratch.facts("RevertPrepared")) == 1


def test_two_green_changes_that_a_person_merges_into_a_red_main_are_undone_as_the_merge(
    scratch: Scratch,
) -> None:
    """Such a pair cannot land by the train: the second is checked on top of the first."""
    scratch.graph(TASKS, verify="'test ! -e one || test ! -e two'")
    scratch.interlock("run", "--only", "a")
    scratch.git("checkout", "-qb", "side")
    push(scratch, "one")
    scratch.git("checkout", "-q", "main")
    push(scratch, "two")
    scratch.git("merge", "-q", "--no-ff", "side", "-m", "Merge side")
    merge = scratch.git("rev-parse", "main")
    assert f"since {merge[:12]} by Person (Merge side)" in scratch.interlock("run", code=6)
    scratch.interlock("undo", merge, "--yes")
    scratch.interlock("run")
    assert subjects(scratch)[:3] == ["x", f"Undo {merge[:12]}", "Merge side"]
    there = scratch.git("ls-tree", "--name-only", "main").split()
    assert "two" in there and "one" not in there


def test_a_task_whose_rebased_landing_is_to_blame_starts_again_with_the_failure(scratch: Scratch) -> None:
    """A person puts a commit below it: both are green alone, and red together."""
    agent = (
        'if grep -q "the name is taken" "$INTERLOCK_PROMPT_FILE"; then echo x > other.txt; '
        'else echo x > "$INTERLOCK_TASK_ID.txt"; fi'
    )
    scratch.write(check__sh="test ! -e taken || test ! -e a.txt || { echo the name is taken; exit 1; }\n")
    scratch.graph("  a: {goal: x}\n  b: {goal: y, needs: [a]}\n", agent, verify="sh check.sh")
    scratch.interlock("run", "--only", "a")
    scratch.git("checkout", "-qb", "below", "HEAD~1")
    push(scratch, "taken")
    scratch.git("rebase", "-q", "below", "main")
    said = scratch.interlock("run")
    landed = scratch.facts("LandingSeen")[0]["fact"]["commit"]
    (found,) = [each["fact"] for each in scratch.facts("CulpritFound")]
    assert (found["commit"], found["landed_by"], found["reverted_by"]) == (landed, "a", "undo-a"), said
    (reopened,) = [each["fact"] for each in scratch.facts("TaskReopened")]
    assert "the name is taken" in reopened["feedback"]
    assert scratch.states() == {"a": "done", "b": "done", "undo-a": "done"}
    assert "the name is taken" in scratch.interlock("prompt", "a", "--attempt", "2")
    there = scratch.git("ls-tree", "--name-only", "main").split()
    assert "other.txt" in there and "a.txt" not in there


def test_a_check_that_a_change_outside_the_repository_broke_blames_no_commit(scratch: Scratch) -> None:
    outside = scratch.gates / "deep" / "outside"  # there the environment of checks does not look
    outside.parent.mkdir()
    outside.write_text("fine")
    scratch.graph(TASKS, verify=json.dumps(f"grep fine {outside}"))
    scratch.interlock("run", "--only", "a")
    push(scratch, "one")
    outside.write_text("gone")
    said = scratch.interlock("run", code=7)
    assert "something outside the repository changed" in said, said
    assert scratch.status()["main"]["frozen"] is None
