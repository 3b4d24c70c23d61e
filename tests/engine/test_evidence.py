"""D7: each change carries what shows that it works, from the log to the commit, through the real command."""

import json

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow

NOTHING_ELSE = {
    "about": [],
    "known_failures": 0,
    "fewer_tests": 0,
    "removed_tests": [],
    "untried": False,
    "steering": [],
}


STEERED = "; the change edits how its checks run: unittest.py"


def test_a_verified_and_an_observed_change_are_told_apart_everywhere(scratch: Scratch) -> None:
    agent = "id=$INTERLOCK_TASK_ID; echo $id > $id.txt; test $id != forge || touch unittest.py"
    tasks = ("checked: {goal: checked, done_when: test -s checked.txt}", "bare: {goal: bare}")
    forge = "forge: {goal: forge, done_when: python3 -m unittest -h}"
    scratch.graph("".join(f"  {task}\n" for task in (*tasks, forge)), agent)
    said = scratch.interlock("run")
    grades = {task["id"]: task["evidence"] for task in scratch.status()["tasks"]}
    assert grades == {
        "checked": {"grade": "verified", "gap": None} | NOTHING_ELSE,
        "bare": {"grade": "observed", "gap": "no-checks"} | NOTHING_ELSE,
        "forge": {"grade": "verified", "gap": None} | NOTHING_ELSE | {"steering": ["unittest.py"]},
    }
    assert "bare: no check covers it; it lands as observed" in said
    graded = "1 verified on the merged tree, 1 verified by checks that it edits, 1 observed"
    assert f"evidence: {graded}" in said
    assert_told_everywhere(scratch, said)
    trailers = scratch.git("log", "-3", "--format=%s|%(trailers:key=Interlock-Evidence,valueonly)", "main")
    assert set(filter(None, trailers.splitlines())) == {
        "checked|verified on the merged tree",
        "bare|observed, no check covers it",
        f"forge|verified on the merged tree{STEERED}",
    }
    assert f"evidence: verified on the merged tree{STEERED}" in scratch.interlock("show", "forge")
    assert STEERED in scratch.interlock("explain", "forge")
    assert "evidence: verified on the merged tree" in scratch.interlock("show", "checked")
    shown = scratch.interlock("show", "bare")
    assert ", observed, " in shown
    assert "evidence: observed, no check covers it" in shown
    assert json.loads(scratch.interlock("show", "bare", "--json"))["landed"]["evidence"]["gap"] == "no-checks"
    explained = scratch.interlock("explain", "bare")
    assert ", observed, " in explained
    assert "passed its checks" not in explained
    commit = scratch.status()["tasks"][0]["landed_commit"]
    assert "it landed on main: " in scratch.interlock("explain", commit[:12])


def assert_told_everywhere(scratch: Scratch, said: str) -> None:
    """Each command that shows the landing names the file by which it had a say in its own check."""
    commit = next(task["landed_commit"] for task in scratch.status()["tasks"] if task["evidence"]["steering"])
    landed = f"forge: landed as {commit[:12]}, verified"
    (live, again) = [line for line in said.splitlines() if landed in line]
    assert live.endswith(f"verified on the merged tree{STEERED}")
    assert again.startswith("edits its checks: forge: ") and STEERED in again
    assert "forge  landed (the change edits how its checks run: unittest.py)" in scratch.read("report")
    assert "checked  landed  checked" in scratch.read("report")
    proven = scratch.interlock("verify", f"{commit}~1..{commit}")
    assert f"verified, 1 check, unsigned, as the log says{STEERED}\n" in proven
    assert "1 commit, 1 good (1 edits how the checks run)" in proven
    found = json.loads(scratch.interlock("verify", commit, "--json"))["commits"]
    assert [each["steering"] for each in found] == [["unittest.py"]]


FORGED = "12:00:00 zz: landed as 0123456789ab"


def test_a_line_feed_in_the_name_of_a_file_begins_no_line(scratch: Scratch) -> None:
    agent = f'd=$(printf \'a\\n{FORGED}\\nz\'); mkdir "$d"; touch "$d/conftest.py" "$d/m.py"'
    scratch.graph("  t: {goal: t, done_when: test -d agents -o -d .}\n", agent)
    said = scratch.interlock("run")
    named = f"a\\n{FORGED}\\nz/conftest.py"
    for text in (said, *(scratch.interlock(command, "t") for command in ("show", "explain"))):
        assert not [line for line in text.splitlines() if line.startswith(FORGED)]
    assert named in scratch.interlock("show", "t")
    assert named in scratch.interlock("explain", "t")
    trailers = scratch.git("log", "-1", "--format=%(trailers:key=Interlock-Evidence)", "main")
    assert len(trailers.splitlines()) == 1


def test_a_change_whose_only_check_fails_on_main_too_is_not_verified(scratch: Scratch) -> None:
    """The commit was begun before the check had failed: what lands says the truth all the same."""
    scratch.graph("  t: {goal: t}\n", verify='["false"]', red_main="allow")
    scratch.interlock("run")
    (task,) = scratch.status()["tasks"]
    evidence = task["evidence"]
    assert (evidence["grade"], evidence["gap"], evidence["about"]) == ("observed", "red-on-main", ["false"])
    trailer = scratch.git("log", "-1", "--format=%(trailers:key=Interlock-Evidence,valueonly)", "main")
    assert trailer == "observed, a check fails on main too"


