"""The first run breaks the code on purpose and says whether the checks noticed, through the real command."""

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from interlock.engine.canary import MOST_SECONDS, CanaryTrial, try_canaries
from interlock.model.canary import Canary, CanaryResult
from interlock.model.evidence import Evidence, Gap, Grade, weigh
from interlock.model.outcome import CheckResult
from interlock.model.suite import SuiteResult
from interlock.model.task import Tree
from tests.engine.scratch import WAIT, Scratch
from tests.sim.loop import Simulation, simulate

pytestmark = pytest.mark.slow

SHAPES = "def area(side):\n    return side * side\n"
TEST = """\
import unittest
import shapes


class T(unittest.TestCase):
    def test(self):
        assert shapes.area(2) == 4
"""
VERIFY = '"python3 -m unittest -q"'


def test_the_first_run_says_that_the_checks_noticed_and_the_second_asks_no_more(scratch: Scratch) -> None:
    scratch.write(shapes__py=SHAPES, test_shapes__py=TEST)
    scratch.graph("  a: {goal: a}\n  b: {goal: b, needs: [a]}\n", verify=VERIFY)
    said = scratch.interlock("run")
    assert_no_trace(scratch)
    assert "canary: broke shapes.area on purpose; `python3 -m unittest -q` failed as it should, in " in said
    assert scratch.states() == {"a": "done", "b": "done"}
    (tried,) = scratch.facts("CanaryTried")
    assert (tried["fact"]["noticed"], tried["fact"]["places"]) == (True, ["shapes.area"])
    assert [task["evidence"]["grade"] for task in scratch.status()["tasks"]] == ["verified", "verified"]
    scratch.graph("  a: {goal: a}\n  b: {goal: b, needs: [a]}\n  c: {goal: c}\n", verify=VERIFY)
    assert "canary" not in scratch.interlock("run")
    assert len(scratch.facts("CanaryTried")) == 1


def test_two_changes_that_are_tested_at_once_share_one_trial(scratch: Scratch, gate: Path) -> None:
    scratch.write(shapes__py=SHAPES, test_shapes__py=TEST, interlock__toml="lane_depth = 2\n")
    checked = f"if ls *.txt; then {WAIT.format(gate=gate)}; fi; python3 -m unittest -q"
    scratch.graph("  a: {goal: a}\n  b: {goal: b}\n", verify=json.dumps(checked))
    run = scratch.start("run")
    run.wait_for_line("b: change made")
    facts = scratch.start("events", "--follow", "--json")
    facts.wait_for_line('"phase":"verify"')
    facts.wait_for_line('"kind":"BuildStarted"')
    gate.touch()
    assert run.wait() == 0, run.output
    assert run.output.count("on purpose, to see whether the checks notice") == 1
    assert len(scratch.facts("CanaryTried")) == 1
    assert [task["evidence"]["grade"] for task in scratch.status()["tasks"]] == ["verified", "verified"]


def test_checks_that_notice_nothing_verify_nothing_and_the_run_says_so(scratch: Scratch) -> None:
    """They pass whatever the code does: what lands is observed, and the commit says why."""
    scratch.write(shapes__py=SHAPES, test_shapes__py=TEST, other__py="def other():\n    return 1\n")
    scratch.graph("  a: {goal: a}\n", verify='"python3 -c pass"')
    said = scratch.interlock("run")
    assert "canary: broke shapes.area, then other on purpose, and `python3 -c pass` still passed" in said
    (task,) = scratch.status()["tasks"]
    assert task["evidence"]["gap"] == "canary-not-noticed"
    assert ", observed, " in task["reason"]["text"]
    trailer = scratch.git("log", "-1", "--format=%(trailers:key=Interlock-Evidence,valueonly)", "main")
    assert trailer == "observed, the checks did not notice code broken on purpose"


UNTRIED = "found no source code to break on purpose, so nothing shows that `sh check.sh` tests the project"


