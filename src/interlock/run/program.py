"""Installed programs: the folders that one must be able to read to start at all.

Programs live in the strangest places: a package of node below a project, a virtual environment whose python
is in another folder. Only what the start needs is named, never a whole home: a program right in a folder that
holds more than programs comes alone. A program in the workspace is an agent's own file and shows nothing:
only an interpreter that the user has on PATH is looked up for it.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from interlock.sandbox.toolchains import PRIVATE, is_below

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
"""Folders that every sandbox shows anyway."""
SHEBANG_BYTES = 256
INTERPRETERS_DEEP = 3
SHARED = ("/etc", "/home", "/root", "/run", "/tmp", "/var/tmp")  # noqa: S108 - named to be kept out
"""Folders that all users and programs share."""
SIGNS_OF_A_HOME = (".ssh", ".gnupg", ".aws")
"""Folders that mark a home, of any user."""


def folders_of(program: str, path: str, directory: Path) -> tuple[str, ...]:
    """Return the paths that starting `program` takes, besides the system's own and `directory`."""
    found: dict[str, None] = {}
    for named, real in _chain(program, path, directory):
        # Most of these are the same folder, and looking at one takes a while.
        folders = dict.fromkeys((named.parent, *_home_of(real), *_home_of(named)))
        if all(_is_shown(folder, directory) for folder in (real.parent, *folders)):
            continue
        kept_out = _kept_out(directory)
        for folder in folders:
            if not _holds_more(folder, kept_out):
                files = [] if _is_shown(folder, directory) else [folder]
            else:
                files = [file for file in (named, real) if not _is_shown(file.parent, directory)]
            found.update(dict.fromkeys(map(str, files)))
    return tuple(found)


def _chain(
    program: str, path: str, directory: Path, depth: int = INTERPRETERS_DEEP
) -> Iterator[tuple[Path, Path]]:
    """The program and its interpreters, as named and as they are."""
    named = Path(directory, program) if "/" in program else Path(shutil.which(program, path=path) or "")
    if not named.is_file() or not os.access(named, os.X_OK):
        return  # no program: a key, for all we know
    real = named.resolve()
    is_agents_own = Path(os.path.normpath(named)).is_relative_to(directory)
    if is_agents_own and not real.is_relative_to(directory.resolve()):
        return  # a link that may lead anywhere
    yield named, real
    interpreter = _interpreter(real) if depth else ""
    if interpreter and not (is_agents_own and _is_off_path(interpreter, path)):
        yield from _chain(interpreter, path, directory, depth - 1)


def _is_off_path(interpreter: str, path: str) -> bool:
    """Tell if it is named by a path that the user's PATH does not find it by."""
    return "/" in interpreter and shutil.which(Path(interpreter).name, path=path) != interpreter


def _home_of(program: Path) -> tuple[Path, ...]:
    """The folders that belong to a program: its package, its environment, its libraries."""
    parts = program.parts
    if "node_modules" in parts:
        return (Path(*parts[: parts.index("node_modules") + 1]),)
    folder = program.parent
    if folder.name != "bin":
        return (folder,)
    above = folder.parent
    if (above / "pyvenv.cfg").is_file():
        base = (folder / "python3").resolve() if (folder / "python3").exists() else folder
        return (above, *_libraries(base.parent))
    return (folder, *_libraries(folder))


def _libraries(folder: Path) -> tuple[Path, ...]:
    """`lib` beside a `bin`: an interpreter is not much without it."""
    return tuple(path for path in (folder, folder.parent / "lib") if path.is_dir())


def _kept_out(directory: Path) -> tuple[str, ...]:
    """Return the paths that agents must not read: a home, keys, our own folder with all workspaces."""
    home = str(Path.home().resolve())
    return (*SHARED, home, *(f"{home}/{name}" for name in PRIVATE), str(directory.resolve()))


def _holds_more(folder: Path, kept_out: tuple[str, ...]) -> bool:
    """Tell if it is, or contains, a path that agents must not read."""
    real = str(folder.resolve())
    return any(is_below(path, [real]) for path in kept_out) or any(
        os.path.lexists(folder / name) for name in SIGNS_OF_A_HOME
    )


def _is_shown(folder: Path, directory: Path) -> bool:
    real = folder.resolve()
    return str(real) == "/" or real.is_relative_to(directory) or any(map(real.is_relative_to, SYSTEM))


def _interpreter(program: Path) -> str:
    """Return the interpreter that the first line of a script names; '' for anything else."""
    try:
        with program.open("rb") as file:
            first = file.read(SHEBANG_BYTES).partition(b"\n")[0]
    except OSError:
        return ""
    if not first.startswith(b"#!"):
        return ""
    words = os.fsdecode(first[2:]).split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else ""
