"""Git dirs written file by file, so that no git has to run to make one.

Each attempt has two. The private one belongs to the agent: its commits, its refs, its index. The trusted one
is what our own git uses on the same files; it borrows the private one's objects, and believes nothing else.
"""

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from interlock.git.place import Place

_FOLLOWED = (
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.symlinks",
    "core.precomposeunicode",
)
"""Settings of the user's that decide which files count as changed. None of them can run a program."""

_OURS = {
    "core.bare": "false",
    "core.commitGraph": "false",  # an agent could plant one that lies about history
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.logAllRefUpdates": "true",
    "core.multiPackIndex": "false",
    "commit.gpgSign": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}


NOTHING_MORE: Mapping[str, str] = {}
LAYERED = {"core.checkStat": "minimal"}
"""Settings for a program that sees the files through an overlay, under a user id other than git recorded."""


def write_git_dir(
    path: Path, place: Place, head: str, borrows: Sequence[str], more: Mapping[str, str] = NOTHING_MORE
) -> None:
    """An empty git dir at `head` (a commit, or `ref: ...`) that finds objects in the folders it `borrows`."""
    path.mkdir(parents=True, exist_ok=True)
    # Parents first. No more than git needs: one of these is made for each check, and two for each attempt.
    for folder in ("hooks", "info", "objects", "objects/info", "refs", "refs/heads"):
        with contextlib.suppress(FileExistsError):
            (path / folder).mkdir()
    (path / "HEAD").write_text(f"{head}\n")
    (path / "config").write_text(_config(place, more), errors="surrogateescape")
    (path / "config.worktree").write_text("")
    (path / "info" / "exclude").write_text(place.excludes, errors="surrogateescape")
    (path / "objects" / "info" / "alternates").write_text(
        "".join(f"{folder}\n" for folder in borrows), errors="surrogateescape"
    )
    for name in ("shallow", "info/attributes"):
        if (source := place.common_dir / name).exists():
            (path / name).write_bytes(source.read_bytes())


def form_of(place: Place) -> str:
    """Return a digest of what decides how git writes the files of a tree, beside the tree itself."""
    try:
        attributes = (place.common_dir / "info" / "attributes").read_bytes()
    except OSError:
        attributes = b""
    followed = sorted((key, place.settings[key]) for key in _FOLLOWED if key in place.settings)
    return hashlib.sha256(repr(followed).encode(errors="replace") + attributes).hexdigest()


def _config(place: Place, more: Mapping[str, str]) -> str:
    author, email = place.author
    followed = {key: place.settings[key] for key in _FOLLOWED if key in place.settings}
    version = {"core.repositoryFormatVersion": "0"}
    if place.object_format != "sha1":
        version = {"core.repositoryFormatVersion": "1", "extensions.objectFormat": place.object_format}
    return config_text(
        {**followed, **_OURS, **version, **more, **place.remotes, "user.name": author, "user.email": email}
    )


def config_text(settings: Mapping[str, str]) -> str:
    lines = []
    for key, value in settings.items():
        section, _, rest = key.partition(".")
        part, _, name = rest.rpartition(".")
        header = f'{section} "{part}"' if part else section
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'[{header}]\n\t{name} = "{quoted}"\n')
    return "".join(lines)


def point_to(tree: Path, git_dir: str) -> None:
    """Make `tree` a checkout of a git dir, named relative to it."""
    (tree / ".git").write_text(f"gitdir: {git_dir}\n")
