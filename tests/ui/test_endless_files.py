"""Files of a checkout that have no end, or more brackets than Python follows, count as absent."""

import subprocess
from pathlib import Path

import pytest

from tests.engine.scratch import INTERLOCK, Scratch
from tests.run.tree import linux

DEEP = "[\n" * 200_000
"""In one line it is as deep, but PyYAML takes two seconds to say so."""


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path / "repository")
    made.write(shapes__py="def area(w, h):\n    return w * h\n")
    return made


def bounded(scratch: Scratch, *argv: str) -> tuple[int, str]:
    """The exit code and the output of a command that may not take all memory."""
    words = ("sh", "-c", 'ulimit -v 3000000; exec "$@"', "sh", *INTERLOCK, *argv)
    done = subprocess.run(
        words, cwd=scratch.root, env=scratch.env, check=False, capture_output=True, text=True, timeout=100
    )
    return done.returncode, done.stdout + done.stderr


@linux
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["deep", "endless"])
def test_settings_of_tools_that_cannot_be_read_stop_no_command(scratch: Scratch, kind: str) -> None:
    (scratch.root / ".venv").mkdir()
    (scratch.root / ".github/workflows").mkdir(parents=True)
    for name in ("package.json", "pyproject.toml", ".github/workflows/a.yml", ".venv/pyvenv.cfg"):
        if kind == "deep":
            (scratch.root / name).write_text(DEEP)
        elif name != "pyproject.toml":  # settings of Interlock may be there, so that one is an error
            (scratch.root / name).symlink_to("/dev/zero")
    scratch.graph("  t: {goal: x}\n")
    assert bounded(scratch, "doctor", "--no-checks")[0] == 0
    (scratch.root / "task-graph.yaml").unlink()
    assert bounded(scratch, "init")[0] == 0


@linux
@pytest.mark.slow
@pytest.mark.parametrize("name", ["task-graph.yaml", "interlock.toml"])
def test_a_graph_or_settings_without_an_end_are_refused_with_their_name(scratch: Scratch, name: str) -> None:
    scratch.graph("  t: {goal: x}\n")
    (scratch.root / name).unlink(missing_ok=True)
    (scratch.root / name).symlink_to("/dev/zero")
    code, said = bounded(scratch, "run", "--no-input")
    assert (code, name in said) == (2, True), said
    (scratch.root / name).unlink()
    (scratch.root / name).write_text(f"a = {DEEP}")
    code, said = bounded(scratch, "plan")
    assert (code, name in said) == (2, True), said
