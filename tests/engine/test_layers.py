"""Workspaces and checks as layers at the path of the checkout, through the real command (DESIGN 6, D10)."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow

LOOK = "pwd; git status --porcelain; ls -A"


@pytest.fixture(params=["overlay", "copies"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "copies":
        monkeypatch.setenv("INTERLOCK_SANDBOX", "landlock")
    return str(request.param)


def evidence(scratch: Scratch, task: str = "") -> str:
    logs = (scratch.root / ".git/interlock/evidence" / task).rglob("*.log")
    return "".join(log.read_text() for log in sorted(logs))


def test_an_agent_and_its_check_find_their_files_at_the_path_of_the_checkout(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: a, done_when: 'pwd; cat new.txt'}\n", agent=f"{LOOK}; pwd > new.txt")
    scratch.interlock("run")
    assert scratch.git("show", "main:new.txt") == str(scratch.root)
    assert f"{scratch.root}\n{scratch.root}\n" in evidence(scratch)
    said = (scratch.root / ".git/interlock/logs/a/1.log").read_text().splitlines()[1:]
    assert said == [str(scratch.root), ".git", "agent.sh", "task-graph.yaml"], "git has nothing to say"


def test_no_check_prepares_the_next(scratch: Scratch, kind: str) -> None:
    """A folder of tests that is replaced by a link to elsewhere stays out of the next check."""
    (scratch.root / "tests").mkdir()
    (scratch.root / "tests" / "test.sh").write_text("echo tested\n")
    seen = "test ! -e left && test ! -L tests && sh tests/test.sh"
    hide = "mv tests .s; ln -s .s tests; echo 'exit 0' > .s/test.sh; touch left"
    scratch.graph(
        f'  a: {{goal: a, done_when: ["{hide}", "{seen}"]}}\n'
        f'  b: {{goal: b, needs: [a], done_when: "{seen}"}}\n'
    )
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done"}
    assert evidence(scratch).count("\ntested\n") == 3, kind


def test_an_editable_install_is_tested_where_it_was_installed(scratch: Scratch) -> None:
    """Its path names the checkout: a change that breaks the code is red, and is not landed."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], cwd=scratch.root, check=True)
    (site,) = (scratch.root / ".venv").glob("lib/python*/site-packages")
    (site / "shapes.pth").write_text(f"{scratch.root / 'src'}\n")
    (scratch.root / "src").mkdir()
    (scratch.root / "src" / "shapes.py").write_text("def area(): return 4\n")
    (scratch.root / ".gitignore").write_text(".venv/\n__pycache__/\n")
    check = ".venv/bin/python -c 'import shapes; print(shapes.__file__); assert shapes.area() == 4'"
    agent = 'test $INTERLOCK_TASK_ID = good || sed -i "s/4/5/" src/shapes.py; echo "# x" >> src/shapes.py'
    scratch.graph(
        "  good: {goal: g}\n  bad: {goal: b, needs: [good], retries: 0}\n", agent, verify=f'"{check}"'
    )
    scratch.interlock("run", code=None)
    assert scratch.states() == {"good": "done", "bad": "failed"}
    assert f"{scratch.root}/src/shapes.py" in evidence(scratch)
    assert "return 4" in scratch.git("show", "main:src/shapes.py")


@pytest.mark.skipif(shutil.which("make") is None or shutil.which("cc") is None, reason="needs make and cc")
def test_what_was_built_from_other_sources_is_built_again(scratch: Scratch) -> None:
    """The objects in the checkout are newer than any commit; the changed source is newer still."""
    files = {
        "Makefile": "test: prog\n\t./prog\nprog: area.o\n\tcc -o prog area.o\n%.o: %.c\n\tcc -c -o $@ $<\n",
        "area.c": "int main(void) { return 0; }\n",
        ".gitignore": "*.o\nprog\n",
    }
    for name, text in files.items():
        (scratch.root / name).write_text(text)
    agent = (
        'if test $INTERLOCK_TASK_ID = bad; then sed -i "s/return 0/return 3/" area.c; fi; '
        "echo $INTERLOCK_TASK_ID >> notes; touch -d 2001-01-01 area.c"
    )
    scratch.graph(
        "  good: {goal: g}\n  bad: {goal: b, needs: [good], retries: 0}\n", agent, verify="make test"
    )
    subprocess.run(["make", "test"], cwd=scratch.root, check=True, capture_output=True)
    built = (scratch.root / "prog").stat().st_mtime_ns
    scratch.interlock("run", code=None)
    assert scratch.states() == {"good": "done", "bad": "failed"}
    assert "return 0" in scratch.git("show", "main:area.c")
    assert "cc -c" not in evidence(scratch, "good"), "what is up to date is not built again"
    assert "cc -c" in evidence(scratch, "bad"), "and what is not, is"
    assert (scratch.root / "prog").stat().st_mtime_ns == built


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_what_the_person_built_from_edited_sources_is_built_again(scratch: Scratch) -> None:
    """The edit is not committed, and its product is newer than any file of main."""
    (scratch.root / "Makefile").write_text("test: out\n\tgrep -q good out\nout: source\n\tcp source out\n")
    (scratch.root / "source").write_text("good\n")
    (scratch.root / ".gitignore").write_text("out\n")
    scratch.graph("  a: {goal: a}\n  b: {goal: b, needs: [a]}\n", verify="make test")
    scratch.interlock("run", "--only", "a")
    (scratch.root / "source").write_text("edited and bad\n")
    subprocess.run(["make", "out"], cwd=scratch.root, check=True, capture_output=True)
    scratch.interlock("run", "--only", "b")
    assert scratch.states() == {"a": "done", "b": "done"}
    assert (scratch.root / "source").read_text() == "edited and bad\n"


