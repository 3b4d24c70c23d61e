"""The full sandbox: bubblewrap's namespaces and mounts, and the kernel's filter of system calls.

1. Nothing is there that was not put there. Folders that may be written are bound first, and what is protected
   in them after that: of two mounts the later one counts.
2. Every word but the program's own goes by an open file, so that no other user reads the environment in the
   list of processes; and what is outside the sandbox gets an environment without anything in it.
3. Usually the network is not bubblewrap's: the supervisor made it, and forwards its ports. Where only
   bubblewrap itself may make namespaces, a small process inside forwards the ports.
"""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from interlock.model.errors import CannotStart, EnvironmentProblem
from interlock.model.process import Command
from interlock.model.sandbox import Grant, Sandbox
from interlock.sandbox import seccomp
from interlock.sandbox.confinement import SYSTEM_PATH, Confined, in_memory, network_words, overlay_word
from interlock.sandbox.environment import NO_HOME, inside
from interlock.sandbox.system import ETC, PROC, PYTHON, ROOTS, SYS
from interlock.sandbox.toolchains import NO_TOOLCHAINS, Toolchains, is_below
from interlock.sandbox.unprivileged import demotion

TEMP = "/tmp"  # noqa: S108 - of the sandbox, and there only its own
TEMPS = (TEMP, "/var/tmp")  # noqa: S108 - likewise; folders both, as a repository may be below either
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - of the sandbox
TEMP_BYTES = 1 << 30
"""Size of the temporary folders, which are memory and end with the program."""
HOST_NAME = "agent"

FORWARDER = (PYTHON, "-I", "-S", "-E", str(Path(__file__).with_name("outside") / "port_forwarder.py"))
FORWARDER_NEEDS = (sys.base_prefix, str(Path(__file__).with_name("outside")))

