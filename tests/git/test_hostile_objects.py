"""S3: what git's strict checks refuse never reaches the user's repository, and stays as evidence."""

from collections.abc import Callable

import pytest

from interlock.git.protocol import Workspace
from interlock.model.errors import RejectedObjects
from interlock.model.task import TaskId
from tests.git.world import World, git, run, write

Entry = tuple[str, bytes, str]


def blob(workspace: Workspace, content: str) -> str:
    return git(workspace.path, "hash-object", "-w", "--stdin", feed=content.encode())


def raw(workspace: Workspace, kind: str, content: bytes) -> str:
    return git(workspace.path, "hash-object", "-w", "-t", kind, "--literally", "--stdin", feed=content)


def raw_tree(workspace: Workspace, entries: list[Entry]) -> str:
    return raw(
        workspace, "tree", b"".join(f"{m} ".encode() + n + b"\0" + bytes.fromhex(i) for m, n, i in entries)
    )


def with_entry(mode: str, name: bytes) -> Callable[[Workspace], str]:
    return lambda w: raw_tree(w, [(mode, name, blob(w, "evil\n"))])


def inside_folder(mode: str, name: bytes) -> Callable[[Workspace], str]:
    return lambda w: raw_tree(w, [("40000", b"deep", raw_tree(w, [(mode, name, blob(w, "evil\n"))]))])


def modules(text: str) -> Callable[[Workspace], str]:
    return lambda w: raw_tree(w, [("100644", b".gitmodules", blob(w, text))])


def twice(w: Workspace) -> str:
    return raw_tree(w, [("100644", b"a", blob(w, "1\n")), ("100644", b"a", blob(w, "2\n"))])


def unsorted(w: Workspace) -> str:
    return raw_tree(w, [("100644", b"b", blob(w, "1\n")), ("100644", b"a", blob(w, "2\n"))])


def missing(w: Workspace) -> str:
    return raw_tree(w, [("100644", b"a", "12" * 20)])


def null(w: Workspace) -> str:
    return raw_tree(w, [("100644", b"a", "00" * 20)])


TREES: dict[str, Callable[[Workspace], str]] = {
    "a .git entry": with_entry("100644", b".git"),
    "a .git folder below": inside_folder("100644", b".git"),
    "another spelling of .git": with_entry("100644", b".GiT"),
    ".git for HFS": with_entry("100644", b".g\xe2\x80\x8cit"),
    ".git for NTFS": with_entry("100644", b"git~1"),
    "parent folder": with_entry("100644", b".."),
    "this folder": with_entry("100644", b"."),
    "a path as a name": with_entry("100644", b"a/b"),
    "an empty name": with_entry("100644", b""),
    "submodule url as option": modules('[submodule "x"]\n\tpath = x\n\turl = -u./evil\n'),
    "submodule path as option": modules('[submodule "x"]\n\tpath = -x\n\turl = https://example.invalid/x\n'),
    "submodule name leads out": modules(
        '[submodule "../../x"]\n\tpath = x\n\turl = https://example.invalid/x\n'
    ),
    "submodule command": modules('[submodule "x"]\n\tpath = x\n\turl = y\n\tupdate = !touch fired\n'),
    "linked .gitmodules": with_entry("120000", b".gitmodules"),
    "the same name twice": twice,
    "names out of order": unsorted,
    "a missing file": missing,
    "a null object": null,
}

COMMITS = {
    "no author": "tree {tree}\nparent {base}\ncommitter A <a@b> 0 +0000\n\nx\n",
    "a broken date": "tree {tree}\nparent {base}\nauthor A <a@b> soon\ncommitter A <a@b> 0 +0000\n\nx\n",
    "a broken address": "tree {tree}\nparent {base}\nauthor A <a@b 0 +0000\ncommitter A <a@b> 0 +0000\n\nx\n",
}


def refused(world: World, workspace: Workspace, commit: str) -> None:
    git(workspace.path, "update-ref", "--no-deref", "HEAD", commit, check=False)
    (workspace.home / "private.git" / "HEAD").write_text(f"{commit}\n")
    objects = sorted((world.root / ".git" / "objects").rglob("*"))
    with pytest.raises(RejectedObjects) as caught:
        run(world.workspaces.collect(workspace, "x\n"))
    assert "git rejected" in str(caught.value)
    assert sorted((world.root / ".git" / "objects").rglob("*")) == objects
    assert git(world.root, "for-each-ref", "refs/interlock/work") == ""
    run(world.workspaces.discard(workspace))
    assert [left.state for left in world.workspaces.listing()] == ["evidence"]


@pytest.mark.parametrize("kind", TREES)
def test_a_hostile_tree_is_refused(world: World, kind: str) -> None:
    workspace = run(world.workspaces.open(TaskId("t"), 1, world.main))
    tree = TREES[kind](workspace)
    commit = git(workspace.path, "commit-tree", tree, "-p", world.main, "-m", "evil", check=False)
    if not commit:
        who = "A <a@b> 0 +0000"
        text = f"tree {tree}\nparent {world.main}\nauthor {who}\ncommitter {who}\n\nevil\n"
        commit = raw(workspace, "commit", text.encode())
    refused(world, workspace, commit)


@pytest.mark.parametrize("kind", COMMITS)
def test_a_malformed_commit_is_refused(world: World, kind: str) -> None:
    workspace = run(world.workspaces.open(TaskId("t"), 1, world.main))
    text = COMMITS[kind].format(tree=world.tree("HEAD"), base=world.main)
    refused(world, workspace, raw(workspace, "commit", text.encode()))


def test_a_hostile_file_in_the_tree_is_refused_as_well(world: World) -> None:
    workspace = run(world.workspaces.open(TaskId("t"), 1, world.main))
    write(workspace.path, {".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = -u./evil\n'})
    with pytest.raises(RejectedObjects, match="gitmodulesUrl"):
        run(world.workspaces.collect(workspace, "x\n"))


def test_a_link_named_gitmodules_in_the_tree_is_refused(world: World) -> None:
    workspace = run(world.workspaces.open(TaskId("t"), 1, world.main))
    (workspace.path / ".gitmodules").symlink_to("a.txt")
    with pytest.raises(RejectedObjects, match=r"invalid path '.gitmodules'"):
        run(world.workspaces.collect(workspace, "x\n"))