def test_where_there_is_nothing_to_break_each_reader_is_told(scratch: Scratch) -> None:
    """A project of shell scripts: its check passes whatever the scripts do."""
    scratch.write(tool__sh="echo tool\n", check__sh="grep -q echo tool.sh\n")
    scratch.graph("  a: {goal: a}\n  b: {goal: b, needs: [a]}\n", verify="sh check.sh")
    rows = json.loads(scratch.interlock("doctor", "--json"))["checks"]
    (row,) = [row for row in rows if row["name"] == "canary"]
    assert (row["health"], row["text"]) == ("warning", UNTRIED) and "review" in row["fix"]
    said = scratch.interlock("run")
    assert said.count(f"canary: {UNTRIED}") == 1
    assert said.count("verified on the merged tree, checks not tested on broken code") == 2
    assert "evidence: 2 verified by checks that were not tested on broken code" in said
    assert [task["evidence"]["untried"] for task in scratch.status()["tasks"]] == [True, True]
    trailer = scratch.git("log", "-1", "--format=%(trailers:key=Interlock-Evidence,valueonly)", "main")
    assert trailer == "verified on the merged tree, checks not tried by a break"
    assert "landed (checks not tested on broken code)" in scratch.read("report")


@pytest.mark.parametrize(
    ("test", "noticed"),
    [
        ('test "$(sh tool.sh 2>&1)" = tool', True),
        (". ./tool.sh | grep tool", True),
        ("grep -q echo tool.sh", False),
    ],
    ids=["runs it", "sources it", "reads it"],
)
def test_shell_scripts_that_a_test_names_are_broken(scratch: Scratch, test: str, noticed: bool) -> None:
    """Where there is no other source code. A script that no test names is none of the project's own."""
    (scratch.root / "tests").mkdir()
    (scratch.root / "tests" / "run.sh").write_text(f"{test}\n")
    scratch.write(tool__sh="#!/bin/sh\necho tool\n")
    scratch.graph("  a: {goal: a}\n", verify="sh tests/run.sh")
    said = scratch.interlock("run")
    (tried,) = scratch.facts("CanaryTried")
    assert (tried["fact"]["noticed"], tried["fact"]["places"]) == (noticed, ["tool.sh"])
    end = "`sh tests/run.sh` failed as it should" if noticed else "`sh tests/run.sh` still passed"
    assert "canary: broke tool.sh on purpose" in said and end in said
    (task,) = scratch.status()["tasks"]
    assert task["evidence"]["gap"] == (None if noticed else "canary-not-noticed")


def test_the_first_source_code_that_lands_is_broken_in_the_same_run(scratch: Scratch) -> None:
    """A new project: there was nothing to break when its first change was checked."""
    write = "printf 'def area(side):\\n    return side * side\\n' > shapes.py"
    agent = f'if test $INTERLOCK_TASK_ID = a; then {write}; else echo > "$INTERLOCK_TASK_ID.txt"; fi'
    scratch.graph("  a: {goal: a}\n  b: {goal: b, needs: [a]}\n", agent, verify="python3 -c pass")
    scratch.interlock("run")
    found = {task["id"]: task["evidence"] for task in scratch.status()["tasks"]}
    assert found["b"]["gap"] == "canary-not-noticed"


def test_after_the_checks_were_mended_the_next_run_tries_again(scratch: Scratch) -> None:
    scratch.write(shapes__py=SHAPES, check__sh="true\n")
    scratch.graph("  a: {goal: a}\n", verify='"sh check.sh"')
    scratch.interlock("run")
    scratch.write(check__sh="python3 -c 'import shapes; shapes.area(1)'\n", test_shapes__py=TEST)
    scratch.graph("  a: {goal: a}\n  b: {goal: b}\n", verify='"sh check.sh"')
    assert "`sh check.sh` failed as it should" in scratch.interlock("run")
    grades = {task["id"]: task["evidence"]["grade"] for task in scratch.status()["tasks"]}
    assert grades == {"a": "observed", "b": "verified"}


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_after_a_change_of_how_checks_run_they_must_notice_a_break_again(scratch: Scratch) -> None:
    """The change lands, and says so. What it made blind verifies no later change."""
    test = "import shapes\nassert shapes.area(2) == 4\n"
    scratch.write(shapes__py=SHAPES, test_shapes__py=test, Makefile="test:\n\tpython3 test_shapes.py\n")
    agent = (
        "case $INTERLOCK_TASK_ID in disarm) sed -i s/python3/-python3/ Makefile;;"
        " *) printf 'def area(side):\\n    return 0\\n' > shapes.py;; esac"
    )
    scratch.graph("  disarm: {goal: a}\n  spoil: {goal: b, needs: [disarm]}\n", agent, verify="make test")
    scratch.interlock("run")
    found = {task["id"]: task["evidence"] for task in scratch.status()["tasks"]}
    assert (found["disarm"]["grade"], found["disarm"]["steering"]) == ("verified", ["Makefile"])
    assert (found["spoil"]["grade"], found["spoil"]["gap"]) == ("observed", "canary-not-noticed")
    assert [row["fact"]["noticed"] for row in scratch.facts("CanaryTried")] == [True, False]


