"""Ways out of a network that a program is alone in: a port inside, a unix socket of the host's outside.

Loaded by the supervisor, which is in the program's network but not in its view of the files: nothing runs
inside the sandbox for this, and the program can reach nothing but what was listened for. Where a supervisor
cannot be in that network, this file is run inside instead, and becomes the program:

    python port_forwarder.py PORT=PATH... -- PROGRAM [ARGUMENT...]

Standard library only, and little of it: what is imported here is paid for at every start.
"""

import _socket as socket
import errno
import fcntl
import os
import select
import struct
import sys

CHUNK_BYTES = 64 * 1024
WAITING_BYTES = 256 * 1024
"""The bytes that one side may be ahead of the other."""
MOST_CONNECTIONS = 64
"""The most connections of one program at once; more are closed, so that our descriptors never run out."""
CONNECT_SECONDS = 1.0

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1
_REQUEST = "16sh22x"

_NEW_ROUTE, _REQUEST_CREATE_ACK = 24, 0x1 | 0x400 | 0x4
_MAIN_TABLE, _AT_BOOT, _LINK_SCOPE, _UNICAST = 254, 3, 253, 1
_OUT_LINK, _SOURCE = 4, 7
_LOOPBACK = bytes((127, 0, 0, 1))


def bring_up_network() -> None:
    """Let a new network carry 127.0.0.1, and swallow everything else."""
    _bring_up_loopback()
    try:
        _add_black_hole()
    except OSError:
        # Programs then see "network is unreachable" at once where they would have waited in vain.
        return


def _bring_up_loopback() -> None:
    wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        answer = fcntl.ioctl(wire.fileno(), _GET_FLAGS, struct.pack(_REQUEST, b"lo", 0))
        flags = struct.unpack(_REQUEST, answer)[1] | _UP
        fcntl.ioctl(wire.fileno(), _SET_FLAGS, struct.pack(_REQUEST, b"lo", flags))
    finally:
        wire.close()


def _add_black_hole() -> None:
    """Add a default route over the loopback link, where the kernel drops packets without a receiver.

    Tests of timeouts connect to an address that never answers: in a shell they wait, so they must here. No
    other link exists in this network, so nothing can leave it. Written by hand because `ip` may be missing.
    """
    link = struct.pack("=HHI", 8, _OUT_LINK, socket.if_nametoindex("lo"))
    source = struct.pack("=HH", 8, _SOURCE) + _LOOPBACK
    route = struct.pack("=8BI", socket.AF_INET, 0, 0, 0, _MAIN_TABLE, _AT_BOOT, _LINK_SCOPE, _UNICAST, 0)
    body = route + link + source
    wire = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    try:
        wire.sendto(
            struct.pack("=IHHII", 16 + len(body), _NEW_ROUTE, _REQUEST_CREATE_ACK, 1, 0) + body, (0, 0)
        )
        wire.recv(4096)
    finally:
        wire.close()


class ConnectionSide:
    """One side of a connection, and what still has to be written to it."""

    def __init__(self, wire: socket.socket) -> None:
        self.wire = wire
        self.waiting = bytearray()
        self.other: ConnectionSide = self
        self.silent = False
        """True if this side sends nothing more."""
        self.told = False
        """True if this side knows that nothing more comes."""
        self.watched = True
        """Until its other side is gone for good: poll would say so for ever."""

    @property
    def events(self) -> int:
        reads = not self.silent and len(self.other.waiting) < WAITING_BYTES
        return (select.POLLIN if reads else 0) | (select.POLLOUT if self.waiting else 0)

    @property
    def over(self) -> bool:
        return self.silent and self.other.silent and not self.waiting and not self.other.waiting

    def read(self) -> None:
        chunk = self.wire.recv(CHUNK_BYTES)
        self.other.waiting += chunk
        self.silent = not chunk

    def write(self) -> None:
        if self.waiting:
            del self.waiting[: self.wire.send(self.waiting)]
        if self.other.silent and not self.waiting and not self.told:
            self.told = True
            self.wire.shutdown(socket.SHUT_WR)


