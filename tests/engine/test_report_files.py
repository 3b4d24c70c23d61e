"""A check that writes JUnit files, and prints nothing that tells tests apart, through the real command."""

import json

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow

RUNNER = """
import pathlib
tests = {}
exec(pathlib.Path('tests.py').read_text(), tests)
cases, bad = [], 0
for name in [name for name in tests if name.startswith('test_')]:
    try:
        tests[name]()
        cases.append(f'<testcase classname="t" name="{name}"/>')
    except AssertionError:
        bad += 1
        cases.append(f'<testcase classname="t" name="{name}"><failure/></testcase>')
folder = pathlib.Path('build/reports')
folder.mkdir(parents=True, exist_ok=True)
(folder / 'TEST-t.xml').write_text('<testsuite>' + ''.join(cases) + '</testsuite>')
print('There were failing tests. See the report.' if bad else 'ok')
raise SystemExit(bad > 0)
"""
TESTS = """
from shapes import area, sides
def test_area(): assert area(2, 3) == 6
def test_sides(): assert sides() == 4
def test_known(): assert 1 == 2
"""
ONE_FILE = "(folder / 'TEST-t.xml').write_text('<testsuite>' + ''.join(cases) + '</testsuite>')"
FILE_PER_TEST = (
    "[(folder / f'TEST-{n}.xml').write_text(f'<testsuite>{c}</testsuite>') for n, c in enumerate(cases)]"
)
HIDES = "echo 'def test_new(): assert 0' >> tests.py; mkdir reports; echo '<x/>' > reports/TEST-3.xml"
STALE = '<testsuite><testcase classname="t" name="test_old"/></testsuite>'
BREAK = "sed -i 's/return 4/return 5/' shapes.py"
PLANTED = f"""{BREAK}
mkdir -p reports
cat > reports/TEST-t.xml <<'END'
<testsuite><testcase classname="t" name="test_area"/><testcase classname="t" name="test_sides"/>
<testcase classname="t" name="test_known"><failure/></testcase></testsuite>
END
sed -i "/write_text/d" run.py
"""


@pytest.fixture
def red(scratch: Scratch) -> Scratch:
    """A project with one known failure, and the report of an older run among its ignored files."""
    scratch.write(
        shapes__py="def area(a, b): return a * b\ndef sides(): return 4\n",
        tests__py=TESTS,
        run__py=RUNNER,
        __gitignore="build/\n__pycache__/\n",
    )
    (scratch.root / "build" / "reports").mkdir(parents=True)
    (scratch.root / "build" / "reports" / "TEST-old.xml").write_text(STALE)
    return scratch


@pytest.mark.thorough
def test_a_red_main_is_judged_by_the_files_that_the_check_wrote(red: Scratch) -> None:
    red.graph(
        "  good: {goal: g, agent: good}\n  bad: {goal: b, agent: shell, retries: 0, needs: [good]}\n",
        BREAK,
        verify="python run.py",
    )
    graph = red.root / "task-graph.yaml"
    good = "  good: {use: command, run: [sh, -c, 'echo \"def test_new(): pass\" >> tests.py']}\n"
    graph.write_text(graph.read_text().replace("tasks:\n", f"{good}tasks:\n"))
    red.commit("two agents")
    doctor = red.interlock("doctor", code=None)
    assert "1 of 3 tests fail on main" in doctor, doctor
    said = red.interlock("run", code=1)
    assert red.states() == {"good": "done", "bad": "failed"}, said
    assert red.status()["main"]["red"][0]["failing_tests"] == ["t test_known"]
    (failed,) = red.facts("PhaseFailed")
    assert failed["fact"]["checks"][0]["newly_failing"] == ["t test_sides"]
    (based,) = red.facts("BaseChecked")
    assert based["fact"]["result"]["suite"]["passed"] == ["t test_area", "t test_sides"], "test_old is stale"


def test_a_report_that_an_agent_puts_into_the_tree_does_not_count(red: Scratch) -> None:
    """Neither the one that says what the check should, nor the one that the check writes over."""
    red.write(run__py=RUNNER.replace("build/reports", "reports").replace(ONE_FILE, FILE_PER_TEST))
    red.graph(
        "  t: {goal: t, retries: 0}\n  h: {goal: h, retries: 0, agent: hides}\n",
        PLANTED,
        verify="python run.py",
    )
    graph = red.root / "task-graph.yaml"
    hides = f"  hides: {{use: command, run: [sh, -c, {json.dumps(HIDES)}]}}\n"
    graph.write_text(graph.read_text().replace("tasks:\n", f"{hides}tasks:\n"))
    red.commit("two agents")
    said = red.interlock("run", code=1)
    assert red.states() == {"t": "failed", "h": "failed"}, said
    checks = {each["fact"]["task"]: each["fact"]["checks"][0] for each in red.facts("PhaseFailed")}
    assert checks["t"]["suite"] is None
    assert checks["h"]["other_reason"].startswith("its report reports/TEST-3.xml does not count")


LED_AWAY = "echo 'def test_new(): assert 0' > b.py; mkdir reports; ln -s /tmp reports/b"


def test_a_folder_link_that_leads_a_report_away_is_seen(red: Scratch) -> None:
    """A new module fails, and its report goes through a link of the change to a folder elsewhere."""
    each = RUNNER.replace("'tests.py'", "module").replace("build/reports", "reports/' + module[:-3] + '")
    body = (
        each.partition("import pathlib\n")[2].replace("print(", "#").replace("raise SystemExit(bad > 0)", "")
    )
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    counted = "    total += bad\nprint('See the reports.')\nraise SystemExit(total > 0)\n"
    modules = "import pathlib\ntotal = 0\nfor module in ('a.py', 'b.py'):\n"
    skip = "    if not pathlib.Path(module).exists(): continue\n"
    red.write(run__py=modules + skip + lines + counted, a__py=TESTS)
    red.graph("  t: {goal: t, retries: 0}\n", LED_AWAY, verify="python run.py")
    said = red.interlock("run", code=1)
    assert red.states() == {"t": "failed"}, said
    (failed,) = red.facts("PhaseFailed")
    assert failed["fact"]["checks"][0]["other_reason"].startswith("reports/b is a link out of the checkout")
