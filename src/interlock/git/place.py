"""The paths of a repository, and the few settings of its owner that Interlock uses."""

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from interlock.git.command import Git
from interlock.git.files import git_dir_of

STATE_FOLDER = "interlock"
FORMER_STATE_FOLDER = ".interlock"
"""Beside `.git`, until version 0.2: test runners walked over it, and `git clean -fdx` deleted it."""

_FSYNC = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "core.fsync",
    "GIT_CONFIG_VALUE_0": "committed,reference",
    "GIT_CONFIG_KEY_1": "core.fsyncMethod",
    "GIT_CONFIG_VALUE_1": "batch",
}
"""The log says for good that something landed, so its objects must not be lost with the power either. Objects
that are written together wait for the disk together."""


@dataclass(frozen=True, slots=True)
class Place:
    """A repository that was found and is fit to work with."""

    common_dir: Path
    """The git dir that all linked worktrees share."""
    work_tree: Path | None
    """The checkout we were called from; nothing for a bare repository."""
    branch: str
    """The protected branch, without `refs/heads/`."""
    head: str
    """The branch that the checkout is on; empty when its HEAD is detached."""
    version: tuple[int, int]
    settings: Mapping[str, str]
    """The user's settings that Interlock uses, from all configuration files together."""
    excludes: str = ""
    """The user's own ignore rules, for all repositories and for this one."""
    started: tuple[str, ...] = field(default=(), repr=False)
    """Values of the user's git settings that may name programs to start, or more settings."""
    settings_files: tuple[str, ...] = ()
    """Files that the user's git settings are in."""

    @property
    def state(self) -> Path:
        """Interlock's folder. All linked worktrees of a repository share one."""
        return self.common_dir / STATE_FOLDER

    @property
    def former_state(self) -> Path | None:
        """The state folder of an older version, if it is still in the work tree."""
        former = self.common_dir.parent / FORMER_STATE_FOLDER
        return former if self.common_dir.name == ".git" and (former / "lineage").is_file() else None

    @property
    def at(self) -> Path:
        """The path at which programs find their workspace: that of the checkout, wherever the files are."""
        common = self.common_dir
        return self.work_tree or common.with_name(f"{common.stem or common.name}-checkout")

    @property
    def checkout_git(self) -> Git:
        """Git on the user's checkout, with the user's configuration and index."""
        variables = {"GIT_INDEX_FILE": str(self.checkout_index)}
        return Git(self.common_dir, self.work_tree, as_user=True, variables=variables)

    @property
    def checkout_index(self) -> Path:
        own = git_dir_of(self.work_tree) if self.work_tree else None
        return (own or self.common_dir) / "index"

    @property
    def ref(self) -> str:
        """The protected branch by its full name, which no option can be mistaken for."""
        return f"refs/heads/{self.branch}"

    @property
    def objects(self) -> Path:
        """The object store that every workspace borrows from."""
        return self.common_dir / "objects"

    @property
    def object_format(self) -> str:
        """The name of the hash: sha1 or sha256."""
        return self.settings.get("extensions.objectformat", "sha1")

    @property
    def id_bytes(self) -> int:
        return hashlib.new(self.object_format, usedforsecurity=False).digest_size

    @property
    def remotes(self) -> Mapping[str, str]:
        """The addresses of remotes on other machines: some checks read there which project this is."""
        return {key: value for key, value in self.settings.items() if key.startswith("remote.")}

    @property
    def author(self) -> tuple[str, str]:
        """The author of what agents make: the user, if git knows a name and an address."""
        name, email = self.settings.get("user.name", ""), self.settings.get("user.email", "")
        # Git takes no name that is signs alone.
        has_name = any(sign.isalnum() for sign in name)
        return (name, email) if has_name and email else ("Interlock", "interlock@localhost")

    @property
    def git(self) -> Git:
        """Git on the shared git dir, without the user's configuration."""
        return Git(self.common_dir, variables=self.durable_variables)

    @property
    def durable_variables(self) -> Mapping[str, str]:
        """The author, and that what is written must not be lost with the power."""
        return {**self.author_variables, **_FSYNC}

    @property
    def author_variables(self) -> Mapping[str, str]:
        name, email = self.author
        return {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email}

    def object_id(self, kind: str, content: bytes) -> str:
        """The id git gives to an object, without asking it."""
        whole = f"{kind} {len(content)}\0".encode() + content
        return hashlib.new(self.object_format, whole, usedforsecurity=False).hexdigest()

    def is_object_id(self, text: str) -> bool:
        """Return True if this could be the full id of an object."""
        return len(text) == 2 * self.id_bytes and set(text) <= set("0123456789abcdef")

    def ensure_state(self) -> Path | None:
        """Make the state folder. Moves the one of an older version there, and returns where that was."""
        self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = self.state.stat()
        if found.st_uid == os.geteuid() and found.st_mode & 0o077:
            # Logs and prompts are the user's own, and so is all that an agent left there.
            self.state.chmod(found.st_mode & 0o700)
        former = self.former_state
        if former is None or (self.state / "lineage").exists():
            return None
        # The lineage goes last: a move that was interrupted is then finished by the next command.
        for entry in sorted(former.iterdir(), key=lambda path: path.name == "lineage"):
            shutil.move(entry, self.state / entry.name)
        former.rmdir()
        return former


def loose_ref(place: Place) -> str:
    """Read the file of the protected branch, if it has one of its own: git looks there first.

    Each process looks for the branch when it starts, and mostly finds it unchanged.
    """
    try:
        return (place.common_dir / place.ref).read_text(errors="replace").strip()
    except OSError:
        return ""  # packed, or kept in another way: then only git knows


def is_packed(place: Place) -> bool:
    """Look for the protected branch among the packed refs, without git."""
    try:
        return f" {place.ref}\n" in (place.common_dir / "packed-refs").read_text(errors="replace")
    except OSError:
        return False


def ref_word(task: str) -> str:
    """A task id as one component of a ref. Ids may hold dots that refs may not, but no percent sign."""
    unfit = ".." in task or task.endswith((".", ".lock"))
    return task.replace(".", "%2e") if unfit else task