class PortForwarder:
    """All forwarded ports of one program's network, on its owner's poll."""

    def __init__(self, poll: "select.poll") -> None:
        self._poll = poll
        self._open: dict[int, tuple[socket.socket, str]] = {}
        self._ends: dict[int, ConnectionSide] = {}

    def open(self, port: int, path: str) -> None:
        """Forward connections to 127.0.0.1:port to the unix socket."""
        wire = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        wire.bind(("127.0.0.1", port))
        wire.listen(64)
        wire.setblocking(False)
        self._open[wire.fileno()] = (wire, path)
        self._poll.register(wire.fileno(), select.POLLIN)

    def wake(self, fd: int, event: int) -> None:
        """Something happened on one of our descriptors; others are not ours."""
        if fd in self._open:
            self._connect(*self._open[fd])
        elif fd in self._ends:
            self._carry(self._ends[fd], event)

    def _connect(self, forwarded: socket.socket, path: str) -> None:
        try:
            number, _ = forwarded._accept()  # type: ignore[attr-defined]  # there, but not in the stubs
        except OSError:
            return  # it went away again
        inside = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, number)
        outside = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            if len(self._ends) >= 2 * MOST_CONNECTIONS:
                raise OSError(errno.EMFILE, "too many connections")
            outside.settimeout(CONNECT_SECONDS)
            outside.connect(path)
        except OSError:
            # No server listens out there: the program finds its connection closed, and its own words for it.
            inside.close()
            outside.close()
            return
        self._join(ConnectionSide(inside), ConnectionSide(outside))

    def _join(self, one: ConnectionSide, two: ConnectionSide) -> None:
        one.other, two.other = two, one
        for end in (one, two):
            end.wire.setblocking(False)
            self._ends[end.wire.fileno()] = end
            self._poll.register(end.wire.fileno(), end.events)

    def _carry(self, end: ConnectionSide, event: int) -> None:
        try:
            if event & (select.POLLIN | select.POLLHUP) and end.events & select.POLLIN:
                end.read()
            for each in (end, end.other):
                each.write()
            left = bool(event & select.POLLHUP) and end.silent
            gone = bool(event & (select.POLLERR | select.POLLNVAL)) or (left and not end.other.waiting)
        except BlockingIOError:
            left = gone = False
        except OSError:
            left = gone = True
        if gone or end.over:
            self._close(end)
            return
        if left:
            end.watched = False
            self._poll.unregister(end.wire.fileno())
        for each in (end, end.other):
            if each.watched:
                self._poll.modify(each.wire.fileno(), each.events)

    def _close(self, end: ConnectionSide) -> None:
        for each in (end, end.other):
            number = each.wire.fileno()
            if each.watched:
                self._poll.unregister(number)
            del self._ends[number]
            each.wire.close()


def serve(forwarded_ports: "list[str]") -> None:
    """Forward ports from now on, in a process of its own that ends with all else in the sandbox."""
    poll = select.poll()
    opened = PortForwarder(poll)
    for forwarded in forwarded_ports:
        port, _, path = forwarded.partition("=")
        opened.open(int(port), path)
    if os.fork():
        return
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    while True:
        for fd, event in poll.poll():
            opened.wake(fd, event)


def become(program: "list[str]") -> None:
    try:
        os.execvp(program[0], program)  # noqa: S606 - the program that was asked for, as a list of words
    except OSError as error:
        # In bubblewrap's words, which are known outside.
        os.write(2, f"bwrap: execvp {program[0]}: {error.strerror}\n".encode())
        os._exit(127)


if __name__ == "__main__":
    split = sys.argv.index("--")
    serve(sys.argv[1:split])
    become(sys.argv[split + 1 :])
