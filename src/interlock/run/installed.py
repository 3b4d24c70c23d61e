"""Finds the real program behind the command that a package manager installed.

The commands of npm are often small loaders: they start the real program as a child, which outlives them when
they are killed, and with whatever `node` comes first.
"""

import platform
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import which

import msgspec

from interlock.agents.adapter import Launch
from interlock.agents.builtin import AGENT
from interlock.git.files import read_regular

NATIVE = b"\x7fELF"
_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


def as_installed(launch: Launch, path: str, cache: Path) -> Launch:
    """The same start, with the real program for its first word. `cache` is the user's own cache folder."""
    command = which(launch.argv[0], path=path)
    find = _FINDERS.get(launch.argv[0])
    return find(launch, Path(command).resolve(), cache) if command and find else launch


def _copilot(launch: Launch, loader: Path, cache: Path) -> Launch:
    package = loader.parent
    native = _first(
        package.parent, package / "node_modules/@github", name=f"copilot-linux-{_machine()}/copilot"
    )
    if not native:
        return launch
    started = _with_first_words(launch, str(native))
    unpacked = cache / "copilot/pkg" / f"linux-{_machine()}" / _version(native.parent)
    if not (unpacked / "package.json").is_file():
        return started
    # The user's own copy, which agents can only read: it saves every attempt 235 MB and a second.
    env = {**started.env, "COPILOT_CLI_DIST_DIR": str(unpacked)}
    return replace(started, env=env, read=(*started.read, str(unpacked)))


def _opencode(launch: Launch, loader: Path, _cache: Path) -> Launch:
    """Find the native program: where packages may not run scripts, the command is a text that says so."""
    if _is_native(loader):
        return launch
    packages = loader.parent.parent
    # The baseline runs on every processor; the other one only on newer ones.
    names = (f"opencode-linux-{_machine()}{kind}/bin/opencode" for kind in ("-baseline", ""))
    places = (packages.parent, packages / "node_modules")
    found = next((native for name in names if (native := _first(*places, name=name))), None)
    return _with_first_words(launch, str(found)) if found else launch


def _qwen(launch: Launch, loader: Path, _cache: Path) -> Launch:
    """It wants a newer node than many systems have: one installed beside it is for it."""
    node = _first(*_modules_above(loader), name=".bin/node")
    program = _first(loader.parent, name="cli.js")
    if not node or not program:
        return launch
    return _with_first_words(launch, str(node.resolve()), "--expose-gc", str(program))


def _python(launch: Launch, interpreter: Path, _cache: Path) -> Launch:
    """Start our own agent by the interpreter alone: the sandbox does not show our virtual environment.

    A project's agent may be a script for the same interpreter, and needs the packages of the environment.
    """
    return _with_first_words(launch, str(interpreter)) if AGENT in launch.argv else launch


_FINDERS: dict[str, Callable[[Launch, Path, Path], Launch]] = {
    sys.executable: _python,
    "copilot": _copilot,
    "opencode": _opencode,
    "qwen": _qwen,
}


def _with_first_words(launch: Launch, *words: str) -> Launch:
    return replace(launch, argv=(*words, *launch.argv[1:]))


def _first(*folders: Path, name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _modules_above(program: Path) -> list[Path]:
    return [folder for folder in program.parents if folder.name == "node_modules"]


def _is_native(program: Path) -> bool:
    with program.open("rb") as file:
        return file.read(len(NATIVE)) == NATIVE


def _version(package: Path) -> str:
    try:
        found = msgspec.json.decode(read_regular(package / "package.json"), type=dict[str, object])
    except (OSError, msgspec.MsgspecError, RecursionError):
        return "unknown"
    # A name and no way: the package may be one that the repository put on the agent's PATH.
    version = str(found.get("version", "unknown"))
    return version if re.fullmatch(r"\w[\w.+-]*", version) else "unknown"


def _machine() -> str:
    return _MACHINES.get(platform.machine(), platform.machine())
