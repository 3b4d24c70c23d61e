"""Attacks on processes, on the network and on the kernel."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
from pathlib import Path

from .means import CLONE_NEWUSER, HERE, LIBC, TARGETS, attack, connects, reads, syscall

# Processes and secrets


@attack
def find_a_secret_in_own_environment() -> bool:
    return TARGETS["secret"] in os.environ.values()


@attack
def find_a_secret_in_any_environment() -> bool:
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if reads(entry):
                return True
    return False


@attack
def find_a_secret_in_any_command_line() -> bool:
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if reads(entry):
                return True
    return False


@attack
def see_the_orchestrator() -> bool:
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if b"interlock" in entry.read_bytes().split(b"\0") and entry.parent.name != str(os.getpid()):
                return True
    return False


@attack
def signal_a_process_of_the_host() -> bool:
    os.kill(int(TARGETS["victim_pid"]), signal.SIGUSR1)
    return Path(f"/proc/{TARGETS['victim_pid']}/cmdline").read_bytes().count(b"victim") > 0


@attack
def stop_the_first_process() -> bool:
    """Of its own namespace, if it has one: what sees to its end."""
    os.kill(1, signal.SIGSTOP)
    state = Path("/proc/1/stat").read_text().rpartition(")")[2].split()[0]
    os.kill(1, signal.SIGCONT)
    return state == "T"


# The network


@attack
def reach_another_port_of_the_host() -> bool:
    return connects(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(TARGETS["port"])))


@attack
def reach_the_internet() -> bool:
    """A second loopback address stands for it."""
    return connects(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.2", int(TARGETS["port"])))


@attack
def connect_with_the_first_bytes() -> bool:
    """TCP Fast Open: `sendto` opens the connection."""
    with socket.socket() as sock:
        sock.sendto(b"hello", socket.MSG_FASTOPEN, ("127.0.0.2", int(TARGETS["port"])))
        sock.settimeout(3)
        return sock.recv(16) == b"you are out"


@attack
def reach_the_host_by_ipv6() -> bool:
    return connects(socket.AF_INET6, socket.SOCK_STREAM, ("::1", int(TARGETS["port"])))


@attack
def ask_a_name_server() -> bool:
    return connects(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", int(TARGETS["udp_port"])))


@attack
def reach_a_container_engine() -> bool:
    return connects(socket.AF_UNIX, socket.SOCK_STREAM, TARGETS["unix_socket"])


@attack
def reach_an_abstract_socket() -> bool:
    return connects(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + TARGETS["abstract_socket"])


@attack
def see_the_network_cards() -> bool:
    return any(name != "lo" for _, name in socket.if_nameindex())


# The kernel


@attack
def make_a_user_namespace() -> bool:
    return subprocess.run(["unshare", "--user", "true"], capture_output=True, check=False).returncode == 0


@attack
def make_a_user_namespace_by_hand() -> bool:
    child = os.fork()
    if child == 0:
        os._exit(0 if LIBC.unshare(CLONE_NEWUSER) == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


@attack
def mount_something() -> bool:
    mounted = int(LIBC.mount(b"none", str(HERE / "mnt").encode(), b"tmpfs", 0, None)) == 0
    if mounted:
        LIBC.umount2(str(HERE / "mnt").encode(), 0)
    return mounted


@attack
def keep_a_key_in_the_kernel() -> bool:
    return syscall("add_key", b"user", TARGETS["mark"].encode(), b"x", 1, -1) >= 0


@attack
def use_io_uring() -> bool:
    return syscall("io_uring_setup", 1, ctypes.create_string_buffer(120)) >= 0


@attack
def load_a_kernel_program() -> bool:
    attributes = (ctypes.c_uint32 * 12)(2, 4, 4, 1)  # an array of one number
    return syscall("bpf", 0, attributes, ctypes.sizeof(attributes)) >= 0


@attack
def watch_the_kernel() -> bool:
    attributes = (ctypes.c_uint32 * 28)(1, 112)
    return syscall("perf_event_open", attributes, 0, -1, -1, 0) >= 0


@attack
def handle_page_faults() -> bool:
    return syscall("userfaultfd", 0) >= 0


@attack
def trace_a_process() -> bool:
    child = subprocess.Popen(["sleep", "20"])
    try:
        return int(LIBC.ptrace(16, child.pid, None, None)) == 0
    finally:
        child.kill()
        child.wait()


@attack
def read_the_memory_of_a_process() -> bool:
    child = subprocess.Popen(["sleep", "20"])
    try:
        return syscall("process_vm_readv", child.pid, None, 0, None, 0, 0) >= 0
    finally:
        child.kill()
        child.wait()


@attack
def become_root() -> bool:
    return os.geteuid() == 0 and os.access("/proc/1/root/root", os.R_OK)


@attack
def make_a_device() -> bool:
    path = HERE / "device"
    os.mknod(path, 0o600 | 0o020000, os.makedev(1, 3))
    path.unlink()
    return True