_OWN_ETC = Path(__file__).with_name("etc")


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Programs in their own namespaces, seeing only what they were granted."""

    program: str
    options: frozenset[str]
    """The options that this version of bubblewrap knows, of those that are not in all of them."""
    toolchains: Toolchains = NO_TOOLCHAINS
    by_itself: bool = False
    """True if bubblewrap makes the network too, because the supervisor may not."""
    kind = Sandbox.BUBBLEWRAP
    alone = True
    missing = ""

    def confine(self, command: Command, grant: Grant, mark: Mapping[str, str]) -> Confined:
        if not is_below(command.directory, grant.changeable) and not Path(command.directory).is_dir():
            raise CannotStart(f"working directory not found: {command.directory}")
        argv = command.argv
        if self.by_itself and grant.forwarded_ports:
            argv = (
                *FORWARDER,
                *(f"{forwarded.port}={forwarded.socket}" for forwarded in grant.forwarded_ports),
                "--",
                *argv,
            )
            sockets = (forwarded.socket for forwarded in grant.forwarded_ports)
            grant = replace(grant, read=(*grant.read, *FORWARDER_NEEDS, *sockets))
        env = {**inside(command.env, grant, self.toolchains, grant.home or NO_HOME, TEMP), **mark}
        granted = list(self._words(command, grant, env))
        demoted, files = demotion(replace(grant, read=(*grant.read, self.program)), self.toolchains)
        filters = in_memory("seccomp", seccomp.program())
        copies = {os.open(path, os.O_RDONLY): place for path, place in _copied()}
        first = [word for file, place in copies.items() for word in ("--file", str(file), place)]
        words = ["--seccomp", str(filters), *first, *granted]
        listed = in_memory("arguments", b"".join(os.fsencode(word) + b"\0" for word in words))
        network = (
            () if self.by_itself else (*map(overlay_word, grant.overlays), *network_words(grant, alone=True))
        )
        return Confined(
            (self.program, "--args", str(listed), "--", *argv),
            {"PATH": SYSTEM_PATH, **mark},
            "/",
            ("reports", *network, *demoted),
            (filters, listed, *copies, *files),
            alone=not self.by_itself,
        )

    def _words(self, command: Command, grant: Grant, env: Mapping[str, str]) -> Iterator[str]:
        yield from (
            "--unshare-user",
            "--unshare-ipc",
            "--unshare-pid",
            "--unshare-uts",
            "--unshare-cgroup-try",
        )
        if self.by_itself:
            yield "--unshare-net"
        if "--disable-userns" in self.options:
            yield "--disable-userns"
        yield from ("--uid", "1000", "--gid", "1000", "--hostname", HOST_NAME)
        yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL")
        yield from _system()
        for path in (*TEMPS, SHARED_MEMORY):
            yield from self._temporary(path)
        yield from ("--remount-ro", "/dev")  # it is memory too, and without a size
        if not grant.home:
            yield from self._temporary(NO_HOME)
        yield from _bound("--ro-bind", self.toolchains.folders)
        for path in self.toolchains.masked:
            yield from ("--tmpfs", path) if Path(path).is_dir() else ("--ro-bind", os.devnull, path)
        # The workspace hides what toolchains show inside it. What is granted at its own path comes later: our
        # state folder, and with it HOME, is below the workspace's `.git`.
        for overlay in sorted(grant.overlays, key=lambda overlay: overlay.at):
            yield from ("--bind", overlay.merged, overlay.at)
        for mount in grant.mounts:
            yield from ("--bind" if mount.writable else "--ro-bind", mount.source, mount.at)
        yield from _bound("--bind", (grant.home,) if grant.home else ())
        yield from _bound("--ro-bind", grant.read)
        yield from _bound("--bind", grant.write)
        yield from _bound("--ro-bind", _protected(grant))
        yield from ("--remount-ro", "/", "--chdir", command.directory, "--clearenv")
        for name, value in env.items():
            yield from ("--setenv", name, value)

    def _temporary(self, path: str) -> Iterator[str]:
        if "--size" in self.options:
            yield from ("--size", str(TEMP_BYTES))
        yield from ("--tmpfs", path)


def find_bubblewrap(toolchains: Toolchains) -> Bubblewrap | None:
    """The installed one; None if there is none. Whether it works here is another question."""
    program = shutil.which("bwrap", path=f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}")
    if program is None:
        return None
    try:
        said = subprocess.run((program, "--help"), capture_output=True, timeout=20, check=False, env={})
        known = (said.stdout + said.stderr).decode(errors="replace").split()
    except (OSError, subprocess.TimeoutExpired):
        known = []
    return Bubblewrap(program, frozenset(known) & {"--size", "--disable-userns"}, toolchains)


@functools.cache
def _system() -> tuple[str, ...]:
    """The system's own programs and what they look up, the same for all."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in ROOTS:
        if (root := Path("/", name)).is_symlink():
            words += ["--symlink", str(root.readlink()), str(root)]
        elif root.is_dir():
            words += ["--ro-bind", str(root), str(root)]
    words += ["--dir", "/etc"]
    for path, place in _etc():
        if _leads_to_usr(path):
            words += ["--symlink", str(path.resolve()), place]
        elif not _is_copied(path):
            words += ["--ro-bind", str(path), place]
    for name in SYS:
        words += ["--ro-bind-try", f"/sys/{name}", f"/sys/{name}"]
    words += ["--proc", "/proc"]
    for name in PROC:
        words += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    return (*words, "--dev", "/dev", "--dir", "/run", "--dir", "/var")


@functools.cache
def _copied() -> tuple[tuple[str, str], ...]:
    """Small files, and where they are in the sandbox. To copy one takes far less time than to mount it."""
    return tuple((str(path), place) for path, place in _etc() if _is_copied(path))


def _etc() -> Iterator[tuple[Path, str]]:
    for name in ETC:
        if (path := Path("/etc", name)).exists():
            yield path, str(path)
    for path in sorted(_OWN_ETC.iterdir()):
        yield path, f"/etc/{path.name}"


def _is_copied(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK) and not _leads_to_usr(path)


def _leads_to_usr(path: Path) -> bool:
    return path.is_symlink() and path.resolve().is_relative_to("/usr")


def _bound(how: str, paths: Iterable[str]) -> Iterator[str]:
    """Outer folders first, so that none hides one inside it."""
    for path in sorted(set(paths)):
        yield from (how, path, path)


def _protected(grant: Grant) -> Iterator[str]:
    """Yield the protected paths that exist. A link is refused: it would bind its target."""
    for path in grant.protect:
        root = next((root for root in (*grant.write, grant.home) if root and is_below(path, [root])), path)
        if _is_by_a_link(root, path):
            raise EnvironmentProblem(f"{path} was replaced by a link", "retry the task from scratch")
        if os.path.lexists(path):
            yield path


def _is_by_a_link(root: str, path: str) -> bool:
    """Tell if the path, or a folder between it and its root, is a link."""
    spot = Path(path)
    below = len(spot.parts) - len(Path(root).parts)
    return any(each.is_symlink() for each in (spot, *spot.parents)[:below])
