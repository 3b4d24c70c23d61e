"""The wrapper: sealed environment, bounded time and output, no child left behind."""

import asyncio
import os
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.model.errors import EnvironmentProblem
from tests.git.world import World, git, run
from tests.run.tree import children


class Spark(BytesIO):
    """Tells when the first output arrives."""

    def __init__(self) -> None:
        super().__init__()
        self.lit = asyncio.Event()

    def write(self, chunk: Any, /) -> int:  # Any: the name of "any buffer" is newer than Python 3.11
        self.lit.set()
        return super().write(chunk)


def test_a_sealed_call_sees_nothing_of_the_users_configuration(world: World) -> None:
    seen = run(Git(world.root / ".git").run("config", "--get", "user.name", ok=(0, 1)))
    assert seen.line == ""
    assert run(Git(world.root / ".git", as_user=True).run("config", "--get", "user.name")).line == "Ada"


def test_variables_of_a_surrounding_git_do_not_redirect_us(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "elsewhere" / "index"))
    assert world.place.common_dir == world.root / ".git"
    said = run(Git(world.root / ".git", world.root, as_user=True).run("ls-files"))
    assert "a.txt" in said.line


def test_a_command_that_hangs_is_stopped(world: World) -> None:
    others, (read, write) = children(), os.pipe()
    with (
        os.fdopen(read, "rb") as feed,
        os.fdopen(write, "wb"),
        pytest.raises(GitFailed, match="its time limit"),
    ):
        run(Git(world.root / ".git").run("cat-file", "--batch", feed=feed, timeout=0.05))
    assert children() <= others


def test_cancelling_ends_the_child(world: World) -> None:
    async def story() -> None:
        read, write = os.pipe()
        spark = Spark()
        with os.fdopen(read, "rb") as feed, os.fdopen(write, "wb") as keyboard:
            work = asyncio.create_task(
                Git(world.root / ".git").run("cat-file", "--batch-check", "--buffer", feed=feed, sink=spark)
            )
            keyboard.write(b"HEAD\n" * 3000)
            keyboard.flush()
            await spark.lit.wait()
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work

    others = children()
    run(story())
    assert children() <= others


def test_output_beyond_the_limit_is_cut_and_said_so(world: World) -> None:
    feed = b"HEAD\n" * 5000
    said = run(Git(world.root / ".git").run("cat-file", "--batch-check", feed=feed, limit_bytes=1000))
    assert said.cut
    assert len(said.out) <= 1000


def test_a_failure_carries_what_git_said(world: World) -> None:
    with pytest.raises(GitFailed, match=r"cat-file failed: .*Not a valid object name"):
        run(Git(world.root / ".git").run("cat-file", "-p", "nothing"))


def test_without_git_the_message_says_what_to_install(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    place = world.place
    monkeypatch.setenv("PATH", str(world.root))
    with pytest.raises(EnvironmentProblem, match="git is not installed") as caught:
        run(place.git.run("version"))
    assert "install git" in caught.value.hint


def test_hooks_of_the_user_do_not_run(world: World) -> None:
    hook = world.root / ".git" / "hooks" / "reference-transaction"
    hook.write_text("#!/bin/sh\ntouch fired\n")
    hook.chmod(0o755)
    run(Git(world.root / ".git").run("update-ref", "refs/interlock/x", world.main))
    assert git(world.root, "rev-parse", "refs/interlock/x") == world.main
    assert not list(world.root.rglob("fired"))