TESTS = "import shapes\nassert shapes.area(2) == 4\nassert shapes.area(3) == 9\n"
NAMED_TESTS = TEST.replace("def test(", "def test_a(").replace("== 4\n", "== 4\n\n") + "".join(
    f"    def test_{name}(self):\n        assert True\n\n" for name in "bc"
)


@pytest.mark.parametrize(
    ("tests", "command", "removal", "gap"),
    [
        (TESTS, "python3 test_shapes.py", "/assert/d", "tests-removed"),
        (NAMED_TESTS, "python3 -m unittest -v", "/test_a/,+1d", "fewer-tests"),
    ],
    ids=["nothing counts them", "a report names them"],
)
def test_after_a_change_that_removes_tests_they_must_notice_a_break_again(
    scratch: Scratch, tests: str, command: str, removal: str, gap: str
) -> None:
    """The checks noticed a break before the tests went; that verifies nothing which they no longer test."""
    scratch.write(shapes__py=SHAPES, test_shapes__py=tests)
    agent = (
        f"case $INTERLOCK_TASK_ID in thin) sed -i '{removal}' test_shapes.py;; first) echo >> shapes.py;;"
        " *) printf 'def area(side):\\n    return 0\\n' > shapes.py;; esac"
    )
    graph = "  first: {goal: a}\n  thin: {goal: b, needs: [first]}\n  spoil: {goal: c, needs: [thin]}\n"
    scratch.graph(graph, agent, verify=f'"{command}"')
    scratch.interlock("run")
    found = {task["id"]: task["evidence"] for task in scratch.status()["tasks"]}
    assert (found["thin"]["grade"], found["thin"]["gap"]) == ("observed", gap)
    assert (found["spoil"]["grade"], found["spoil"]["gap"]) == ("observed", "canary-not-noticed")
    assert [row["fact"]["noticed"] for row in scratch.facts("CanaryTried")] == [True, False]


def test_a_test_program_that_an_agent_has_landed_is_not_what_is_broken(scratch: Scratch) -> None:
    """It would notice its own break, and vouch for the next change."""
    case = "class T(unittest.TestCase):\n    def test_a(self):\n        assert shapes.area(2) == 4\n"
    test = f"import unittest, shapes\n\n{case}"
    scratch.write(shapes__py=SHAPES, test_shapes__py=test)
    said = "test_a (test_shapes.T.test_a) ... ok\\n\\nRan 1 test in 0.001s\\n\\nOK"
    program = f'import sys; open("shapes.py").read(); print("{said}", file=sys.stderr)'
    agent = (
        f"case $INTERLOCK_TASK_ID in swap) printf '%s' '{program}' > unittest.py;;"
        " *) printf 'def area(side):\\n    return 0\\n' > shapes.py;; esac"
    )
    verify = '"python3 -m unittest -v test_shapes"'
    scratch.graph("  swap: {goal: a}\n  spoil: {goal: b, needs: [swap]}\n", agent, verify=verify)
    scratch.interlock("run")
    found = {task["id"]: task["evidence"] for task in scratch.status()["tasks"]}
    assert found["swap"]["steering"] == ["unittest.py"]
    assert (found["spoil"]["grade"], found["spoil"]["gap"]) == ("observed", "canary-not-noticed")


@pytest.mark.thorough
def test_a_module_that_landed_with_another_check_script_is_not_what_is_broken(scratch: Scratch) -> None:
    test = "import shapes\nassert shapes.area(2) == 4\n"
    scratch.write(shapes__py=SHAPES, test_shapes__py=test, ci__sh="python3 test_shapes.py\n")
    decoy = "def area(side):\\n    return side\\n\\n\\narea(1)\\n"
    agent = (
        "case $INTERLOCK_TASK_ID in"
        f" swap) printf '{decoy}' > aaa.py; printf 'cat *.py > /dev/null; python3 aaa.py' > ci.sh;;"
        " *) printf 'def area(side):\\n    return 0\\n' > shapes.py;; esac"
    )
    scratch.graph("  swap: {goal: a}\n  spoil: {goal: b, needs: [swap]}\n", agent, verify='"sh ci.sh"')
    scratch.interlock("run")
    spoiled = next(task for task in scratch.status()["tasks"] if task["id"] == "spoil")
    assert (spoiled["evidence"]["grade"], spoiled["evidence"]["gap"]) == ("observed", "canary-not-noticed")


