"""Forks a copy of itself for each Python program that a test starts; the modules are imported already.

Most of the time of a short `interlock` command goes into its imports. A fork has them and is still a process
of its own, with its own streams, folder, environment and signals.

    python -m tests.warm_server FD      serves the requests that come over this socket, until it is closed
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import socket
import sys
import threading
import time
from io import TextIOWrapper
from typing import NamedTuple

import interlock

SCRIPTS = ("__main__", "demo_files", "outside", "builtin_agent")
"""Parts of the package that are programs of their own."""
REQUEST_BYTES = 1_000_000
STREAMS = 3


class Order(NamedTuple):
    """One program to become."""

    words: list[str]
    """As `python` takes them: `-m` and a module, or a file; then the arguments."""
    folder: str
    env: dict[str, str]
    streams: list[int]


def serve(requests: socket.socket) -> Order | None:
    """Fork for each request. In a fork: the order to carry out; in the server: nothing, at the end."""
    with selectors.DefaultSelector() as news:
        news.register(requests, selectors.EVENT_READ)
        while True:
            for key, _ in news.select():
                if key.data:
                    news.unregister(key.fd)
                    _tell_end(key.fd, *key.data)
                    continue
                text, streams, _, _ = socket.recv_fds(requests, REQUEST_BYTES, STREAMS + 1)
                if not text:
                    return None
                answers = socket.socket(fileno=streams.pop())
                pid = os.fork()
                if pid == 0:
                    answers.close()
                    _close_all(news)
                    return Order(**json.loads(text), streams=streams)
                for stream in streams:
                    os.close(stream)
                answers.send(str(pid).encode())
                news.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, answers))


def _close_all(news: selectors.BaseSelector) -> None:
    """Close the files of the server, which a new process would not have."""
    for key in news.get_map().values():
        if key.data:
            _, answers = key.data
            answers.close()
        os.close(key.fd)


def _tell_end(pidfd: int, pid: int, answers: socket.socket) -> None:
    os.close(pidfd)
    _, status = os.waitpid(pid, 0)
    with answers:
        try:
            answers.send(str(os.waitstatus_to_exitcode(status)).encode())
        except OSError:  # the test no longer wants to know
            return


def become(order: Order) -> None:
    """Run the program with its streams, its folder and its environment."""
    for number, stream in enumerate(order.streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.env)
    time.tzset()
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.isatty():
        sys.stdout.reconfigure(line_buffering=True)  # as the interpreter does when it starts on a terminal
    if order.words[0] == "-m":
        sys.argv = order.words[1:]
        runpy.run_module(order.words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = order.words
        runpy.run_path(order.words[0], run_name="__main__")


def leave(code: int) -> None:
    """End this process as the interpreter would, but without freeing what the kernel frees anyway."""
    threading._shutdown()  # type: ignore[attr-defined] # what the interpreter calls; typeshed leaves it out
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def import_everything() -> None:
    """Import every module that a program may want."""
    for module in pkgutil.walk_packages(interlock.__path__, "interlock."):
        if not any(part in SCRIPTS for part in module.name.split(".")):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    import_everything()
    order = serve(socket.socket(fileno=int(sys.argv[1])))
    if order:
        try:
            become(order)
        except SystemExit as ended:
            # Taking down modules that are shared with the server copies them first: most of a short command.
            if isinstance(ended.code, int | None):
                leave(ended.code or 0)
            raise
        leave(0)
