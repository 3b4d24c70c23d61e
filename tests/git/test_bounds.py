"""The host's limits on what it takes from an attempt, and on the git processes that read it."""

import os
import select
import stat
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from interlock.git import bounds
from interlock.git.command import Git
from interlock.git.files import remove_tree
from interlock.git.protocol import Workspace
from interlock.git.workspaces import GitWorkspaces
from interlock.model.errors import RejectedObjects
from tests.git.agents import collected, names, opened
from tests.git.test_hostile_objects import Entry, blob, raw, raw_tree
from tests.git.world import World, run, write

WHO = "A <a@b> 0 +0000"
ENGINE = """
import asyncio, sys
from pathlib import Path
import psutil
from interlock.git.command import Git

async def main():
    git, endless = Git(Path(sys.argv[1])), open("/dev/zero", "rb")
    work = asyncio.create_task(git.run("hash-object", "--stdin", feed=endless))
    await asyncio.sleep(0)
    print(*(child.pid for child in psutil.Process().children()), flush=True)
    await work

asyncio.run(main())
"""


def commit_of(workspace: Workspace, tree: str, base: str, message: str = "x") -> str:
    text = f"tree {tree}\nparent {base}\nauthor {WHO}\ncommitter {WHO}\n\n{message}\n"
    return raw(workspace, "commit", text.encode())


def nested(workspace: Workspace, tree: str, name: bytes, times: int, fan: int = 1) -> str:
    for _ in range(times):
        entries: list[Entry] = [("40000", b"%s%d" % (name, number), tree) for number in range(fan)]
        tree = raw_tree(workspace, entries)
    return tree


def refusal(world: World, workspace: Workspace, commit: str = "") -> str:
    """The sentence that a commit, or else the files, are refused with."""
    if commit:
        (workspace.home / "private.git" / "HEAD").write_text(f"{commit}\n")
    with pytest.raises(RejectedObjects) as caught:
        collected(world, workspace)
    run(world.workspaces.discard(workspace))
    assert [left.state for left in world.workspaces.listing()] == ["evidence"]
    return str(caught.value)


def small(workspace: Workspace) -> str:
    return raw_tree(workspace, [("100644", b"f", blob(workspace, "x\n"))])


def test_a_tree_bomb_is_counted_and_not_expanded(world: World) -> None:
    workspace = opened(world)
    tree = nested(workspace, small(workspace), b"n", times=12, fan=10)
    said = refusal(world, workspace, commit_of(workspace, tree, world.main))
    assert "there are 1,000,000,000,000 files in one change; the limit is 200,000 files" in said


def test_a_tree_bomb_in_an_earlier_commit_is_refused_too(world: World) -> None:
    workspace = opened(world)
    bomb = commit_of(workspace, nested(workspace, small(workspace), b"n", times=9, fan=10), world.main)
    said = refusal(world, workspace, commit_of(workspace, world.tree("main"), bomb))
    assert "1,000,000,000 files" in said


@pytest.mark.slow
def test_folders_inside_folders_have_a_limit(world: World) -> None:
    workspace = opened(world)
    tree = nested(workspace, small(workspace), b"", times=bounds.DEPTH + 1)
    assert "folders deep" in refusal(world, workspace, commit_of(workspace, tree, world.main))


def test_a_tree_that_claims_to_be_inside_itself_is_refused(world: World) -> None:
    """Git does not compare the content of a loose object with its name when it reads a tree."""
    workspace = opened(world)
    own = "ab" * 20
    content = b"40000 again\0" + bytes.fromhex(own)
    path = workspace.home / "private.git" / "objects" / own[:2] / own[2:]
    path.parent.mkdir()
    path.write_bytes(zlib.compress(b"tree %d\0" % len(content) + content))
    assert "is damaged" in refusal(world, workspace, commit_of(workspace, own, world.main))


@pytest.mark.parametrize(
    ("name", "said"), [(b"n" * 4999, "a file name has 5,000"), (b"n" * 250, "a path has")]
)
def test_names_that_no_checkout_can_hold_are_refused(world: World, name: bytes, said: str) -> None:
    workspace = opened(world)
    tree = nested(workspace, small(workspace), name, times=1 if len(name) > 255 else 9)
    assert said in refusal(world, workspace, commit_of(workspace, tree, world.main))


def test_a_commit_with_a_huge_message_is_refused(world: World) -> None:
    workspace = opened(world)
    commit = commit_of(workspace, world.tree("main"), world.main, "m" * bounds.COMMIT_BYTES)
    assert "the limit is 1,048,576 bytes" in refusal(world, workspace, commit)