def assert_no_trace(scratch: Scratch) -> None:
    """The broken code is in no ref and no working tree."""
    assert scratch.git("log", "--all", "-S", "interlock canary", "--format=%H") == ""
    assert scratch.git("status", "--porcelain") == ""
    assert "canary" not in (scratch.root / "shapes.py").read_text()


GREEN, RED = CheckResult("make", 0), CheckResult("make", 1, tail="1 failed")


def failing(*names: str) -> CheckResult:
    return CheckResult("make", 1, suite=SuiteResult((), names, 0, len(names)))


AREA = Canary("shapes.area", "shapes.py", Tree("broken"), Tree("calm"))


def tried(
    *results: CheckResult, usual_seconds: float = 0.0, broken: Canary = AREA
) -> tuple[CanaryResult, list[str]]:
    """A trial in which the checks end like this, one run after the other, and what was told."""
    runs, told = iter(results), list[str]()

    async def check(_: Tree) -> list[CheckResult]:
        return [next(runs)]

    trial = CanaryTrial(check, Tree("main"), usual_seconds, told.append)
    return asyncio.run(try_canaries([broken], trial)), told


def test_a_check_that_quotes_the_break_has_noticed_it_at_once() -> None:
    result, told = tried(CheckResult("make", 1, tail="RuntimeError: interlock canary: broken on purpose"))
    assert result.noticed and told == ["breaking shapes.area on purpose, to see whether the checks notice"]


@pytest.mark.parametrize(
    "runs",
    [
        (RED, GREEN, GREEN, GREEN),  # the canary's own red does not come again
        (failing("flaky"), failing("flaky")),
        (failing("flaky"), GREEN, failing("other"), GREEN),
        (failing("flaky"), GREEN, failing("flaky"), failing("flaky")),
        (failing("flaky"), GREEN, failing("flaky"), GREEN, GREEN),
    ],
)
def test_a_test_that_fails_now_and_then_has_noticed_nothing(runs: tuple[CheckResult, ...]) -> None:
    assert not tried(*runs)[0].noticed


@pytest.mark.parametrize(
    "runs",
    [
        (RED, GREEN, RED, GREEN, RED),
        (failing("area", "flaky"), failing("flaky"), failing("area"), GREEN, failing("area", "other")),
    ],
)
def test_a_red_check_that_comes_again_with_the_break_alone_has_noticed_it(
    runs: tuple[CheckResult, ...],
) -> None:
    result, _ = tried(*runs)
    assert (result.noticed, result.noticed_by) == (True, ("make",))


def test_a_check_that_is_as_red_on_the_calm_twin_reads_the_code_and_does_not_run_it() -> None:
    result, _ = tried(RED, RED)
    assert (result.noticed, result.by_build, result.is_blind) == (False, True, True)


