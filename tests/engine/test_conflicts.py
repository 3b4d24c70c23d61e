"""Conflicts that a command resolves: generated files by `regenerate`, others by mergiraf (A17)."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch
from tests.run.tree import linux

pytestmark = [pytest.mark.slow, pytest.mark.sandbox, linux]

LOCK = "names.lock"
GENERATE = 'echo "# $(ls names | wc -l) names" > names.lock; ls names | tr "\\n" " " >> names.lock\n'
"""Makes one line of all names, so that two changes that add one conflict."""
AGENT = f"""\
touch "names/$INTERLOCK_TASK_ID"
sh generate.sh
test "$INTERLOCK_ATTEMPT" != 1 || {WAIT}
"""
TASKS = "  one: {goal: one}\n  two: {goal: two}\n"
CHECK = "sh generate.sh && git diff --exit-code names.lock"
"""Fails unless the lock file is what the generator makes of the tree."""


def project(
    scratch: Scratch, command: str = "sh generate.sh", *, agent: str = AGENT, tasks: str = TASKS
) -> None:
    """Two agents that start together, and each add a name and make the lock file again."""
    (scratch.root / "names").mkdir()
    scratch.write(generate__sh=GENERATE)
    (scratch.root / "names/zero").touch()
    (scratch.root / LOCK).write_text("# 1 names\nzero ")
    scratch.commit()
    regenerate = f'{{names.lock: "{command}"}}' if command else "{}"
    gate = str(scratch.gates / "both")
    verify = f'"{CHECK}"'
    scratch.graph(tasks, agent.format(gate=gate), regenerate=regenerate, verify=verify)


def run_together(scratch: Scratch, code: int = 0) -> None:
    """Let the agents end only after both have started."""
    run = scratch.start("run", "--max-parallel", "2")
    for task in ("one", "two"):
        run.wait_for_line(f"{task}")
    while len(scratch.facts("SessionOpened")) < 2:
        assert not run.has_ended, run.output
    (scratch.gates / "both").touch()
    assert run.wait() == code, run.output


def resolved(scratch: Scratch) -> list[list[dict[str, str]]]:
    return [fact["fact"].get("resolved", []) for fact in scratch.facts("CandidatePassed", "CandidateJoined")]


def test_a_lock_file_in_which_two_changes_conflict_is_made_again_and_both_land(scratch: Scratch) -> None:
    project(scratch)
    run_together(scratch)
    assert scratch.states() == {"one": "done", "two": "done"}
    assert scratch.facts("PhaseFailed") == []
    assert sorted(scratch.git("show", f"main:{LOCK}").splitlines()[1].split()) == ["one", "two", "zero"]
    made = [{"path": LOCK, "command": "sh generate.sh"}]
    assert resolved(scratch) == [[], made]
    runs = (scratch.root / ".git/interlock/evidence").glob("**/merge/*.log")
    assert [path.read_text().count("# interlock: tree") for path in runs] == [1]
    (second,) = [
        fact["fact"]["task"] for fact in scratch.facts("CandidatePassed") if fact["fact"].get("resolved")
    ]
    assert f"conflict in {LOCK} resolved by `sh generate.sh`" in scratch.interlock("explain", second)
    trailers = scratch.git("log", "-1", "--format=%(trailers:key=Interlock-Resolved,valueonly)", "main")
    assert trailers == f"{LOCK} by sh generate.sh"


def test_a_lock_file_is_made_again_where_workspaces_are_copies(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_SANDBOX", "landlock")
    project(scratch)
    run_together(scratch)
    assert scratch.facts("PhaseFailed") == []
    assert sorted(scratch.git("show", f"main:{LOCK}").splitlines()[1].split()) == ["one", "two", "zero"]


def test_a_run_that_is_killed_while_a_lock_file_is_made_goes_on_and_lands_both(scratch: Scratch) -> None:
    wait = f"while ! test -e {scratch.gates / 'made'}; do sleep 0.05; done"
    project(scratch, f"{wait}; sh generate.sh")
    run = scratch.start("run", "--max-parallel", "2")
    while len(scratch.facts("SessionOpened")) < 2:
        assert not run.has_ended, run.output
    (scratch.gates / "both").touch()
    while not list((scratch.root / ".git/interlock/evidence").glob("**/merge/*.log")):
        assert not run.has_ended, run.output
    run.close()
    (scratch.gates / "made").touch()
    scratch.interlock("run")
    assert scratch.states() == {"one": "done", "two": "done"}
    assert scratch.facts("PhaseFailed") == []
    assert sorted(scratch.git("show", f"main:{LOCK}").splitlines()[1].split()) == ["one", "two", "zero"]
    assert not list((scratch.root / ".git/interlock/check").iterdir())
    scratch.git("fsck", "--strict")


def test_without_the_setting_the_same_conflict_goes_back_to_its_author(scratch: Scratch) -> None:
    project(scratch, "")
    run_together(scratch)
    (failed,) = [fact["fact"] for fact in scratch.facts("PhaseFailed")]
    assert failed["error"] == "merge-conflict"
    assert resolved(scratch) == [[], []]


def test_only_the_conflicting_files_are_taken_from_what_the_command_leaves(scratch: Scratch) -> None:
    project(scratch, "sh generate.sh; echo more > extra; echo worse >> generate.sh; rm names/zero")
    run_together(scratch)
    assert scratch.states() == {"one": "done", "two": "done"}
    assert scratch.facts("PhaseFailed") == []
    landed = scratch.git("ls-tree", "-r", "--name-only", "main").splitlines()
    assert "extra" not in landed
    assert "names/zero" in landed
    assert scratch.git("show", "main:generate.sh") == GENERATE.strip()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("echo no registry; exit 3", "`echo no registry; exit 3` exited 3"),
        ("true", f"`true` left {LOCK} as main has it"),
        (f"ln -sf /etc/passwd {LOCK}", f"left no usable {LOCK}"),
        (f"rm {LOCK}; mkfifo {LOCK}", f"left no usable {LOCK}"),
        (f"rm {LOCK}", f"left no usable {LOCK}"),
        (f"truncate -s 40M {LOCK}", f"left no usable {LOCK}"),
        (f"printf ghp_%036d 7 >> {LOCK}", f"put a secret into {LOCK}"),
    ],
)
def test_a_command_that_leaves_no_usable_file_sends_the_conflict_back_with_the_reason(
    scratch: Scratch, command: str, told: str
) -> None:
    project(scratch, command)
    run_together(scratch)
    assert scratch.states() == {"one": "done", "two": "done"}
    (failed,) = [fact["fact"] for fact in scratch.facts("PhaseFailed")]
    assert (failed["error"], failed["attempt"]) == ("merge-conflict", 1)
    assert told in scratch.interlock("explain", failed["task"])
    if "registry" in command:
        assert "no registry" in failed["feedback"]
    log = f".git/interlock/{failed['log']}"
    assert f"    output: {log}\n" in scratch.interlock("explain", failed["task"])
    assert command in (scratch.root / log).read_text()


def test_a_change_that_conflicts_elsewhere_too_goes_back_and_no_command_runs(scratch: Scratch) -> None:
    agent = AGENT + 'echo "$INTERLOCK_TASK_ID" > README\n'
    project(scratch, agent=agent)
    run_together(scratch)
    (failed,) = [fact["fact"] for fact in scratch.facts("PhaseFailed")]
    assert sorted(failed["why"]["fields"]["paths"]) == ["README", LOCK]
    assert not list((scratch.root / ".git/interlock/evidence").glob("*/*/merge"))


def recorded_by_person(scratch: Scratch, solution: str) -> None:
    """The person has once merged the two changes by hand, and git has recorded how."""
    scratch.git("config", "rerere.enabled", "true")
    for task in ("one", "two"):
        scratch.git("checkout", "-qB", task, "main")
        (scratch.root / "items.py").write_text(f"a = 1\nitem_{task} = 1\n")
        scratch.commit(task)
    merge = subprocess.run(["git", "merge", "-q", "one"], cwd=scratch.root, capture_output=True, check=False)
    assert merge.returncode
    (scratch.root / "items.py").write_text(solution)
    scratch.commit("merged by hand")
    scratch.git("checkout", "-q", "main")


def records(scratch: Scratch) -> dict[str, bytes]:
    found = (scratch.root / ".git/rr-cache").rglob("*")
    return {str(path): path.read_bytes() for path in found if path.is_file()}


def test_a_conflict_that_the_person_has_resolved_before_is_resolved_in_the_same_way(scratch: Scratch) -> None:
    two_lists(scratch)
    recorded_by_person(scratch, "a = 1\nitem_one = item_two = 1\n")
    before = records(scratch)
    run_together(scratch)
    assert scratch.facts("PhaseFailed") == []
    assert scratch.git("show", "main:items.py").split("\n") == ["a = 1", "item_one = item_two = 1"]
    assert resolved(scratch) == [[], [{"path": "items.py", "command": "git rerere"}]]
    assert records(scratch) == before


def test_what_the_person_has_not_resolved_is_not_guessed_and_nothing_is_recorded(scratch: Scratch) -> None:
    two_lists(scratch, "other_$INTERLOCK_TASK_ID")
    recorded_by_person(scratch, "a = 1\nitem_one = item_two = 1\n")
    before = records(scratch)
    run_together(scratch)
    assert [fact["fact"]["error"] for fact in scratch.facts("PhaseFailed")] == ["merge-conflict"]
    assert records(scratch) == before


MERGIRAF = """\
#!/bin/sh
# Of the real program: `merge BASE LEFT RIGHT -p PATH`, the result on stdout. Keeps the lines of both sides.
test "$1" = merge -a "$5" = -p || exit 64
case "$2 $3 $4" in *.py) ;; *) cat "$3"; exit 1;; esac
grep -q impossible "$3" "$4" && exit 1
if touch /etc/here 2>/dev/null || test -e "{root}/.git/HEAD"; then echo not confined; exit 0; fi
sort -u "$3" "$4"
"""


@pytest.fixture
def mergiraf(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of that name on PATH, outside of the repository."""
    program = scratch.gates / "mergiraf"
    program.write_text(MERGIRAF.format(root=scratch.root))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{scratch.gates}:{os.environ['PATH']}")
    return program


