"""What a checkout lacks is said by `doctor`, `plan` and `run`, with the command that brings it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.ui.conftest import GIT, Lab, git

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n"


def graph(lab: Lab) -> None:
    lab.run("init", "--no-checks")
    git(lab.root, "add", "-A")
    git(lab.root, "commit", "-qm", "Files")


def with_submodule(root: Path, elsewhere: Path) -> None:
    git(elsewhere.parent, "init", "-q", str(elsewhere))
    (elsewhere / "x.txt").write_text("x\n")
    git(elsewhere, "add", "-A")
    git(elsewhere, "commit", "-qm", "x")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(elsewhere), "libs/x")


@pytest.mark.slow
def test_a_submodule_that_is_not_checked_out_is_named(lab: Lab, tmp_path: Path) -> None:
    with_submodule(lab.root, tmp_path / "elsewhere")
    graph(lab)
    assert "dependencies, submodules and LFS files are complete" in lab.run("doctor").out
    (lab.root / "libs/x/x.txt").write_text("edited\n")
    said = (
        "agents and checks see submodule libs/x as it was committed, without your edits: git -C libs/x stash"
    )
    assert f"warning: {said}" in lab.run("plan").err
    git(lab.root, "submodule", "--quiet", "deinit", "-f", "libs/x")
    assert "libs/x" not in lab.run("plan").err  # its commit is still in .git/modules
    shutil.rmtree(lab.root / ".git/modules")
    said = "submodule libs/x is not checked out: git submodule update --init -- libs/x"
    assert f"warning: {said}" in lab.run("plan").err
    assert "submodule libs/x is not checked out" in lab.run("doctor").out


@pytest.mark.slow
def test_a_pointer_of_lfs_in_place_of_its_file_is_named(lab: Lab) -> None:
    (lab.root / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    (lab.root / "big.bin").write_text(POINTER.format("0" * 64))
    env = os.environ | GIT
    # Without git-lfs installed, its filter is unknown and git takes the pointer as it is.
    subprocess.run(["git", "add", "-A"], cwd=lab.root, env=env, check=True)
    graph(lab)
    assert "warning: git LFS files are not downloaded: big.bin: git lfs pull" in lab.run("plan").err
    (lab.root / "big.bin").write_text("the real content")
    assert "LFS" not in lab.run("plan").err


@pytest.mark.slow
def test_a_lock_file_without_its_folder_is_named(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    program = lab.root.parent / "programs" / "uv"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    (lab.root / "uv.lock").touch()
    (lab.root / "pyproject.toml").touch()
    (lab.root / ".gitignore").write_text(".venv\n")
    graph(lab)
    said = "uv.lock exists, but .venv does not: run `uv sync --frozen`"
    assert said not in lab.run("plan").err  # the `setup` that init wrote makes it
    path = lab.root / "task-graph.yaml"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if "setup:" not in line))
    assert f"warning: {said}" in lab.run("plan").err
    (lab.root / ".venv").mkdir()
    assert said not in lab.run("plan").err
