"""Grants: the paths of a repository that a program must reach to use git in one of our folders."""

from collections.abc import Iterator
from pathlib import Path

from interlock.git.attempt import AttemptFolder
from interlock.git.place import Place
from interlock.model.sandbox import Grant, Mount, Overlay

_PROTECTED = ("config", "config.worktree", "hooks", "info", "objects/info")
"""Paths of its own git dir that could make git run a program, or read what it must not."""
_DEEPEST = 5
"""The depth to which git itself follows borrowed objects."""
_SHARED_OBJECTS = "/run/interlock/objects"
"""The path of the repository's objects for a program from which the git dir around them is hidden."""


def copied_grant(place: Place, folder: AttemptFolder) -> Grant:
    """Return the grant of a folder that holds all files: they and the git dir beside them keep their path."""
    tree, private = folder.tree, folder.private
    return Grant(
        write=(str(tree), str(private)),
        protect=(str(tree / ".git"), *(str(private / name) for name in _PROTECTED)),
        read=(str(place.objects), *map(str, _borrowed(place.objects, _DEEPEST))),
    )


def layered_grant(place: Place, folder: AttemptFolder, overlays: tuple[Overlay, ...]) -> Grant:
    """Return the grant of layers at the checkout's path: the private git dir is the `.git` there.

    That hides the repository's own `.git`, and all workspaces with it.
    """
    inside, borrowed = place.at / ".git", tuple(map(str, _borrowed(place.objects, _DEEPEST)))
    lenders = folder.home / "lenders"
    lenders.mkdir()
    lines = "".join(f"{store}\n" for store in (_SHARED_OBJECTS, *borrowed))
    (lenders / "alternates").write_text(lines, errors="surrogateescape")
    protected = (Mount(str(folder.private / name), str(inside / name)) for name in _PROTECTED[:-1])
    return Grant(
        read=borrowed,
        overlays=overlays,
        mounts=(
            Mount(str(folder.private), str(inside), writable=True),
            *protected,
            Mount(str(lenders), str(inside / "objects/info")),
            Mount(str(place.objects), _SHARED_OBJECTS),
        ),
    )


def _borrowed(objects: Path, depth: int) -> Iterator[Path]:
    """The object stores that one borrows from, and those that these borrow from."""
    try:
        lines = (objects / "info" / "alternates").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        if depth and line and not line.startswith("#") and (store := (objects / line).resolve()).is_dir():
            yield store
            yield from _borrowed(store, depth - 1)
