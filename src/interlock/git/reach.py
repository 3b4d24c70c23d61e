"""What of a repository a program needs to reach to work with git in a folder of ours."""

from collections.abc import Iterator
from pathlib import Path

from interlock.git.place import Place
from interlock.model.sandbox import Grant

_PROTECTED = ("config", "config.worktree", "hooks", "info", "objects/info")
"""Of its own git dir: what could make git run a program, or read what it must not."""
_DEEPEST = 5
"""As far as git itself follows borrowed objects."""


def check_grant(place: Place, tree: Path) -> Grant:
    """For checks in a folder that was checked out for them: the files, their git dir, what that borrows."""
    private = tree.parent / "private.git"
    return Grant(
        write=(str(tree), str(private)),
        protect=(str(tree / ".git"), *(str(private / name) for name in _PROTECTED)),
        read=(str(place.objects), *map(str, _borrowed(place.objects, _DEEPEST))),
    )


def _borrowed(objects: Path, depth: int) -> Iterator[Path]:
    """The object stores that one borrows from, and those that these borrow from."""
    try:
        lines = (objects / "info" / "alternates").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        if depth and line and not line.startswith("#") and (store := objects / line).is_dir():
            yield store
            yield from _borrowed(store, depth - 1)