RUFF = shutil.which("ruff", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize(
    "linter",
    [
        pytest.param(
            "GATES/ruff check --no-cache --select E,EM,F .",
            marks=pytest.mark.skipif(not RUFF, reason="needs ruff"),
        ),
        "! grep -n canary shapes.py",
    ],
)
def test_a_linter_alone_verifies_nothing_and_beside_tests_it_is_not_named(
    scratch: Scratch, linter: str
) -> None:
    """Both quote the line that breaks. What a linter says of a canary it says of its calm twin too."""
    scratch.write(shapes__py=SHAPES, test_shapes__py=TEST)
    if RUFF:
        shutil.copy(RUFF, scratch.gates)
    linter = linter.replace("GATES", str(scratch.gates))
    alone, both = json.dumps(linter), json.dumps([linter, "python3 -m unittest -q"])
    scratch.graph(f"  a: {{goal: a, verify: {alone}}}\n  b: {{goal: b, verify: {both}, needs: [a]}}\n")
    said = scratch.interlock("run")
    grades = {task["id"]: task["evidence"] for task in scratch.status()["tasks"]}
    assert (grades["a"]["grade"], grades["a"]["gap"]) == ("observed", "canary-noticed-by-build-only"), said
    assert f"only a compiler or a linter failed, and `{linter}` ran no broken code" in said
    assert grades["b"]["grade"] == "verified"
    assert "canary: broke shapes.area on purpose; `python3 -m unittest -q` failed as it should, in " in said


def test_a_result_that_does_not_say_who_noticed_is_tried_again() -> None:
    """It was made by a version that took a linter for a test. Its landings keep their grade."""
    old = CanaryResult(True, ("shapes.area",))
    assert not old.is_settled and weigh([GREEN], old).is_verified
    assert CanaryResult(True, ("shapes.area",), noticed_by=("make",)).is_settled


def test_checks_that_run_long_on_a_canary_are_told_every_half_minute() -> None:
    told: list[str] = []

    async def check(_: Tree) -> list[CheckResult]:
        await asyncio.sleep(70)
        return [GREEN]

    async def trial(_: Simulation) -> None:
        await try_canaries([AREA], CanaryTrial(check, Tree("main"), 0.0, told.append))

    simulate(0, trial)
    assert [line.rpartition("(")[2] for line in told[1:]] == ["30 s)", "60 s)"]


QUOTED = CheckResult("make", 2, tail='shapes.c:1:2: error: #error "interlock canary: broken on purpose"')
STRICT = CheckResult("make", 2, tail="shapes.c:9:5: error: unused variable [-Werror=unused]")


@pytest.mark.parametrize(
    ("is_for_compilers", "runs"),
    [
        (True, (QUOTED,)),
        (True, (RED, GREEN, RED, GREEN, RED)),
        (False, (STRICT, GREEN, STRICT, GREEN, STRICT)),
        (False, (STRICT, STRICT)),
    ],
)
def test_a_build_that_fails_does_not_show_that_the_code_is_tested(
    is_for_compilers: bool, runs: tuple[CheckResult, ...]
) -> None:
    broken = Canary("shapes.c", "shapes.c", Tree("broken"), None if is_for_compilers else Tree("calm"))
    result, _ = tried(*runs, broken=broken)
    assert (result.noticed, result.by_build, result.is_blind) == (False, True, True)
    assert weigh([GREEN], result) == Evidence(Grade.OBSERVED, Gap.ONLY_BUILT, ("shapes.c",))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not here")
@pytest.mark.thorough
def test_a_check_in_c_must_run_the_code_and_not_only_compile_it(scratch: Scratch) -> None:
    scratch.write(
        area__c="int area(int side)\n{\n    return side * side;\n}\n",
        test_area__c="int area(int side);\n\nint main(void)\n{\n    return area(2) != 4;\n}\n",
        Makefile="t: area.c test_area.c\n\tgcc -o t area.c test_area.c\n\ntest: t\n\t./t\n",
    )
    scratch.graph("  a: {goal: a, verify: make}\n  b: {goal: b, verify: make test, needs: [a]}\n")
    said = scratch.interlock("run")
    assert "canary: broke area.area on purpose, and `make` still passed" in said
    assert "canary: broke area.area on purpose; `make test` failed as it should, in " in said


def test_checks_that_take_too_long_are_not_tried_by_a_break() -> None:
    result, told = tried(usual_seconds=MOST_SECONDS + 1)
    assert result.is_untried and not result.is_blind and "300 s in all" in told[0]


def test_a_check_that_hides_why_it_is_red_is_run_again(scratch: Scratch) -> None:
    scratch.write(shapes__py=SHAPES, test_shapes__py=TEST)
    scratch.graph("  a: {goal: a}\n", verify="'python3 -m unittest -q 2> /dev/null'")
    said = scratch.interlock("run")
    assert "breaking shapes.area on purpose, to see whether the checks notice" in said
    assert "running them again with and without it broken" in said
    assert scratch.facts("CanaryTried")[0]["fact"]["noticed"]


def test_a_break_that_doctor_saw_noticed_is_not_tried_again_by_a_run(scratch: Scratch) -> None:
    scratch.write(shapes__py=SHAPES, test_shapes__py=TEST)
    scratch.graph("  a: {goal: a}\n", verify=VERIFY)
    assert "broke shapes.area" in scratch.interlock("doctor")
    assert "canary" not in scratch.interlock("run")
    assert len(scratch.facts("CanaryTried")) == 1
    assert scratch.status()["tasks"][0]["evidence"]["grade"] == "verified"