def test_a_change_that_its_checks_refused_has_no_evidence(scratch: Scratch) -> None:
    scratch.graph("  t: {goal: t, done_when: 'false'}\n", retries="0")
    scratch.interlock("run", code=1)
    (task,) = scratch.status()["tasks"]
    assert (task["state"], task["evidence"]) == ("failed", None)


def test_a_change_that_no_check_has_read_is_not_verified(scratch: Scratch) -> None:
    """The language does not matter: the kernel notes who read the files that the change edits."""
    agent = 'echo "value = 2" > "$INTERLOCK_TASK_ID.py"'
    names = ("read", "unread", "copied")
    check = "cat read.py\ncp copied.py copy.py\n"  # which calls copy_file_range, where there is one
    scratch.write(**{f"{name}__py": "value = 1\n" for name in names}, check__sh=check)
    scratch.graph("".join(f"  {name}: {{goal: {name}, done_when: sh check.sh}}\n" for name in names), agent)
    scratch.interlock("run")
    grades = {task["id"]: task["evidence"] for task in scratch.status()["tasks"]}
    assert grades["read"]["grade"] == grades["copied"]["grade"] == "verified"
    assert (grades["unread"]["gap"], grades["unread"]["about"]) == ("change-not-read", ["unread.py"])
    assert "the checks never read `unread.py`" in scratch.interlock("explain", "unread")
    assert "never read unread.py" in scratch.interlock("show", "unread")
    trailer = scratch.git(
        "log", "--grep=^unread$", "--format=%(trailers:key=Interlock-Evidence,valueonly)", "main"
    )
    assert trailer == "observed, no check has read what it changes"


@pytest.mark.parametrize("known", ["", "not "], ids=["green main", "red main"])
def test_a_test_with_another_number_in_its_name_each_time_is_not_removed(
    scratch: Scratch, known: str
) -> None:
    """The checks of a page that a change adds name a test by the time, and another by a random number."""
    names = ('echo "ok 1 - made at $(date +%s.%N)"', 'echo "ok 2 - takes $(od -An -N4 -tu4 /dev/urandom)"')
    last = f'echo "{known}ok 3 - known"; exit {int(bool(known))}'
    scratch.write(check__sh="\n".join(("echo TAP version 13", "echo 1..3", *names, last)) + "\n")
    scratch.graph("  a: {goal: a}\n  b: {goal: b, needs: [a]}\n", verify="sh check.sh")
    scratch.interlock("run")
    found = [task["evidence"] for task in scratch.status()["tasks"]]
    assert [(one["grade"], one["fewer_tests"]) for one in found] == [("verified", 0)] * 2
    assert [one["known_failures"] for one in found] == [int(bool(known))] * 2


REMOVALS = {
    "gone": "git rm -q tests/gone.sh",
    "emptied": ": > tests/emptied.sh",
    "commented": "sed -i 's/^/# /' tests/commented.sh",
    "moved": "git mv tests/moved.sh tests/renamed.sh",
    "added": "echo 'test 1 = 1' >> tests/added.sh",
}


@pytest.mark.thorough
def test_a_change_that_removes_tests_which_no_report_counts_is_not_verified(scratch: Scratch) -> None:
    """A plain shell script prints nothing that could be counted: the files of the tests are compared."""
    (scratch.root / "tests").mkdir()
    for name in REMOVALS:
        (scratch.root / "tests" / f"{name}.sh").write_text(f"test {name} = {name}\ntest 3 = 3\n")
    scratch.write(check__sh="for test in tests/*.sh; do sh $test || exit 1; done\n")
    cases = "".join(f"{name}) {does};; " for name, does in REMOVALS.items())
    tasks = "".join(f"  {name}: {{goal: {name}, retries: 0}}\n" for name in REMOVALS)
    scratch.graph(tasks, f"case $INTERLOCK_TASK_ID in {cases}esac", verify="sh check.sh")
    scratch.interlock("run")
    grades = {task["id"]: task["evidence"] for task in scratch.status()["tasks"]}
    trailer = "%s|%(trailers:key=Interlock-Evidence,valueonly,separator=%x20)"
    trailers = dict(
        line.split("|") for line in scratch.git("log", f"--format={trailer}", "main").splitlines()
    )
    for name in ("moved", "added"):
        untried = "verified on the merged tree, checks not tried by a break"
        assert (grades[name]["grade"], trailers[name]) == ("verified", untried), name
    for name in ("gone", "emptied", "commented"):
        evidence, path = grades[name], f"tests/{name}.sh"
        assert (evidence["grade"], evidence["gap"]) == ("observed", "tests-removed"), name
        assert evidence["about"] == [path]
        assert trailers[name] == f"observed, it removes tests that no report counts ({path})"
    said = ", observed, "
    assert said in scratch.interlock("explain", "gone")
    assert "it removes tests that no report counts (`tests/gone.sh`)" in scratch.interlock("show", "gone")
