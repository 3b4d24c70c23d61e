"""The name of one state folder's life: made once, and the same for every worktree, process and restart.

Two repositories never have the same one, even if their folders have the same name. Deleting the state
folder begins a new lineage.
"""

import os
import re
import uuid
from pathlib import Path

from interlock.git.files import write_durably
from interlock.model.errors import EnvironmentProblem

FILE = "lineage"


def read_lineage(state: Path) -> str:
    """The lineage of a state folder; '' if it has none yet."""
    path = state / FILE
    try:
        text = path.read_bytes().decode("ascii", "replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise EnvironmentProblem(f"{path} cannot be read: {error.strerror}", f"ls -la {path}") from error
    if re.fullmatch(r"[\w.-]{1,100}", text, re.ASCII):
        return text
    # Not replaced by a new one: on a shared server that would be another project, with an empty log.
    raise EnvironmentProblem(
        f"{path} is damaged", f"git cat-file blob refs/interlock/fence | cut -d' ' -f2 > '{path}'"
    )


def ensure_lineage(state: Path) -> str:
    """The lineage of a state folder, begun now if it has none. Of several that begin it one wins."""
    if found := read_lineage(state):
        return found
    state.mkdir(parents=True, exist_ok=True)
    mine = state / f"{FILE}.{uuid.uuid4().hex}"
    write_durably(mine, _new_lineage(state))
    try:
        os.link(mine, state / FILE)
    except FileExistsError:
        pass
    finally:
        mine.unlink()
    return read_lineage(state)


def _new_lineage(state: Path) -> str:
    """Dice, with the folder's name before them for people who look into a database of many projects."""
    around = state.parent.parent if state.parent.name == ".git" else state.parent
    folder = re.sub(r"[^\w.-]+", "-", around.name, flags=re.ASCII).strip("-.") or "project"
    return f"{folder[:40]}-{uuid.uuid4().hex[:16]}"