def test_no_more_of_the_trees_is_read_than_the_limit_on_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As much as git may print at all was read, four times the limit, before they were refused."""
    monkeypatch.setattr(bounds, "TREE_BYTES", 4096)
    monkeypatch.setattr(bounds, "OUTPUT_BYTES", 8192)
    workspace = opened(world)
    content = blob(workspace, "x\n")
    tree = raw_tree(workspace, [("100644", b"f%04d" % number, content) for number in range(400)])
    said = refusal(world, workspace, commit_of(workspace, tree, world.main))
    assert "its commits list too many names; the limit is 4,096 bytes" in said


def test_an_object_that_claims_more_than_all_memory_ends_git_and_nothing_else(world: World) -> None:
    workspace = opened(world)
    path = workspace.home / "private.git" / "objects" / "ab" / ("ab" * 19)
    path.parent.mkdir()
    path.write_bytes(zlib.compress(b"commit %d\0tree " % (1 << 40)))
    assert "runs out of memory on it; the limit is 2048 MiB" in refusal(world, workspace, "ab" * 20)


def test_a_file_that_is_small_packed_and_huge_unpacked_is_refused(world: World) -> None:
    workspace = opened(world)
    big = raw(workspace, "blob", b"0" * 2_000_000)
    first = commit_of(workspace, raw_tree(workspace, [("100644", b"big", big)]), world.main)
    commit = commit_of(workspace, world.tree("main"), first)
    (workspace.home / "private.git" / "HEAD").write_text(f"{commit}\n")
    with pytest.raises(RejectedObjects, match="one of its files is too large; the limit is 1,000,000 bytes"):
        run(GitWorkspaces(world.place, limit_bytes=100_000).collect(workspace, "x\n"))


def test_a_file_that_takes_no_room_and_too_long_to_read_is_refused(world: World) -> None:
    workspace = opened(world)
    with (workspace.path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    assert "sparse alone 1,024.0 GiB; the limit is 2.0 GiB" in refusal(world, workspace)


def test_a_huge_file_that_git_ignores_does_not_count(world: World) -> None:
    workspace = opened(world)
    with (workspace.path / "huge.log").open("wb") as file:
        file.truncate(1 << 40)
    write(workspace.path, {"new.txt": "x\n"})
    assert "new.txt" in names(world, collected(world, workspace).commit)


@pytest.mark.slow
def test_folders_on_disk_have_a_limit_and_are_removed_however_deep(
    world: World, request: pytest.FixtureRequest
) -> None:
    workspace = opened(world)
    request.addfinalizer(lambda: remove_tree(world.root))  # pytest recurses, and breaks off
    script = "import os\nfor _ in range(1200):\n os.mkdir('d')\n os.chdir('d')\nopen('f', 'w')"
    subprocess.run([sys.executable, "-c", script], cwd=workspace.path, check=True)
    assert "folders deep" in refusal(world, workspace)
    (left,) = world.workspaces.listing()
    remove_tree(left.path)
    assert not left.path.exists()


def test_shut_folders_and_links_are_removed_without_following(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    shut = tmp_path / "root" / "a" / "shut"
    shut.mkdir(parents=True)
    (shut / "link").symlink_to(kept)
    (shut / "below").mkdir()
    for folder in (shut / "below", shut, shut.parent):
        folder.chmod(0)
    remove_tree(tmp_path / "root")
    assert [path.name for path in tmp_path.rglob("*")] == ["kept", "file"]


def test_odd_files_do_not_hold_an_import_up(world: World) -> None:
    """Pipes, sockets, loops of links, and names with anything in them."""
    workspace = opened(world)
    for name in (".gitattributes", "pipe", "src/.gitignore"):
        os.mkfifo(workspace.path / name)
    (workspace.path / "loop").symlink_to("loop")
    os.mknod(workspace.path / "socket", stat.S_IFSOCK | 0o600)
    (workspace.path / "line\nbreak").write_text("x")
    (workspace.path / os.fsdecode(b"\xff\xfe")).write_text("x")
    (workspace.path / "Case").write_text("x")
    (workspace.path / "case").write_text("x")
    found = names(world, collected(world, workspace).commit)
    assert {"loop", "line\nbreak", os.fsdecode(b"\xff\xfe"), "Case", "case"} <= set(found)
    assert not {"pipe", "socket", ".gitattributes"} & set(found)


def test_of_very_many_branches_the_rest_stays_as_evidence(world: World) -> None:
    workspace = opened(world)
    made = raw(
        workspace, "commit", f"tree {world.tree('main')}\nauthor {WHO}\ncommitter {WHO}\n\nx\n".encode()
    )
    lines = [f"{made} refs/heads/b{number}\n" for number in range(bounds.REFS + 1)]
    refs = workspace.home / "private.git" / "packed-refs"
    refs.write_text(refs.read_text() + "".join(lines))
    write(workspace.path, {"new.txt": "x\n"})
    collected(world, workspace)
    assert run(world.workspaces.discard(workspace)) is not None


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux does this")
def test_git_has_limits_and_reads_what_an_agent_made_with_more_of_them(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits until its memory is limited, and then says how much processor time it has."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    memory = bounds.MEMORY_BYTES >> 10
    program.write_text(f'#!/bin/sh\nuntil [ "$(ulimit -d)" = {memory} ]; do :; done\nulimit -t\n')
    program.chmod(0o755)
    common = world.place.common_dir
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    said = [run(Git(common, untrusted=untrusted).run("version", timeout=60)) for untrusted in (False, True)]
    assert [each.line for each in said] == ["unlimited", str(bounds.CPU_SECONDS)]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux does this")
def test_a_git_process_ends_with_an_engine_that_was_killed(world: World) -> None:
    engine = subprocess.Popen(
        [sys.executable, "-c", ENGINE, str(world.place.common_dir)], stdout=subprocess.PIPE
    )
    assert engine.stdout is not None
    (pid,) = map(int, engine.stdout.readline().split())
    child = os.pidfd_open(pid)
    try:
        engine.kill()
        engine.wait()
        assert select.select([child], [], [], 30.0)[0], "git is still there"
    finally:
        engine.stdout.close()
        os.close(child)
