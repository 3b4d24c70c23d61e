"""A container as the sandbox: what its engine is told, and, where there is one, that it holds."""

import asyncio
import os
import stat
from pathlib import Path

import pytest

from interlock.model.errors import EnvironmentProblem
from interlock.model.process import Command
from interlock.model.sandbox import ForwardedPort, Grant, Limits
from interlock.process.choice import SandboxRequest, try_all
from interlock.process.containment import Containment
from interlock.process.probe import probe
from interlock.process.processes import LocalProcesses
from interlock.process.supervised import Bounds
from interlock.process.survivors import end_survivors, take_note
from interlock.sandbox.confinement import Confined, clear_up, close_all
from interlock.sandbox.container import Container
from tests.run.tree import linux

pytestmark = linux

MARK = {"INTERLOCK_PROCESS": "0123abcd"}


@pytest.fixture
def grant(tmp_path: Path) -> Grant:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept").touch()
    return Grant(
        write=(f"{tmp_path}/mine",),
        protect=(f"{tmp_path}/mine/kept", f"{tmp_path}/mine/absent"),
        read=("/opt/shared",),
        limits=Limits(memory_bytes=1 << 30, processes=64),
    )


def command(tmp_path: Path) -> Command:
    env = {"KEY": "secret", "LINES": "one\ntwo", "HOME": "/home/person"}
    return Command(("agent", "--go"), f"{tmp_path}/mine", f"{tmp_path}/log", env, timeout_seconds=60.0)


def told(confined: Confined) -> list[str]:
    """Everything that is mounted, in order."""
    words = confined.argv
    return [words[at + 1] for at, word in enumerate(words) if word == "--mount"]


def test_the_engine_mounts_the_grant_and_nothing_else(tmp_path: Path, grant: Grant) -> None:
    confined = Container("/usr/bin/podman", "image").confine(command(tmp_path), grant, MARK)
    close_all(confined)
    mine = f"{tmp_path}/mine"
    assert told(confined) == [
        "type=bind,source=/opt/shared,target=/opt/shared,readonly",
        f"type=bind,source={mine},target={mine}",
        f"type=bind,source={mine}/kept,target={mine}/kept,readonly",
    ]
    for word in (
        "--network=none",
        "--read-only",
        "--cap-drop=ALL",
        "--rm",
        f"--memory={1 << 30}",
        "--pids-limit=64",
    ):
        assert word in confined.argv
    assert confined.argv[-4:] == ("--", "image", "agent", "--go")
    assert confined.container == ("/usr/bin/podman", "interlock-0123abcd")


def test_no_variable_is_in_the_words_and_the_engine_gets_none_of_them(tmp_path: Path, grant: Grant) -> None:
    confined = Container("/usr/bin/docker", "image").confine(command(tmp_path), grant, MARK)
    said = os.read(confined.descriptors[0], 1 << 16).decode()
    close_all(confined)
    assert "secret" not in " ".join(confined.argv)
    assert "KEY" not in confined.env
    assert "KEY=secret\n" in said
    assert "HOME=/home/agent\n" in said
    assert "two" not in said, "a value of several lines would be read as other variables"
    assert confined.argv[confined.argv.index("--env-file") + 1] == f"/proc/self/fd/{confined.descriptors[0]}"


def test_a_process_inside_forwards_the_ports(tmp_path: Path, grant: Grant) -> None:
    with_port = Grant(write=grant.write, forwarded_ports=(ForwardedPort(8377, f"{tmp_path}/socket"),))
    confined = Container("/usr/bin/podman", "image").confine(command(tmp_path), with_port, MARK)
    close_all(confined)
    inside = confined.argv[confined.argv.index("image") + 1 :]
    assert inside[0] == "python3"
    assert inside[-4:] == (f"8377={tmp_path}/socket", "--", "agent", "--go")
    assert f"type=bind,source={tmp_path}/socket,target={tmp_path}/socket,readonly" in told(confined)


def test_a_path_that_an_engine_would_read_as_options_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    odd = Grant(write=(f"{tmp_path}/a,readonly=false",))
    with pytest.raises(EnvironmentProblem, match="there is a comma in it"):
        Container("/usr/bin/podman", "image").confine(command(tmp_path), odd, MARK)


def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine that only notes what it is asked."""
    asked = tmp_path / "asked"
    program = tmp_path / "bin" / "podman"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> "{asked}"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return asked


def test_a_container_is_removed_by_name_when_its_program_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = engine(tmp_path, monkeypatch)
    clear_up(Confined((), {}, "/", container=(str(tmp_path / "bin" / "podman"), "interlock-0123")))
    assert asked.read_text() == "rm --force interlock-0123\n"


def test_a_container_that_was_only_tried_is_removed_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = engine(tmp_path, monkeypatch)
    program = str(tmp_path / "bin" / "podman")
    assert not probe(Container(program, "image"), Containment.SUBREAPER).works
    assert asked.read_text().endswith(f"rm --force interlock-probe-{os.getpid()}\n")


def test_a_container_that_a_dead_engine_left_is_removed_by_whoever_comes_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = engine(tmp_path, monkeypatch)
    note = tmp_path / "pid"
    take_note(note, 2**22 + 1, "0123abcd", str(tmp_path / "bin" / "podman"))
    end_survivors(note)
    assert asked.read_text() == "rm --force interlock-0123abcd\n"


def test_a_note_cannot_name_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = engine(tmp_path, monkeypatch)
    other = tmp_path / "bin" / "other"
    other.write_text((tmp_path / "bin" / "podman").read_text())
    other.chmod(0o755)
    note = tmp_path / "pid"
    take_note(note, 2**22 + 1, "0123abcd", str(other))
    end_survivors(note)
    assert not asked.exists()


def test_without_an_image_or_an_engine_it_says_what_is_missing() -> None:
    (tried,) = try_all(SandboxRequest("container"))
    assert (tried.message, tried.fix) == ("no image is named", 'container_image = "..." in interlock.toml')


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_real_engine_confines_a_program(tmp_path: Path) -> None:
    """Where one is installed, and `INTERLOCK_TEST_IMAGE` names an image that it has."""
    (tried,) = try_all(SandboxRequest("container", image=os.environ.get("INTERLOCK_TEST_IMAGE", "")))
    if tried.confinement is None:
        pytest.skip(tried.message)
    (tmp_path / "mine").mkdir()
    (tmp_path / "secret").write_text("private")
    grant = Grant(write=(f"{tmp_path}/mine",))
    script = f"cat {tmp_path}/secret; echo made > file"
    command = Command(("sh", "-c", script), f"{tmp_path}/mine", f"{tmp_path}/log", grant=grant)
    ended = asyncio.run(LocalProcesses(bounds=Bounds(tried.confinement)).run(command))
    assert "private" not in ended.tail
    assert (tmp_path / "mine" / "file").read_text() == "made\n"
