"""The folder that proofs happen in. What a killed `doctor --prove` left is ended by the next one.

1. Every command that a proof starts carries the mark of its folder, and so does whatever it starts, until
   Interlock itself gives it another.
2. A folder names its owner only while the owner is at work: one whose owner is dead was left behind.
"""

import json
import os
import shutil
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

from interlock.engine.identity import is_dead, new_incarnation
from interlock.process.survivors import end_marked

PREFIX = "interlock-prove-"
OWNER = "owner.json"


@dataclass(frozen=True, slots=True)
class Scratch:
    """One folder, and the processes that belong to it."""

    folder: Path
    mark: str

    def close(self, keep: bool) -> None:
        """All processes here have ended; the files may be worth a look."""
        end_marked(self.mark)
        if keep:
            (self.folder / OWNER).unlink(missing_ok=True)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


def new_scratch() -> Scratch:
    """An empty one, of this process."""
    scratch = Scratch(Path(tempfile.mkdtemp(prefix=PREFIX)), f"prove-{uuid.uuid4().hex}")
    (scratch.folder / OWNER).write_text(json.dumps({"owner": new_incarnation(), "mark": scratch.mark}))
    return scratch


def close_left() -> None:
    """Remove the folders of processes that died."""
    for note in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{OWNER}"):
        if scratch := _left(note):
            scratch.close(keep=False)


def _left(note: Path) -> Scratch | None:
    try:
        if note.stat().st_uid != os.getuid():
            return None  # the folder for temporary files is everybody's
        match json.loads(note.read_text()):
            case {"owner": str(owner), "mark": str(mark)} if mark and is_dead(owner):
                return Scratch(note.parent, mark)
    except (OSError, ValueError):
        pass  # its owner is about to write it, or to remove it
    return None
