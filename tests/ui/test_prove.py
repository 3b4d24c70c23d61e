"""`interlock doctor --prove`: what is promised is seen to happen, and what does not happen is said (D13)."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from interlock.engine.settings import Settings
from interlock.ui.cli.prove.stage import ProofRepository
from tests.run.tree import BOUND_SECONDS, linux, until
from tests.tiers import rest_at_night
from tests.ui.conftest import GIT, Result

NAMES = {
    "claim race",
    "conflict avoided",
    "overlap seen by the radar",
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
    env = environment(folder) | {"PATH": path + os.environ["PATH"]}
    done = subprocess.run(
        argv(folder, *words), env=env, capture_output=True, text=True, check=False, timeout=240
    )
    return Result(done.returncode, done.stdout, done.stderr)


def argv(folder: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "interlock", "--project", str(folder), "doctor", *words]


def environment(folder: Path) -> dict[str, str]:
    return os.environ | GIT | {"TMPDIR": str(folder)}


@contextmanager
def proving(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Proofs under way, as far as the first run of one of them."""
    command = argv(folder, "--prove")
    with subprocess.Popen(command, env=environment(folder), stdout=subprocess.DEVNULL) as started:
        try:
            until(lambda: any(runs_in(folder)))
            yield started
        finally:
            started.kill()


def runs_in(folder: Path, what: str = " run ") -> Iterator[psutil.Process]:
    """The commands that proofs have started below a folder; with '' whatever names it."""
    for process in psutil.process_iter():
        try:
            words = " ".join(process.cmdline())
            if (
                f"{folder}/interlock-prove-" in words
                and what in words
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                yield process
        except psutil.Error:
            continue


def suspended(folder: Path) -> psutil.Process:
    """A command of a proof, stopped. Between two of them there may be none, and each may end at any time."""
    caught: list[psutil.Process] = []

    def catch() -> bool:
        for process in runs_in(folder):
            with suppress(psutil.NoSuchProcess):
                process.suspend()
                caught.append(process)
                return True
        return False

    until(catch)
    return caught[0]


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.thorough
def test_every_mechanism_is_shown_firing_with_the_facts_that_say_so(tmp_path: Path) -> None:
    """W1, T3 and D4 among others: `PROOFS` names the ids that each proof is about."""
    result = doctor(tmp_path, "--prove", "--json")
    proofs = {proof["name"]: proof for proof in result.json["proofs"] if proof["outcome"] != "not built"}
    assert {name: proof["text"] for name, proof in proofs.items() if proof["outcome"] != "fired"} == {}
    assert proofs.keys() >= NAMES
    assert all(proof["facts"] for proof in proofs.values())
    assert result.code == 0
    assert not list(tmp_path.glob("interlock-prove-*"))


@pytest.mark.slow
@pytest.mark.night  # it waits for every proof to fail
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


HOLDER = """
import signal, sqlite3, sys
log = sqlite3.connect(sys.argv[1], isolation_level=None)
signal.signal(signal.SIGCONT, lambda *_: log.in_transaction and log.execute("COMMIT"))
log.execute("BEGIN IMMEDIATE")
print("in the middle of a write", flush=True)
while True:
    signal.pause()
"""


@linux
@pytest.mark.slow
def test_a_run_that_is_in_the_middle_of_a_write_is_stopped_after_it(tmp_path: Path) -> None:
    async def story() -> str:
        stage = ProofRepository(tmp_path, Settings(), "mark")
        await stage.write({"task-graph.yaml": "version: 1\ntasks: {}\n"})
        async with stage.project() as project:
            await project.store.append([], "make the file")
        log = stage.root / ".git/interlock" / "log.db"
        writer = await asyncio.create_subprocess_exec(
            sys.executable, "-c", HOLDER, str(log), stdout=asyncio.subprocess.PIPE
        )
        assert writer.stdout
        await writer.stdout.readline()
        try:
            await stage.pause(writer)
            async with stage.project() as project, asyncio.timeout(BOUND_SECONDS):
                await project.store.append([], "somebody else")
            return psutil.Process(writer.pid).status()
        finally:
            writer.kill()
            await writer.communicate()

    assert asyncio.run(story()) == psutil.STATUS_STOPPED


def test_keep_alone_makes_no_sense(tmp_path: Path) -> None:
    result = doctor(tmp_path, "--keep")
    assert (result.code, "--prove" in result.err) == (2, True)


@linux
@pytest.mark.slow
@pytest.mark.parametrize("number", rest_at_night([signal.SIGTERM, signal.SIGINT], by_day=[signal.SIGINT]))
def test_whoever_ends_it_finds_no_process_and_no_folder_left(tmp_path: Path, number: signal.Signals) -> None:
    with proving(tmp_path) as doctor:
        doctor.send_signal(number)
        assert doctor.wait(60) == 130
    assert list(runs_in(tmp_path, "")) == []
    assert list(tmp_path.glob("interlock-prove-*")) == []


@linux
@pytest.mark.slow
@pytest.mark.thorough
def test_what_a_killed_one_left_is_ended_by_the_next(tmp_path: Path) -> None:
    """Even a process that was stopped, which nothing but a signal ends."""
    with proving(tmp_path) as killed:
        stopped = suspended(tmp_path)
        killed.kill()
    (left,) = tmp_path.glob("interlock-prove-*")
    with proving(tmp_path) as following:
        until(lambda: not left.exists())
        assert stopped not in list(runs_in(tmp_path))
        until(lambda: any(runs_in(tmp_path)))
        following.terminate()
        following.wait(60)
    assert list(tmp_path.glob("interlock-prove-*")) == []
