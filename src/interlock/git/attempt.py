"""The files of an attempt's folder, and the notes about it that outlive this process."""

import json
import stat
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from interlock.git.files import read_beneath, walk
from interlock.git.place import Place, ref_word
from interlock.git.protocol import Workspace
from interlock.model.errors import InterlockError
from interlock.model.sandbox import Grant
from interlock.model.task import Commit, TaskId

_OPENED = "workspace.json"
_COLLECTED = "collected.json"
_REFLOG_ENTRIES = 200


class DamagedNote(InterlockError):
    """Another program edited a note: Interlock writes each in one piece."""


@dataclass(frozen=True, slots=True)
class WorkspaceOpened:
    """Written last when a workspace is made: without it no agent has ever been in there."""

    task: str
    attempt: int
    base: str
    included: Mapping[str, str] = field(default_factory=dict)
    """Files copied in beside the checkout, with their hash."""
    tree: str = ""
    """The git tree that a layered workspace began with. The folder `tree` is then its upper layer."""
    shown: tuple[str, ...] = ()
    """Folders of the user's checkout that were shown in it, as layers of their own."""
    begun: tuple[str, ...] = ()
    """Files that its upper layer began with. Where the layer below has none, a removal leaves no mark."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Written last when a workspace is collected: what it held is in the repository now."""

    commit: str
    ref: str
    leftovers: tuple[str, ...] = ()
    """Files that could not become part of a commit. The folder may not be deleted while there are any."""


@dataclass(frozen=True, slots=True)
class AttemptFolder:
    """The folder of one attempt."""

    home: Path

    @property
    def tree(self) -> Path:
        """All files of the workspace; of a layered one, those that were written."""
        return self.home / "tree"

    @property
    def work(self) -> Path:
        """The kernel's own, beside an upper layer."""
        return self.home / "work"

    @property
    def merged(self) -> Path:
        """The folder on which the supervisor mounts the layers."""
        return self.home / "merged"

    @property
    def layers(self) -> Path:
        """The upper layers of folders of the user's checkout."""
        return self.home / "layers"

    @property
    def index(self) -> Path:
        """The index of the tree that a layered workspace began with."""
        return self.home / "index"

    @property
    def private(self) -> Path:
        """The agent's git dir."""
        return self.home / "private.git"

    @property
    def trusted(self) -> Path:
        """Our git dir on the same files."""
        return self.home / "trusted.git"

    def opened(self) -> WorkspaceOpened | None:
        """Read the note of its making; None if it is unfinished. `DamagedNote` if an agent changed it."""
        try:
            found = WorkspaceOpened(**json.loads((self.home / _OPENED).read_text()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise DamagedNote(f"{self.home / _OPENED}: {error}") from error
        return found

    def kept(self) -> Kept | None:
        """Read the result of collecting it; None if that was not finished."""
        try:
            found = json.loads((self.home / _COLLECTED).read_text())
            return Kept(found["commit"], found["ref"], tuple(found["leftovers"]))
        except (OSError, ValueError, LookupError, TypeError):
            # Not there; or an agent has been at it, and then it is as good as never collected.
            return None

    def note(self, what: WorkspaceOpened | Kept) -> None:
        """Write a note, whole or not at all. It does not wait for the disk.

        A power cut may take the note. Then its subject counts as undone: a workspace of the last seconds,
        whose files the cut took too, or a collection, which is repeated.
        """
        path = self.home / (_OPENED if isinstance(what, WorkspaceOpened) else _COLLECTED)
        fresh = path.with_name(path.name + ".new")
        fresh.write_text(json.dumps(asdict(what)))
        fresh.replace(path)

    def forget_collected(self) -> None:
        (self.home / _COLLECTED).unlink(missing_ok=True)

    def workspace(self, opened: WorkspaceOpened, path: Path, grant: Grant | None = None) -> Workspace:
        """Describe the folder as the engine knows it; `path` is where the agent finds it."""
        task, base = TaskId(opened.task), Commit(opened.base)
        return Workspace(task, opened.attempt, base, path, self.home, grant or Grant())


def agent_branch(task: str) -> str:
    return f"refs/heads/task/{ref_word(task)}/work"


def agent_head(private: Path, place: Place) -> str | None:
    """Return the commit of the agent's HEAD, read as text; None if it cannot be read."""
    head = (read_beneath(private, "HEAD", 4096) or "").strip()
    name = head.removeprefix("ref: ")
    value = _ref(private, name) if name != head else head
    return value if value and place.is_object_id(value) else None


def agent_commits(private: Path, place: Place) -> Iterator[str]:
    """All else the agent may have committed: other branches, stashes, and what its reflog remembers."""
    if (private / "refs").is_dir() and not (private / "refs").is_symlink():
        for path, _ in walk(private / "refs"):
            yield from _ids(read_beneath(private, f"refs/{path}", 4096) or "", place)
    for line in (read_beneath(private, "packed-refs") or "").splitlines():
        yield from _ids(line[:64].partition(" ")[0], place)
    for line in (read_beneath(private, "logs/HEAD") or "").splitlines()[-_REFLOG_ENTRIES:]:
        yield from _ids([*line.split(" ", 2), "", ""][1], place)


def _ids(text: str, place: Place) -> list[str]:
    return [text.strip()] if place.is_object_id(text.strip()) else []


def _ref(private: Path, name: str) -> str | None:
    if not name.startswith("refs/") or ".." in name.split("/"):
        return None
    if (loose := read_beneath(private, name, 4096)) is not None:
        return loose.strip()
    packed = (line.split(" ") for line in (read_beneath(private, "packed-refs") or "").splitlines())
    return next((words[0] for words in packed if words[1:] == [name]), None)


def objects_are_plain(private: Path, borrowed: Path) -> bool:
    """Return True if the agent's object store has only files and folders, and borrows from `borrowed` alone.

    Links or other alternates would let it name objects it was never allowed to read.
    """
    root = private / "objects"
    if read_beneath(private, "objects/info/alternates", 1 << 16) != f"{borrowed}\n" or root.is_symlink():
        return False
    return all(
        stat.S_ISDIR(mode) or stat.S_ISREG(mode)
        for _, entry in walk(root)
        for mode in [entry.stat(follow_symlinks=False).st_mode]
    )