STAMP = """\
test: .tested

.tested: Makefile $(wildcard *.py)
\tsh check.sh
\ttouch .tested
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_stamp_does_not_hide_that_the_change_removes_a_file(scratch: Scratch) -> None:
    """No file that is left is newer than the stamp. The last one removes all that the stamp depends on."""
    scratch.write(
        Makefile=STAMP.replace("Makefile ", ""),
        calc__py="value = 1\n",
        more__py="",
        check__sh="test -e calc.py\n",
        __gitignore=".tested\n",
    )
    agent = "git rm -q $(cat files.$INTERLOCK_TASK_ID)"
    scratch.write(files__calc="calc.py\n", files__all="calc.py more.py\n", files__more="more.py\n")
    tasks = "".join(f"  {name}: {{goal: g, retries: 0}}\n" for name in ("calc", "all", "more"))
    scratch.graph(tasks, agent, verify="make test")
    subprocess.run(["make", "test"], cwd=scratch.root, check=True, capture_output=True)
    scratch.interlock("run", code=None)
    assert scratch.states() == {"calc": "failed", "all": "failed", "more": "done"}
    assert scratch.git("ls-files", "calc.py")


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.thorough
def test_a_product_does_not_hide_that_a_link_leads_elsewhere(scratch: Scratch) -> None:
    """What the link leads to is older than the product, and no file was written."""
    scratch.write(
        Makefile="out: part source/part\n\tcat part source/part > out\n\ntest: out\n\t! grep bad out\n",
        part="good\n",
        other="bad\n",
        __gitignore="out\n",
    )
    for name, text in (("old", "good\n"), ("new", "bad\n")):
        (scratch.root / name).mkdir()
        (scratch.root / name / "part").write_text(text)
    (scratch.root / "source").symlink_to("old")
    agent = "case $INTERLOCK_TASK_ID in file) ln -sf other part;; folder) ln -sfn new source;; esac"
    tasks = "".join(f"  {name}: {{goal: g, retries: 0}}\n" for name in ("file", "folder"))
    scratch.graph(tasks, agent, verify="make test")
    subprocess.run(["make", "test"], cwd=scratch.root, check=True, capture_output=True)
    scratch.interlock("run", code=None)
    assert scratch.states() == {"file": "failed", "folder": "failed"}


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.thorough
def test_what_the_person_built_before_she_took_an_edit_back_is_built_again(scratch: Scratch) -> None:
    """In her own shell the file is newer than the product. The tree that an earlier run made is older."""
    scratch.write(
        Makefile="out: src\n\tcp src out\n\ntest: out\n\tgrep -q good out\n",
        src="good\n",
        __gitignore="out\n",
    )
    scratch.graph("  a: {goal: a}\n  b: {goal: b, needs: [a]}\n", verify="make test")
    scratch.interlock("run", "--only", "a")
    scratch.write(src="bad\n")
    subprocess.run(["make", "out"], cwd=scratch.root, check=True, capture_output=True)
    scratch.git("checkout", "src")
    built = (scratch.root / "out").stat().st_mtime_ns
    os.utime(
        scratch.root / "src", ns=(built, built + 1_000_000)
    )  # a disk's clock ticks every few milliseconds
    scratch.git("status")
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done"}


def test_ignored_folders_are_there_and_what_is_written_to_them_stays_in_the_workspace(
    scratch: Scratch,
) -> None:
    (scratch.root / "node_modules" / "pad").mkdir(parents=True)
    (scratch.root / "node_modules" / "pad" / "index.js").write_text("theirs\n")
    (scratch.root / "node_modules" / ".npmrc").write_text("token\n")
    (scratch.root / "generated.h").write_text("made\n")
    (scratch.root / ".env").write_text("secret\n")
    (scratch.root / ".gitignore").write_text("node_modules/\ngenerated.h\n.env\n")
    agent = (
        "cat generated.h node_modules/pad/index.js; ls -A . node_modules;"
        " echo mine > node_modules/pad/index.js; echo > .gitignore; touch done.txt"
    )
    check = "cat node_modules/pad/index.js; test ! -e .env; test -e generated.h"
    scratch.graph(f"  a: {{goal: a, done_when: '{check}'}}\n", agent)
    scratch.interlock("run")
    said = (scratch.root / ".git/interlock/logs/a/1.log").read_text()
    assert "made\ntheirs\n" in said
    assert ".env" not in said
    assert ".npmrc" not in said
    assert "theirs" in evidence(scratch)
    assert (scratch.root / "node_modules/pad/index.js").read_text() == "theirs\n"
    changed = scratch.git("show", "--name-only", "--format=", "main").splitlines()
    assert changed == [".gitignore", "done.txt"], "what is no longer ignored was not written by the agent"


def test_two_agents_at_once_do_not_see_each_other(scratch: Scratch) -> None:
    """W7, T1."""
    agent = (
        "echo $INTERLOCK_TASK_ID > mine.txt; echo up; "
        + WAIT.format(gate=scratch.gates / "go")
        + "; cp mine.txt $INTERLOCK_TASK_ID.txt; rm mine.txt"
    )
    scratch.graph("  a: {goal: a}\n  b: {goal: b}\n", agent)
    run = scratch.start("run", "--max-parallel", "2")
    for name in "ab":
        run.wait_for_line(f"{name}: implement started")
        scratch.wait_for_output(name, "up")
    (scratch.gates / "go").touch()
    assert run.wait() == 0, run.output
    assert [scratch.git("show", f"main:{name}.txt") for name in "ab"] == ["a", "b"]


@pytest.mark.crash
def test_what_a_killed_run_left_in_an_upper_layer_is_archived_by_the_next(scratch: Scratch) -> None:
    """D10: the engine is killed, and with it all else; files, removals and commits are there afterwards."""
    (scratch.root / "folder").mkdir()
    for name in ("old.txt", "folder/x.txt", "folder/y.txt", "kept.txt"):
        (scratch.root / name).write_text("old\n")
    agent = (
        "if test $INTERLOCK_ATTEMPT != 1; then echo again > again.txt; exit 0; fi; "
        "echo c > committed.txt; git add committed.txt; git commit -qm work; "
        "echo w > written.txt; rm old.txt; rm -r folder; mkdir folder; echo z > folder/z.txt; echo up; "
        + WAIT.format(gate=scratch.gates / "go")
    )
    scratch.graph("  a: {goal: a}\n", agent)
    start = scratch.git("rev-parse", "main")
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    scratch.wait_for_output("a", "up")
    run.close()
    swept = scratch.interlock("gc")
    assert "/workspaces/a/1: it is in use, or the next `interlock run` archives it" in swept
    scratch.interlock("run", "--no-input")
    assert scratch.states() == {"a": "done"}
    changed = scratch.git("diff", "--name-status", start, "refs/interlock/work/a/1").split("\n")
    assert [line.split("\t") for line in changed] == [
        ["A", "committed.txt"],
        ["D", "folder/x.txt"],
        ["D", "folder/y.txt"],
        ["A", "folder/z.txt"],
        ["D", "old.txt"],
        ["A", "written.txt"],
    ]


def test_the_persons_own_test_run_does_not_find_interlocks_copies(scratch: Scratch) -> None:
    """`node --test` looks below `.git` too, where the trees of workspaces hold every test once more."""
    if not (node := shutil.which("node")):
        pytest.skip("no Node.js here")
    (scratch.root / "test").mkdir()
    (scratch.root / "test" / "a.test.js").write_text("require('node:test').test('a', () => {})\n")
    scratch.graph("  one: {goal: x}\n", verify='"true"')
    scratch.interlock("run")
    done = subprocess.run(
        [node, "--test", "--test-reporter=tap"], cwd=scratch.root, capture_output=True, text=True, check=True
    )
    assert "# tests 1\n" in done.stdout


def test_a_repository_that_was_moved_is_checked_at_its_new_place(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: a}\n", verify="test -e task-graph.yaml")
    scratch.interlock("run", "--no-input")
    scratch.root = scratch.root.rename(scratch.root.with_name("moved"))
    scratch.graph("  a: {goal: a}\n  b: {goal: b}\n", verify="test -e task-graph.yaml")
    scratch.interlock("run", "--no-input")
    assert scratch.states() == {"a": "done", "b": "done"}
