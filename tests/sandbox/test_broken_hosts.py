"""Machines on which no sandbox can be had: no agent starts, and the message names the fix (S10, D11)."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import interlock
from tests.engine.scratch import INTERLOCK, Scratch
from tests.run.tree import linux
from tests.sandbox.room import furnished
from tests.tiers import rest_thorough

pytestmark = [linux, pytest.mark.sandbox, pytest.mark.slow]

CRIPPLED = (sys.executable, str(Path(__file__).with_name("crippled.py")))
NO_LANDLOCK = (*CRIPPLED, "landlock", "--")
AS_USER = (sys.executable, str(Path(__file__).with_name("as_user.py")))
"""Root would break the whole machine, and is not to start programs under its own number."""
AS_ROOT_OF_A_NAMESPACE = (
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "--pid",
    "--fork",
    "--mount-proc",
)


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path / "repository")
    made.graph("  t: {goal: x}\n", verify="'true'")
    return made


@dataclass(frozen=True)
class Machine:
    """A machine that lacks something: the words before a command that is to be run on it."""

    before: tuple[str, ...]
    env: Mapping[str, str]

    def interlock(self, root: Path, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.before, *INTERLOCK, *words],
            cwd=root,
            env=os.environ | self.env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


def as_user(folder: Path) -> tuple[str, ...]:
    """As an ordinary user, who has the folder and our own programs."""
    needed = {
        sys.prefix,
        sys.base_prefix,
        str(Path(interlock.__file__).parent),
        str(Path(__file__).parents[2]),
    }
    return (*AS_USER, str(folder), *sorted(needed), "--")


def inside(folder: Path, script: str) -> tuple[str, ...]:
    """In a namespace of its own, after a script has broken something there. Skipped where it cannot."""
    before = (*as_user(folder), *AS_ROOT_OF_A_NAMESPACE, "sh", "-ec", f'{script}; exec "$@"', "sh")
    trial = subprocess.run([*before, "true"], capture_output=True, text=True, check=False)
    if trial.returncode:
        pytest.skip(f"this machine cannot be broken that way: {trial.stderr.strip()}")
    return before


def without_bubblewrap(tmp_path: Path) -> Machine:
    return Machine((*inside(tmp_path, 'mount --bind /dev/null "$(command -v bwrap)"'), *NO_LANDLOCK), {})


def without_user_namespaces(tmp_path: Path) -> Machine:
    return Machine((*inside(tmp_path, "echo 0 > /proc/sys/user/max_user_namespaces"), *NO_LANDLOCK), {})


def without_network_namespaces(tmp_path: Path) -> Machine:
    return Machine((*inside(tmp_path, "echo 0 > /proc/sys/user/max_net_namespaces"), *NO_LANDLOCK), {})


def with_a_masked_proc(tmp_path: Path) -> Machine:
    """As in most containers: a new /proc would show what the old one hides."""
    masked = inside(
        tmp_path, 'mount -t tmpfs none /proc/fs; set -- unshare --user --map-root-user --mount "$@"'
    )
    return Machine((*masked, *NO_LANDLOCK), {})


def without_filters(_: Path) -> Machine:
    return Machine((*CRIPPLED, "landlock,seccomp", "--"), {})


def under_apparmor(tmp_path: Path) -> Machine:
    """Not to be had here, so a bubblewrap that answers as the real one does there."""
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n')
    fake.chmod(0o755)
    return Machine(NO_LANDLOCK, {"PATH": f"{fake.parent}:{os.environ['PATH']}"})


BROKEN = {
    "no bubblewrap": (without_bubblewrap, ("not installed", "bubblewrap")),
    "no user namespaces": (without_user_namespaces, ("ENOSPC", "sysctl -w user.max_user_namespaces=")),
    "no network namespaces": (without_network_namespaces, ("ENOSPC", "sysctl -w user.max_net_namespaces=")),
    "a masked /proc": (with_a_masked_proc, ("proc", "systempaths=unconfined")),
    "no filters of system calls": (without_filters, ("SECCOMP", "CONFIG_SECCOMP_FILTER")),
    "AppArmor": (under_apparmor, ("setting up uid map: Permission denied", "apparmor_parser -r", "userns,")),
}


@pytest.fixture(params=rest_thorough(BROKEN, always=["AppArmor"]))
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Machine, tuple[str, ...]]:
    furnished(tmp_path, "bubblewrap")  # otherwise nothing here would be broken by us
    make, words = BROKEN[request.param]
    return make(tmp_path), words


def test_no_agent_starts_and_the_message_names_the_fix(
    scratch: Scratch, broken: tuple[Machine, tuple[str, ...]]
) -> None:
    machine, words = broken
    refused = machine.interlock(scratch.root, "run")
    assert refused.returncode == 7, refused.stdout + refused.stderr
    assert "agents cannot start: no sandbox works on this machine" in refused.stderr
    assert [word for word in words if word not in refused.stderr] == []
    assert "landlock" in refused.stderr
    assert "--unsafe-no-sandbox" in refused.stderr
    assert scratch.facts() == [], "nothing is recorded as started"
    assert not (scratch.root / ".git/interlock" / "workspaces").exists()


@pytest.mark.thorough
def test_a_program_is_told_the_code_of_the_error(scratch: Scratch, tmp_path: Path) -> None:
    furnished(tmp_path, "bubblewrap")
    said = json.loads(under_apparmor(tmp_path).interlock(scratch.root, "run", "--json").stdout)
    assert said["error"]["code"] == "no-sandbox"


@pytest.mark.parametrize(
    "kind",
    [
        "no bubblewrap",
        pytest.param("AppArmor", marks=pytest.mark.thorough),
        *(
            pytest.param(kind, marks=pytest.mark.night)  # the same reasons, which `run` shows by day
            for kind in BROKEN
            if kind not in {"no bubblewrap", "AppArmor"}
        ),
    ],
)
def test_doctor_says_what_is_wrong_and_how_to_mend_it(scratch: Scratch, tmp_path: Path, kind: str) -> None:
    furnished(tmp_path, "bubblewrap")
    make, words = BROKEN[kind]
    machine = make(tmp_path)
    said = machine.interlock(scratch.root, "doctor", "--json")
    assert said.returncode == 7
    rows = [row for row in json.loads(said.stdout)["checks"] if row["name"] == "sandbox"]
    text = "\n".join(f"{row['text']} {row['fix']}" for row in rows)
    assert {row["health"] for row in rows} == {"bad"}
    assert [word for word in words if word not in text] == []


def test_with_landlock_alone_agents_run_and_what_is_missing_is_said(scratch: Scratch, tmp_path: Path) -> None:
    furnished(tmp_path, "landlock")
    scratch.graph(
        "  t: {goal: x, done_when: 'test -e x.txt'}\n",
        f'cat "{scratch.root}/.git/config" && exit 3; touch "{tmp_path}/outside" && exit 4; echo x > x.txt',
    )
    done = Machine(inside(tmp_path, 'mount --bind /dev/null "$(command -v bwrap)"'), {}).interlock(
        scratch.root, "run"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "reduced sandbox (landlock): an agent could damage its own git dir" in done.stderr
    assert [fact["fact"]["sandbox"] for fact in scratch.facts("RunStarted")] == ["landlock"]


def test_without_a_sandbox_agents_run_only_if_a_person_says_so(scratch: Scratch, tmp_path: Path) -> None:
    scratch.graph("  t: {goal: x}\n", f'touch "{tmp_path}/outside"; echo x > x.txt', verify="'true'")
    machine = under_apparmor(tmp_path)
    done = machine.interlock(scratch.root, "run", "--unsafe-no-sandbox")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "NO SANDBOX" in done.stderr
    assert (tmp_path / "outside").exists()
    assert [fact["fact"]["sandbox"] for fact in scratch.facts("RunStarted")] == ["none"]
    assert scratch.status()["run"]["sandbox"] == "none"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("interlock.toml", "unsafe_no_sandbox = true\n"),
        ("interlock.toml", 'sandbox = "none"\n'),
        ("pyproject.toml", '[tool.interlock]\nsandbox = "none"\n'),
    ],
)
def test_no_file_of_a_repository_can_say_so(scratch: Scratch, file: str, text: str) -> None:
    (scratch.root / file).write_text(text)
    scratch.commit("settings")
    assert "sandbox" in scratch.interlock("run", code=2)
    assert not (scratch.root / ".git/interlock" / "log.db").exists()