def two_lists(scratch: Scratch, line: str = "item_$INTERLOCK_TASK_ID") -> None:
    """Two agents that start together and add a line to the same place."""
    scratch.write(items__py="a = 1\n")
    gate = WAIT.format(gate=scratch.gates / "both")
    agent = f'echo "{line} = 1" >> items.py\ntest "$INTERLOCK_ATTEMPT" != 1 || {gate}'
    scratch.graph(TASKS, agent, verify='"! grep confined items.py"')


@pytest.mark.usefixtures("mergiraf")
def test_a_file_in_which_both_added_lines_is_merged_by_mergiraf_where_it_is_installed(
    scratch: Scratch,
) -> None:
    two_lists(scratch)
    run_together(scratch)
    assert scratch.facts("PhaseFailed") == []
    assert scratch.git("show", "main:items.py").split("\n") == ["a = 1", "item_one = 1", "item_two = 1"]
    assert resolved(scratch) == [[], [{"path": "items.py", "command": "mergiraf"}]]


@pytest.mark.usefixtures("mergiraf")
def test_what_mergiraf_cannot_merge_goes_back_to_its_author(scratch: Scratch) -> None:
    two_lists(scratch, "impossible_$INTERLOCK_TASK_ID")
    run_together(scratch)
    assert [fact["fact"]["error"] for fact in scratch.facts("PhaseFailed")] == ["merge-conflict"]
    assert scratch.states() == {"one": "done", "two": "done"}


