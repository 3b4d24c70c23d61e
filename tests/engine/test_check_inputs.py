"""Checks are not run again on the files that they passed on, and see no others than they declare (D14)."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow


def test_a_check_is_not_run_again_on_the_tree_of_main_that_it_passed_on(scratch: Scratch) -> None:
    scratch.write(check__sh="test -e README\n", README="hello\n")
    scratch.graph('  a: {goal: a, done_when: "sh check.sh"}\n', "true")
    scratch.interlock("run")
    (tried,) = [fact["fact"]["result"] for fact in scratch.facts("BaseChecked")]
    (done,) = [fact["fact"] for fact in scratch.facts("NoChangeNeeded")]
    (check,) = done["checks"]
    assert check["reused"]
    assert (check["saw"], check["log"]) == (tried["saw"], tried["log"])
    assert "reused: the same files were tested before" in scratch.interlock("show", "a")


AREAS = """\
  a: {goal: a, touches: [one/**]}
  b: {goal: b, touches: [two/**], needs: [a]}
"""
AGENT = "case $INTERLOCK_TASK_ID in a) echo x > one/a;; b) echo x > two/b;; esac"


def two_areas(scratch: Scratch, *checks: tuple[str, str], agent: str = AGENT, tasks: str = AREAS) -> None:
    """A project with the folders `one`, `two` and `shared`, and checks as commands with inputs."""
    for folder in ("one", "two", "shared"):
        (scratch.root / folder).mkdir(exist_ok=True)
        (scratch.root / folder / "file").write_text(f"{folder}\n")
    written = ", ".join(f'{{run: "{command}", inputs: [{inputs}]}}' for command, inputs in checks)
    scratch.graph(tasks, agent, verify=f"[{written}]")


def checks_of(scratch: Scratch, task: str) -> dict[str, bool]:
    """The checks of a task's change that passed, and whether each was reused."""
    facts = [fact["fact"] for fact in scratch.facts("CandidatePassed")]
    (checks,) = [fact["checks"] for fact in facts if fact["task"] == task]
    return {check["command"]: check.get("reused", False) for check in checks}


def test_a_change_in_another_area_is_not_tested_again(scratch: Scratch) -> None:
    """The results on main count for the files that a change leaves as they are, also after main moved."""
    two_areas(scratch, ("ls one", "one/**, shared/**"), ("ls two", "two/**, shared/**"))
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done"}
    assert checks_of(scratch, "a") == {"ls one": False, "ls two": True}
    assert checks_of(scratch, "b") == {"ls one": True, "ls two": False}
    told = scratch.interlock("explain", "b")
    assert "`ls one` passed (reused: the same files were tested before)" in told


TRIES = """\
set -e
test -e one/file -a -e one/sub/file
hidden() {{ if "$@"; then echo "this must fail: $*"; exit 1; fi; }}
for file in two/file "{root}/two/file" one/link one/absolute one/folder/file one/../two/file \\
    ignored.txt built/product task-graph.yaml "{root}/task-graph.yaml" "{root}/.git/HEAD"
do hidden cat "$file"; done
for folder in two "{root}/two" .git/objects "{root}/.git/objects" .git/interlock /run/interlock/objects
do hidden ls "$folder"; done
hidden git cat-file --batch-all-objects --batch-check
hidden git show HEAD:two/file
if find . "{root}" -name file | grep two; then exit 1; fi
test "$PWD" != "{root}" || cat node_modules/package
"""
"""Ways to a file that is not among the inputs, all of which must fail, and what must be there."""


@pytest.fixture(params=["overlay", "copies"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "copies":
        monkeypatch.setenv("INTERLOCK_SANDBOX", "landlock")
    return str(request.param)


def test_a_check_sees_nothing_of_the_repository_but_its_inputs(scratch: Scratch, kind: str) -> None:
    root = scratch.root
    for folder in ("one/sub", "built", "node_modules"):
        (root / folder).mkdir(parents=True)
    (root / "one/sub/file").touch()
    (root / "one/tries.sh").write_text(TRIES.format(root=root))
    (root / "built/product").write_text("secret\n")
    (root / "node_modules/package").write_text("installed\n")
    (root / "one/link").symlink_to("../two/file")
    (root / "one/folder").symlink_to("../two")
    (root / "one/absolute").symlink_to(root / "two/file")
    scratch.write(__gitignore="ignored.txt\nbuilt/\nnode_modules/\n", ignored__txt="secret\n")
    two_areas(scratch, ("sh one/tries.sh", "one/**"), tasks="  a: {goal: a}\n")
    scratch.interlock("run")
    assert scratch.states() == {"a": "done"}, kind
    assert scratch.git("show", "main:one/a") == "x"


def test_results_are_not_reused_in_another_environment(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = ("ls one", "one/**"), ("ls two", "two/**")
    two_areas(scratch, *checks, tasks="  a: {goal: a}\n")
    scratch.interlock("run")
    two_areas(scratch, *checks)
    monkeypatch.setenv("LC_OTHER", "1")
    scratch.interlock("run")
    tried = [fact["fact"]["result"] for fact in scratch.facts("BaseChecked")]
    assert [(each["command"], each.get("reused", False)) for each in tried] == 2 * [
        ("ls one", False),
        ("ls two", False),
    ]
    first, other = tried[1]["environment"], tried[3]["environment"]
    assert first != other
    (passed,) = [fact["fact"] for fact in scratch.facts("CandidatePassed") if fact["fact"]["task"] == "b"]
    assert {check["environment"] for check in passed["checks"]} == {other}


def test_without_a_sandbox_no_result_of_a_check_with_inputs_is_reused(scratch: Scratch) -> None:
    two_areas(scratch, ("ls one", "one/**"), ("ls two", "two/**"))
    scratch.interlock("run", "--unsafe-no-sandbox")
    assert checks_of(scratch, "b") == {"ls one": False, "ls two": False}


def test_code_is_broken_on_purpose_only_where_a_check_sees_it(scratch: Scratch) -> None:
    for folder in ("one", "two"):
        (scratch.root / folder).mkdir()
        (scratch.root / folder / "shapes.py").write_text("def area(side):\n    return side * side\n")
        (scratch.root / folder / "test_shapes.py").write_text("import shapes\nassert shapes.area(2) == 4\n")
    two_areas(scratch, ("python3 one/test_shapes.py", "one/**"), tasks="  a: {goal: a}\n")
    scratch.interlock("run")
    (tried,) = [fact["fact"] for fact in scratch.facts("CanaryTried")]
    assert tried["noticed"]
    assert tried["places"] == ["one.shapes.area"]


def test_a_change_that_no_check_sees_is_not_called_verified(scratch: Scratch) -> None:
    agent = "echo 'x = 1' > two/code.py"
    two_areas(scratch, ("ls one", "one/**"), tasks="  a: {goal: a}\n", agent=agent)
    scratch.interlock("run")
    (task,) = scratch.status()["tasks"]
    assert (task["evidence"]["grade"], task["evidence"]["gap"]) == ("observed", "change-not-read")
    assert task["evidence"]["about"] == ["two/code.py"]


def test_the_agents_of_a_graph_with_inputs_are_read_before_a_person_agrees_to_them(scratch: Scratch) -> None:
    """That reads the graph without looking at the files of the repository."""
    two_areas(scratch, ("ls one", "one/**"), tasks="  a: {goal: a}\n")
    assert "cannot be read" not in scratch.interlock("plan")


@pytest.mark.parametrize("line", ["two/file", "python3 two/file"], ids=["not found", "red"])
@pytest.mark.parametrize("command", ["run", "doctor"])
def test_a_check_that_lacks_a_file_outside_its_inputs_is_told_so(
    scratch: Scratch, command: str, line: str
) -> None:
    two_areas(scratch, (line, "one/**, shared/**"), tasks="  a: {goal: a}\n")
    told = scratch.interlock(command, code=None)
    assert (
        "if it passes in your shell, add the file that it lacks to its `inputs` (one/**, shared/**)" in told
    )


@pytest.mark.parametrize("command", ["plan", "run"])
def test_an_input_that_matches_nothing_is_named_with_its_line(scratch: Scratch, command: str) -> None:
    two_areas(scratch, ("ls one", "one/**, lib/**"), tasks="  a: {goal: a}\n")
    told = scratch.interlock(command)
    assert "the input `lib/**` matches no file of the repository" in told
    assert "task-graph.yaml:5:" in told


def test_a_landed_change_that_deleted_the_last_file_of_an_input_can_be_undone(scratch: Scratch) -> None:
    two_areas(scratch, ("true two", "two/**"), tasks="  a: {goal: a}\n", agent="rm -r two")
    scratch.interlock("run")
    assert not (scratch.root / "two").exists()
    scratch.interlock("undo", "a", "--yes")
    scratch.interlock("run", code=1)  # a itself does not count as done any more
    assert (scratch.root / "two").is_dir()
    assert scratch.states()["undo-a"] == "done"


FLAKES = """\
test -e done || exit 0
count="$GATES/runs"
echo run >> "$count"
test "$(wc -l < "$count")" -ne 1
"""
"""A check that fails once, the first time that it sees a change."""


def test_a_check_that_fails_once_is_run_again_and_recorded_as_flaky(scratch: Scratch) -> None:
    scratch.write(check__sh=f'GATES="{scratch.gates}"\n{FLAKES}')
    scratch.graph("  a: {goal: a}\n", "echo x > done", verify='["sh check.sh", "ls"]')
    scratch.interlock(
        "run", "--unsafe-no-sandbox"
    )  # so that the check can count its runs in a folder outside
    assert scratch.states() == {"a": "done"}
    assert not scratch.facts("PhaseFailed")
    assert (scratch.gates / "runs").read_text() == 2 * "run\n"
    (flaked,) = [fact["fact"] for fact in scratch.facts("CheckFlaked")]
    assert (flaked["task"], flaked["command"]) == ("a", "sh check.sh")
    assert flaked["red_log"] != flaked["log"]
    told = scratch.interlock("errors", "--flaky")
    assert "`sh check.sh` failed 1 time in 3 runs and passed again" in told
    assert flaked["red_log"] in told
    assert "`ls`" not in told


def test_a_check_that_fails_twice_is_held_against_the_change(scratch: Scratch) -> None:
    scratch.write(check__sh=f'GATES="{scratch.gates}"\necho run >> "$GATES/runs"\ntest ! -e done\n')
    scratch.graph("  a: {goal: a, retries: 0}\n", "echo x > done", verify="sh check.sh")
    scratch.interlock("run", "--unsafe-no-sandbox", code=1)
    assert scratch.states() == {"a": "failed"}
    assert not scratch.facts("CheckFlaked")
    assert (scratch.gates / "runs").read_text() == 3 * "run\n"
    assert "no check has failed and passed" in scratch.interlock("errors", "--flaky")


def test_a_change_of_what_a_set_up_installs_runs_the_checks_that_do_not_see_it_again(
    scratch: Scratch,
) -> None:
    """A new lock file: the checks get other dependencies, though none of their inputs has changed."""
    scratch.write(deps__lock="1\n", a__txt="a\n", __gitignore="env/\n")
    check = '{run: "test $(cat env/version) = 1 && cat a.txt", inputs: [a.txt]}'
    setup = '{run: "mkdir -p env && cp deps.lock env/version", key: [deps.lock], makes: [env]}'
    scratch.graph(
        "  bump: {goal: bump, retries: 0}\n", "echo 2 > deps.lock", verify=f"[{check}]", setup=setup
    )
    scratch.interlock("run", code=1)
    assert scratch.states() == {"bump": "failed"}
    (failed,) = [fact["fact"] for fact in scratch.facts("PhaseFailed")]
    assert [check["reused"] for check in failed["checks"]] == [False]


def test_attributes_above_the_inputs_decide_what_a_check_finds(scratch: Scratch) -> None:
    """They decide the line ends of its files in every checkout, so a change of them is a change of these."""
    (scratch.root / "one").mkdir()
    (scratch.root / "one/text").write_text("x\n")
    check = "{run: test $(wc -c < one/text) = 2, inputs: [one/**]}"
    scratch.graph(
        "  a: {goal: a, retries: 0}\n", "echo '* text eol=crlf' > .gitattributes", verify=f"[{check}]"
    )
    scratch.interlock("run", code=1)
    assert scratch.states() == {"a": "failed"}
    (failed,) = [fact["fact"] for fact in scratch.facts("PhaseFailed")]
    assert [check["reused"] for check in failed["checks"]] == [False]


BESIDE = """
    - {run: test ! -e one/node_modules/new/new, inputs: [one/file]}
    - {run: grep -q good one/vendor/lib/code, inputs: [one/file]}
    - {run: tool, inputs: [one/file]}
    - grep -q good built/generated
    - grep -q good single
"""


def install(root: Path, tools: Path) -> None:
    (root / "one/node_modules/new/new").touch()


def update(root: Path, tools: Path) -> None:
    (root / "one/vendor/lib/code").write_text("evil\n")


def write_over(root: Path, tools: Path) -> None:
    (tools / "tool").write_text("#!/bin/sh\nexit 1\n")


def generate(root: Path, tools: Path) -> None:
    (root / "built/generated").write_text("evil\n")


def write_one(root: Path, tools: Path) -> None:
    (root / "single").write_text("evil\n")


@pytest.mark.parametrize("change", [None, install, update, write_over, generate, write_one])
def test_results_are_reused_in_the_next_run_only_with_the_same_things_beside_the_tree(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path, Path], None] | None
) -> None:
    """Dependencies at any depth, programs that are written over, and what the checkout has generated."""
    root, tools = scratch.root, scratch.gates / "bin"
    for folder in (root / "one/node_modules/new", root / "one/vendor/lib", root / "built", tools):
        folder.mkdir(parents=True)
    for file in ("one/vendor/lib/code", "built/generated", "single", "one/file"):
        (root / file).write_text("good\n")
    (tools / "tool").write_text("#!/bin/sh\nexit 0\n")
    (tools / "tool").chmod(0o755)
    scratch.write(__gitignore="node_modules/\nvendor/\nbuilt/\nsingle\n")
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    scratch.graph("  a: {goal: a}\n", verify=BESIDE.rstrip())
    scratch.interlock("run")
    first = len(scratch.facts("BaseChecked"))
    if change:
        change(root, tools)
    scratch.graph("  a: {goal: a}\n  b: {goal: b}\n", verify=BESIDE.rstrip())
    scratch.interlock("run", code=None)
    tried = [fact["fact"]["result"] for fact in scratch.facts("BaseChecked")[first:]]
    if change:
        assert [check["exit_code"] for check in tried].count(1) == 1
    assert {check.get("reused", False) for check in tried if check.get("inputs")} == {change is None}
