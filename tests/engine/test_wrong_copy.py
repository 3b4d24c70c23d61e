"""A check that imports another copy of the project tests nothing of a change: `doctor` and `run` refuse."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.verify.wrong_copy import WrongCopy, own_packages, probe, read_probe
from tests.engine.scratch import Scratch

TEST = """\
import unittest
import shapes


class T(unittest.TestCase):
    def test(self):
        assert shapes.area(2) == 4
"""
BREAKS_IT = "echo 'def area(side): raise ValueError' > src/shapes/__init__.py"


@pytest.fixture
def project(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> Scratch:
    """A package in src/ whose environment is activated, and an agent that breaks it."""
    (scratch.root / "src" / "shapes").mkdir(parents=True)
    (scratch.root / "tests").mkdir()
    (scratch.root / "src" / "shapes" / "__init__.py").write_text("def area(side):\n    return side * side\n")
    (scratch.root / "tests" / "test_shapes.py").write_text(TEST)
    scratch.write(pyproject__toml='[project]\nname = "shapes"\nversion = "1"\n', __gitignore=".venv\n")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], cwd=scratch.root, check=True)
    monkeypatch.setenv("PATH", f"{scratch.root}/.venv/bin:{os.environ['PATH']}")
    scratch.graph("  a: {goal: a}\n", BREAKS_IT, verify='"python -m unittest discover -q tests"', retries="0")
    return scratch


def install(root: Path, *, editable: bool) -> None:
    """What `pip install .` or `pip install -e .` leaves in the environment."""
    (packages,) = (root / ".venv" / "lib").glob("*/site-packages")
    about = packages / "shapes-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shapes\nVersion: 1\n")
    (about / "RECORD").write_text("shapes/__init__.py,,\nshapes-1.dist-info/METADATA,,\n")
    (about / "direct_url.json").write_text(
        json.dumps({"url": f"file://{root}", "dir_info": {"editable": editable}})
    )
    if editable:
        (packages / "shapes.pth").write_text(f"{root}/src\n")
    else:
        (packages / "shapes").mkdir()
        (packages / "shapes" / "__init__.py").write_text((root / "src/shapes/__init__.py").read_text())


@pytest.mark.slow
def test_a_run_whose_checks_test_an_installed_copy_is_refused(project: Scratch) -> None:
    install(project.root, editable=False)
    main = project.git("rev-parse", "main")
    said = project.interlock("run", code=7)
    assert "broke shapes.area on purpose, and `python -m unittest discover -q tests` still passed" in said
    assert "site-packages/shapes/__init__.py, an installed copy" in said
    assert "pip install -e ." in said
    assert project.git("rev-parse", "main") == main
    assert project.facts("PhaseStarted") == []


@pytest.mark.slow
def test_doctor_names_the_copy_and_the_command_that_mends_it(project: Scratch) -> None:
    install(project.root, editable=False)
    (row,) = [
        row
        for row in json.loads(project.interlock("doctor", "--json", code=7))["checks"]
        if row["name"] == "canary"
    ]
    assert (row["health"], "an installed copy" in row["text"]) == ("bad", True)
    assert "pip install -e ." in row["fix"]


@pytest.mark.slow
def test_without_a_sandbox_an_editable_install_leads_to_the_checkout_and_is_refused(project: Scratch) -> None:
    """The check runs in a folder of its own, but imports what the person has checked out."""
    install(project.root, editable=True)
    said = project.interlock("run", "--unsafe-no-sandbox", code=7)
    assert "src/shapes/__init__.py, an editable install of another folder" in said


def test_packages_are_those_that_could_be_installed() -> None:
    files = ["pyproject.toml", "src/shapes/__init__.py", "src/shapes/deep/__init__.py", "tests/__init__.py"]
    assert own_packages(files) == ("shapes",)
    assert own_packages(["pyproject.toml", "shapes/__init__.py", "docs/__init__.py"]) == ("shapes",)
    assert own_packages(["src/shapes/__init__.py"]) == ()


def test_a_probe_asks_the_interpreter_of_the_check_and_its_lines_are_read() -> None:
    command = probe(["shapes"], [".tox/py/bin/python3.12 -m pytest", "ruff check"])
    assert command.startswith("p=$(command -v .tox/py/bin/python3.12 || command -v .venv/bin/python")
    assert "exec env PYTHONPATH=src " in probe(["shapes"], ["PYTHONPATH=src .venv/bin/python -m pytest"])
    lines = "noise\ninterlock-probe\ta\there\t/x/a.py\ninterlock-probe\tb\tcopy\t/venv/b.py\n"
    assert read_probe(lines) == WrongCopy("b", "/venv/b.py", is_editable=False)
    assert read_probe("interlock-probe\tb\teditable\t/y/b.py\n") == WrongCopy(
        "b", "/y/b.py", is_editable=True
    )
    assert read_probe("nothing\n") is None
