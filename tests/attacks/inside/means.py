"""What attacks are made with."""

import ctypes
import json
import platform
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
"""The workspace."""
TARGETS: dict[str, str] = json.loads((HERE / "targets.json").read_text())
LIBC = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
CALLS = {  # the numbers of x86_64, and of aarch64
    "add_key": (248, 217),
    "keyctl": (250, 219),
    "io_uring_setup": (425, 425),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "process_vm_readv": (310, 270),
    "open_by_handle_at": (304, 265),
}
CLONE_NEWUSER = 0x10000000

Attack = Callable[[], bool]
ATTACKS: dict[str, Attack] = {}
WORK: dict[str, Attack] = {}


def attack(function: Attack) -> Attack:
    ATTACKS[function.__name__] = function
    return function


def must_work(function: Attack) -> Attack:
    WORK[function.__name__] = function
    return function


def target(name: str) -> Path:
    return Path(TARGETS[name])


def syscall(name: str, *words: object) -> int:
    return int(LIBC.syscall(CALLS[name][ARM], *words))


def writes(path: Path) -> bool:
    before = path.read_bytes() if path.exists() else None
    with path.open("ab") as file:
        file.write(b"# attacked\n")
    if before is None:
        path.unlink()
    else:
        path.write_bytes(before)
    return True


def reads(path: Path) -> bool:
    return TARGETS["secret"].encode() in path.read_bytes()


def git(*words: str) -> bool:
    done = subprocess.run(["git", *words], cwd=HERE, capture_output=True, check=False, timeout=30)
    return done.returncode == 0


def connects(family: int, kind: int, address: object) -> bool:
    with socket.socket(family, kind) as sock:
        sock.settimeout(3)
        sock.connect(address)  # type: ignore[arg-type] # an address of whatever family
        sock.sendall(b"hello")
        return sock.recv(16) == b"you are out"


def git_dir() -> Path:
    return (HERE / (HERE / ".git").read_text().removeprefix("gitdir:").strip()).resolve()
