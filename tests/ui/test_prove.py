"""`interlock doctor --prove`: what is promised is seen to happen, and what does not happen is said (D13)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ui.conftest import GIT, Result

NAMES = {
    "claim race",
    "conflict avoided",
    "semantic conflict caught",
    "crash resumed",
    "stale worker fenced",
    "sandbox attack blocked",
    "workspace archived",
    "clutch opening",
    "clutch braking",
    "lesson handed on",
}


def doctor(folder: Path, *words: str, path: str = "") -> Result:
    """The command as a person starts it, with a place for scratch files that can be looked at."""
    env = os.environ | GIT | {"TMPDIR": str(folder), "PATH": path + os.environ["PATH"]}
    argv = [sys.executable, "-m", "interlock", "--project", str(folder), "doctor", *words]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=240)
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
@pytest.mark.sandbox
def test_every_mechanism_is_shown_firing_with_the_facts_that_say_so(tmp_path: Path) -> None:
    result = doctor(tmp_path, "--prove", "--json")
    proofs = {proof["name"]: proof for proof in result.json["proofs"] if proof["outcome"] != "not built"}
    assert {name: proof["text"] for name, proof in proofs.items() if proof["outcome"] != "fired"} == {}
    assert proofs.keys() >= NAMES
    assert all(proof["facts"] for proof in proofs.values())
    assert result.code == 0
    assert not list(tmp_path.glob("interlock-prove-*"))


@pytest.mark.slow
def test_a_mechanism_that_does_not_fire_is_said_and_its_repository_kept(tmp_path: Path) -> None:
    broken = tmp_path / "bin"
    broken.mkdir()
    (broken / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (broken / "bwrap").chmod(0o755)
    (tmp_path / "interlock.toml").write_text('sandbox = "bubblewrap"\n')
    result = doctor(tmp_path, "--prove", path=f"{broken}:")
    assert result.code == 1
    assert "failed    sandbox attack blocked" in result.out
    assert "interlock --project" in result.err
    assert list(tmp_path.glob("interlock-prove-*/*/repository"))


def test_keep_alone_makes_no_sense(tmp_path: Path) -> None:
    result = doctor(tmp_path, "--keep")
    assert (result.code, "--prove" in result.err) == (2, True)
