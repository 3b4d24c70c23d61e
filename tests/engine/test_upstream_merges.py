"""Two clones: what a colleague pushes is built upon, also after we have landed; through the real command."""

import subprocess
from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow


class Colleague:
    """Another clone of the same origin."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def git(self, *argv: str) -> str:
        identity = ("-c", "user.name=Grace", "-c", "user.email=grace@localhost")
        return subprocess.run(
            ["git", *identity, *argv], cwd=self._root, check=True, capture_output=True, text=True
        ).stdout

    def push(self, **files: str) -> None:
        """Commit files and publish them; `__` in a name stands for a dot."""
        for name, text in files.items():
            (self._root / name.replace("__", ".")).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", "theirs")
        self.git("push", "-q", "origin", "main")


def colleague_of(scratch: Scratch) -> Colleague:
    """Give the repository an origin, by a relative path, and a colleague who cloned it."""
    beside = scratch.root.parent
    scratch.git("clone", "-q", "--bare", ".", str(beside / "origin.git"))
    scratch.git("remote", "add", "origin", "../origin.git")
    scratch.git("fetch", "-q")
    scratch.git("branch", "-q", "--set-upstream-to=origin/main")
    scratch.git("clone", "-q", str(beside / "origin.git"), str(beside / "colleague"))
    return Colleague(beside / "colleague")


def files(scratch: Scratch) -> set[str]:
    return set(scratch.git("ls-tree", "--name-only", "main").splitlines())


def test_an_upstream_that_moved_after_we_landed_is_merged_and_built_upon(scratch: Scratch) -> None:
    """T4, FIELD 12: main and origin/main have diverged; nothing that landed is lost."""
    scratch.graph("  a: {goal: x}\n", verify="test ! -e bad.txt")
    colleague = colleague_of(scratch)
    scratch.interlock("run")
    ours = scratch.git("rev-parse", "main")
    colleague.push(theirs__txt="1\n")
    graph = scratch.root / "task-graph.yaml"
    graph.write_text(graph.read_text() + "  b: {goal: x}\n")
    scratch.commit("more")
    said = scratch.interlock("run")
    assert "merged origin/main into main as" in said
    assert {"a.txt", "b.txt", "theirs.txt"} <= files(scratch)
    assert (scratch.root / "theirs.txt").exists()
    scratch.git("merge-base", "--is-ancestor", ours, "main")
    scratch.git("merge-base", "--is-ancestor", "origin/main", "main")
    assert "merged origin/main" in {row["reason"]["text"] for row in scratch.facts("MainSeen")}
    base = scratch.facts("WorkFinished")[-1]["fact"]["base"]
    assert "theirs.txt" in scratch.git("ls-tree", "--name-only", base)
    assert scratch.git("status", "--porcelain") == ""


def test_what_is_pushed_during_a_run_is_merged_during_it(scratch: Scratch, gate: Path) -> None:
    scratch.write(interlock__toml='fetch_every = "1s"\n')
    agent = (
        f"if test $INTERLOCK_TASK_ID = b; then\n{WAIT.format(gate=gate)}\nfi\necho > $INTERLOCK_TASK_ID.txt"
    )
    scratch.graph("  a: {goal: x}\n  b: {goal: x}\n", agent)
    colleague = colleague_of(scratch)
    run = scratch.start("run")
    run.wait_for_line("a: landed")
    colleague.push(theirs__txt="1\n")
    run.wait_for_line("merged origin/main into main")
    gate.touch()
    assert run.wait() == 0
    assert {"a.txt", "b.txt", "theirs.txt"} <= files(scratch)


@pytest.mark.parametrize(
    ("theirs", "why"),
    [
        ({"a__txt": "theirs\n"}, "conflict in a.txt"),
        pytest.param({"bad__txt": "1\n"}, "`test ! -e bad.txt` fails", marks=pytest.mark.thorough),
    ],
)
def test_an_upstream_that_does_not_fit_is_said_and_the_run_goes_on(
    scratch: Scratch, theirs: dict[str, str], why: str
) -> None:
    scratch.graph("  a: {goal: x}\n", verify="test ! -e bad.txt")
    colleague = colleague_of(scratch)
    scratch.interlock("run")
    colleague.push(**theirs)
    graph = scratch.root / "task-graph.yaml"
    graph.write_text(graph.read_text() + "  b: {goal: x}\n")
    said = scratch.interlock("run")
    assert why in said
    assert "git switch main && git merge origin/main" in said
    assert said.count("continuing with the local main") == 1
    assert "b.txt" in files(scratch)
    assert "bad.txt" not in files(scratch)


REPAIR = "sed -i s/BROKEN/good/ theirs.txt 2>/dev/null; ! grep -rq BROKEN --include=*.txt ."


def test_a_merge_that_a_check_repaired_does_not_land(scratch: Scratch) -> None:
    """What was tested was the repaired tree, and the broken one landed."""
    scratch.graph("  a: {goal: x}\n", verify=f"'{REPAIR}'")
    colleague = colleague_of(scratch)
    scratch.interlock("run")
    colleague.push(theirs__txt="BROKEN\n")
    graph = scratch.root / "task-graph.yaml"
    graph.write_text(graph.read_text() + "  b: {goal: x}\n")
    scratch.commit("more")
    said = scratch.interlock("run")
    assert f"merge cleanly, but `{REPAIR}` edits theirs.txt of the result" in said
    assert {"a.txt", "b.txt"} <= files(scratch)
    assert "theirs.txt" not in files(scratch)


def test_a_check_that_edits_the_same_file_on_main_is_no_reason_against_a_merge(scratch: Scratch) -> None:
    scratch.write(both__txt="1\n2\n3\n4\n5\n")
    scratch.graph("  a: {goal: x}\n", "sed -i s/1/ours/ both.txt", verify="echo >> both.txt")
    colleague = colleague_of(scratch)
    scratch.interlock("run", code=None)
    scratch.write(both__txt="ours\n2\n3\n4\n5\n")
    scratch.git("add", "-A")
    scratch.git("commit", "-q", "--allow-empty", "-m", "mine")
    colleague.push(both__txt="1\n2\n3\n4\ntheirs\n")
    assert "merged origin/main into main as" in scratch.interlock("run", code=None)
