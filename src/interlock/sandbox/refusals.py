"""Messages of a sandbox that does not work, and their fixes.

1. Recognised by the words of bubblewrap, `unshare` and the kernel, in the C locale that they are run in.
2. A fix is a command that can be pasted; only a person with the rights for it can decide on it.
"""

import re
from pathlib import Path

from interlock.model.errors import CannotStart, EnvironmentProblem

_NO_PROGRAM = re.compile(r"^bwrap: execvp (?P<program>.*): (?P<why>[^:\n]*)$", re.MULTILINE)
_SAID = re.compile(r"^(bwrap|unshare|landlock): (?P<why>.*)$", re.MULTILINE)

NO_PROGRAM = 127


class NoSandbox(EnvironmentProblem):
    """No sandbox on this machine can keep agents to their workspace."""

    code = "no-sandbox"
    retryable = False


class BrokenSandbox(EnvironmentProblem):
    """A sandbox that was found to work does not any more."""

    code = "sandbox"
    hint = "interlock doctor"


def unstartable(program: str, why: str) -> str:
    """Return the reason that a program cannot be started, from the kernel's message."""
    if why == "No such file or directory":
        where = ", nor the interpreter its first line names" if "/" in program else ""
        return f"program not found: {program}{where}"
    return f"program cannot be started: {program}: {why}"


def says_no_program(code: int, tail: str) -> bool:
    """Tell if the layer between bubblewrap and the program said that there is no such program."""
    return code == NO_PROGRAM and _NO_PROGRAM.fullmatch(tail.rpartition("\n")[2]) is not None


def got_nowhere(program: str, tail: str) -> EnvironmentProblem:
    """Bubblewrap ended before the program was one: it could not start it, or could not confine it."""
    if found := _NO_PROGRAM.search(tail):
        return CannotStart(unstartable(program, found["why"]))
    return BrokenSandbox(f"the sandbox of {program} could not be made: {said(tail)}")


def said(text: str) -> str:
    """The line that tells what went wrong."""
    if found := _SAID.search(text):
        return found["why"]
    return next((line for line in reversed(text.strip().splitlines()) if line.strip()), "it said nothing")


INSTALL = {
    "debian": "sudo apt-get install bubblewrap",
    "fedora": "sudo dnf install bubblewrap",
    "rhel": "sudo dnf install bubblewrap",
    "arch": "sudo pacman -S bubblewrap",
    "alpine": "sudo apk add bubblewrap",
    "suse": "sudo zypper install bubblewrap",
    "nixos": "nix-env -iA nixos.bubblewrap",
}

APPARMOR = """\
AppArmor keeps user namespaces from bubblewrap. This lets bubblewrap have them, and nothing else:
    sudo tee /etc/apparmor.d/bwrap >/dev/null <<'END'
    abi <abi/4.0>,
    include <tunables/global>
    profile bwrap /usr/bin/bwrap flags=(unconfined) {
      userns,
    }
    END
    sudo apparmor_parser -r /etc/apparmor.d/bwrap"""
SYSCTL = """\
this system keeps user namespaces from people who are not root:
    sudo sysctl -w kernel.unprivileged_userns_clone=1
  or it is a container that may not make namespaces; start that with
    docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined ..."""
NONE_LEFT = """\
this system allows no user namespaces:
    sudo sysctl -w user.max_user_namespaces=15000"""
NETWORK = """\
this system keeps network namespaces from bubblewrap; in a container, start that with the right to make them:
    docker run --cap-add NET_ADMIN --cap-add SYS_ADMIN --security-opt seccomp=unconfined ...
  outside of one:
    sudo sysctl -w user.max_net_namespaces=15000"""
MASKED_PROC = """\
this is a container that hides parts of /proc, so no new /proc may be mounted in it. Start it with
    docker run --security-opt systempaths=unconfined --security-opt seccomp=unconfined ...
    podman run --security-opt unmask=ALL ..."""
NO_FILTER = """\
this kernel has no filters for system calls (CONFIG_SECCOMP_FILTER); install the distribution's own kernel"""
SLAVE = """\
mounts may not be changed here; in a container, start that with
    docker run --security-opt apparmor=unconfined --security-opt seccomp=unconfined ..."""

AS_ROOT = """\
Interlock runs as root here, and starts no program under root's own number. Run it as an ordinary user:
    su --login USER --command 'interlock run'
  in a container:
    docker run --user "$(id -u):$(id -g)" ...
  or let root mount (and have the repository on ext4, xfs, btrfs or tmpfs):
    docker run --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined ..."""

_FIXES = (
    # words of the message, the fix; the first that is in it counts
    ("unprivileged user", AS_ROOT),
    ("setting up uid map", APPARMOR),
    ("uid_map", APPARMOR),
    ("RTM_NEWADDR", NETWORK),
    ("RTM_NEWLINK", NETWORK),
    ("no way out of its network", NETWORK),
    ("SECCOMP", NO_FILTER),
    ("mount proc", MASKED_PROC),
    ("mount /proc failed", MASKED_PROC),
    ("make / slave", SLAVE),
    ("No permissions to create a new namespace", SYSCTL),
    ("Creating new namespace failed", SYSCTL),
    ("unshare failed: Operation not permitted", SYSCTL),
)


def fix_for(message: str, sysctl: Path = Path("/proc/sys/user")) -> str:
    if "ENOSPC" in message or "No space left on device" in message:
        return NETWORK if _is_zero(sysctl / "max_net_namespaces") else NONE_LEFT
    return next((fix for words, fix in _FIXES if words in message), "")


def _is_zero(file: Path) -> bool:
    try:
        return file.read_text().strip() == "0"
    except OSError:
        return False


def install_command(os_release: Path = Path("/etc/os-release")) -> str:
    try:
        lines = os_release.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    names = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".replace('"', "").split()
    return next((INSTALL[name] for name in names if name in INSTALL), "install the package bubblewrap")