@pytest.mark.usefixtures("mergiraf")
def test_mergiraf_is_not_used_when_the_settings_say_so(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_STRUCTURAL_MERGE", "off")
    two_lists(scratch)
    run_together(scratch)
    assert [fact["fact"]["error"] for fact in scratch.facts("PhaseFailed")] == ["merge-conflict"]


GREEN_ALONE = "test ! -e login || test ! -e search || { echo both are there; exit 1; }"
PAIR = """\
  search: {goal: find things}
  login: {goal: let people in}
"""
SEARCH_FIRST = """\
case $INTERLOCK_TASK_ID in
login) echo "people may come in" > login; {gate};;
*) test "$INTERLOCK_ATTEMPT" = 1 && touch search || cp "$INTERLOCK_PROMPT_FILE" found;;
esac
"""


def test_two_changes_that_pass_alone_and_fail_together_are_named_with_the_check(scratch: Scratch) -> None:
    """The change of `search` passed, and could not land at once: a person had a file in its way."""
    gate = WAIT.format(gate=scratch.gates / "both")
    scratch.write(check__sh=GREEN_ALONE)
    scratch.graph(PAIR, SEARCH_FIRST.format(gate=gate), verify="sh check.sh")
    scratch.write(search="a note of the person")
    run = scratch.start("run", "--max-parallel", "2")
    run.wait_for_line("search")
    while not scratch.facts("CandidatePassed"):
        assert not run.has_ended, run.output
    (scratch.gates / "both").touch()
    while "login" not in [fact["fact"]["task"] for fact in scratch.facts("Landed")]:
        assert not run.has_ended, run.output
    (scratch.root / "search").unlink()
    assert run.wait() == 0, run.output
    (failed,) = [fact["fact"] for fact in scratch.facts("PhaseFailed")]
    pair = failed["why"]["fields"]["cause"]
    assert (pair["code"], pair["fields"]["tasks"], pair["fields"]["is_known"]) == (
        "fails-together",
        ["login"],
        True,
    )
    told = "`sh check.sh` passes without login and without search, and fails with both"
    assert told in scratch.interlock("explain", "search")
    prompt = scratch.git("show", "main:found")
    assert told in prompt
    assert "What login changed: it landed before attempt 2, and stays on main" in prompt
    assert "+people may come in" in prompt


SUMS = """\
case "$INTERLOCK_TASK_ID-$INTERLOCK_ATTEMPT" in
one-*) sed -i 1s/0/1/ sum;;
two-1) sed -i 5s/0/1/ sum; {gate};;
*) touch two;;
esac
"""


def test_of_a_change_that_was_never_tested_alone_only_what_may_be_is_said(scratch: Scratch) -> None:
    """Both changes edit one file; the second was never tested on a main without the first."""
    scratch.write(check__sh="test $(grep -c 1 sum) -lt 2\n", sum="0\n\n\n\n0\n")
    gate = WAIT.format(gate=scratch.gates / "both")
    agent = SUMS.format(gate=gate)
    scratch.graph(TASKS, agent, verify="sh check.sh")
    run = scratch.start("run", "--max-parallel", "2")
    while len(scratch.facts("SessionOpened")) < 2 or not scratch.facts("Landed"):
        assert not run.has_ended, run.output
    (scratch.gates / "both").touch()
    assert run.wait() == 0, run.output
    (failed,) = [fact["fact"] for fact in scratch.facts("PhaseFailed")]
    pair = failed["why"]["fields"]["cause"]["fields"]
    assert (pair["tasks"], pair["is_known"]) == (["one"], False)
    told = "one landed meanwhile and edited the same files or what the check reads"
    assert told in scratch.interlock("explain", "two")
