"""S2: whatever an agent plants in its git dir or its files, our own git runs none of it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.git.protocol import Workspace
from interlock.model.outcome import Landing, Move
from interlock.model.task import Commit, TaskId
from tests.git.world import World, git, run, write

Plant = Callable[[Workspace, str], None]


def configured(*settings: str, attributes: str = "") -> Plant:
    """Settings in the private git dir, each running the trap; and attributes that ask for them."""

    def plant(workspace: Workspace, trap: str) -> None:
        config = workspace.home / "private.git" / "config"
        for setting in settings:
            git(workspace.path, "config", "-f", str(config), setting, trap)
        if attributes:
            write(workspace.path, {".gitattributes": attributes})

    return plant


def hooks(workspace: Workspace, trap: str) -> None:
    names = ("pre-commit", "post-commit", "reference-transaction", "post-index-change", "post-checkout")
    folder = workspace.home / "private.git" / "hooks"
    for name in names:
        shutil.copy(trap, folder / name)
    git(
        workspace.path,
        "config",
        "-f",
        str(workspace.home / "private.git" / "config"),
        "core.hooksPath",
        str(folder),
    )


def included(workspace: Workspace, trap: str) -> None:
    write(workspace.home / "private.git", {"more": f"[core]\n\tfsmonitor = {trap}\n"})
    git(
        workspace.path, "config", "-f", str(workspace.home / "private.git" / "config"), "include.path", "more"
    )


def own_repository(workspace: Workspace, trap: str) -> None:
    """The pointer is swapped for a whole git dir."""
    (workspace.path / ".git").unlink()
    git(workspace.path, "init", "-q")
    for setting in ("core.fsmonitor", "filter.evil.clean", "core.hooksPath"):
        git(workspace.path, "config", setting, trap)
    write(workspace.path, {".gitattributes": "* filter=evil\n"})


def nested_repository(workspace: Workspace, trap: str) -> None:
    (workspace.path / "inner").mkdir()
    git(workspace.path / "inner", "init", "-q")
    write(workspace.path / "inner", {"f.txt": "f\n"})
    git(workspace.path / "inner", "add", "-A")
    git(workspace.path / "inner", "commit", "-q", "-m", "inner")
    git(workspace.path / "inner", "config", "core.fsmonitor", trap)


def bare_in_the_tree(workspace: Workspace, trap: str) -> None:
    git(workspace.path, "init", "-q", "--bare", ".")
    git(workspace.path, "config", "-f", str(workspace.path / "config"), "core.fsmonitor", trap)


def worktree_config(workspace: Workspace, trap: str) -> None:
    private = workspace.home / "private.git"
    git(workspace.path, "config", "-f", str(private / "config"), "extensions.worktreeConfig", "true")
    git(workspace.path, "config", "-f", str(private / "config.worktree"), "core.fsmonitor", trap)


EVIL = "* filter=evil diff=evil merge=evil\n"
VECTORS: dict[str, Plant] = {
    "fsmonitor": configured("core.fsmonitor"),
    "hooks": hooks,
    "filter clean": configured("filter.evil.clean", attributes=EVIL),
    "filter smudge": configured("filter.evil.smudge", attributes=EVIL),
    "filter process": configured("filter.evil.process", attributes=EVIL),
    "textconv": configured("diff.evil.textconv", attributes=EVIL),
    "external diff": configured("diff.external", "diff.evil.command", attributes=EVIL),
    "merge driver": configured("merge.evil.driver", attributes=EVIL),
    "ssh command": configured("core.sshCommand", "remote.origin.url"),
    "upload pack": configured("remote.origin.uploadpack", "remote.origin.receivepack"),
    "pager and editor": configured("core.pager", "core.editor", "sequence.editor"),
    "alias": configured("alias.add", "alias.write-tree", "alias.pack-objects"),
    "alternate refs": configured("core.alternateRefsCommand"),
    "credentials and signing": configured("credential.helper", "gpg.program"),
    "include": included,
    "worktree config": worktree_config,
    "own repository": own_repository,
    "nested repository": nested_repository,
    "bare repository in the tree": bare_in_the_tree,
}


@pytest.fixture
def trap(tmp_path: Path) -> str:
    path = tmp_path / "trap"
    path.write_text(f"#!/bin/sh\ntouch '{tmp_path}/fired'\ncat\n")
    path.chmod(0o755)
    return str(path)


def whole_life(world: World, workspace: Workspace) -> None:
    """Everything the host does with what an agent left."""
    repository, workspaces = world.repository, world.workspaces
    base = world.main
    made = run(workspaces.collect(workspace, "x\n"))
    run(repository.diff(base, made.commit))
    onto = world.made({"src/b.txt": "meanwhile\n"}, base)
    git(world.root, "update-ref", "refs/heads/main", onto)
    git(world.root, "reset", "-q", "--hard")
    merge = run(repository.merge(onto, made.commit, base))
    assert merge.tree
    run(workspaces.check_out(merge.tree, world.root.parent / "room"))
    new = run(repository.commit(merge.tree, onto, "land\n"))
    assert run(repository.land(Landing("main", Commit(new), onto, 1))) is Move.MOVED
    run(workspaces.discard(workspace))


@pytest.mark.slow
@pytest.mark.parametrize("vector", VECTORS)
def test_nothing_planted_by_an_agent_runs_on_the_host(world: World, trap: str, vector: str) -> None:
    workspace = run(world.workspaces.open(TaskId("t"), 1, world.main))
    write(workspace.path, {"a.txt": "changed\n", "added.txt": "x\n"})
    VECTORS[vector](workspace, trap)
    fired = Path(trap).with_name("fired")
    fired.unlink(missing_ok=True)  # planting may have set it off in the agent's own git
    whole_life(world, workspace)
    assert not fired.exists()


def test_the_trap_works_when_git_trusts_the_agent(world: World, trap: str) -> None:
    """Without this the tests above could not fail."""
    workspace = run(world.workspaces.open(TaskId("t"), 1, world.main))
    VECTORS["fsmonitor"](workspace, trap)
    git(workspace.path, "status", check=False)
    assert Path(trap).with_name("fired").exists()
    assert os.access(trap, os.X_OK)
