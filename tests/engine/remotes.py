"""A remote of a repository: a bare one, by path or by http on loopback, which others push to as well."""

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.engine.scratch import Scratch


class Remote:
    """A bare repository, and the clone of a colleague who pushes to it."""

    def __init__(self, scratch: Scratch, url: str = "") -> None:
        """Publish the repository there. `url`: the address that it is reached by; empty: its path."""
        self.bare = scratch.root.parent / "served" / "origin.git"
        self.bare.parent.mkdir(exist_ok=True)
        scratch.git("clone", "-q", "--bare", ".", str(self.bare))
        _git(self.bare, "config", "http.receivepack", "true")
        scratch.git("remote", "add", "origin", url or str(self.bare))
        scratch.git("fetch", "-q")
        scratch.git("branch", "-q", "--set-upstream-to=origin/main", "main")
        self.colleague = scratch.root.parent / "colleague"
        _git(self.bare.parent, "clone", "-q", str(self.bare), str(self.colleague))
        self.theirs = [self.git("rev-parse", "main")]
        """Commits of people, the first one and those of the colleague."""

    def git(self, *argv: str) -> str:
        """What git says in the bare repository."""
        return _git(self.bare, *argv)

    def push(self, message: str = "theirs", **files: str) -> str:
        """Let the colleague commit files and push them; the commit. `__` in a name stands for a dot."""
        self.colleague_git("pull", "-q", "--ff-only")
        for name, text in files.items():
            (self.colleague / name.replace("__", ".")).write_text(text)
        self.colleague_git("add", "-A")
        self.colleague_git("commit", "-qm", message)
        self.colleague_git("push", "-q", "origin", "main")
        self.theirs.append(self.colleague_git("rev-parse", "main"))
        return self.theirs[-1]

    def colleague_git(self, *argv: str) -> str:
        """What git says in the clone of the colleague."""
        return _git(self.colleague, *argv)

    def hook(self, name: str, script: str) -> Path:
        """Put a hook into the bare repository; the file."""
        path = self.bare / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def line(self, branch: str = "main") -> list[str]:
        """The first parents of a branch, oldest first."""
        return self.git("rev-list", "--first-parent", "--reverse", branch).splitlines()

    def assert_nothing_is_lost_or_untested(self, scratch: Scratch) -> None:
        """Each first parent on main is a person's or was tested there, and none was taken away."""
        passed = {
            row["fact"]["commit"]: row["fact"] for row in scratch.facts("CandidatePassed", "CandidateJoined")
        }
        line = self.line()
        for before, commit in zip(["", *line], line, strict=False):
            if commit not in self.theirs:
                assert commit in passed, f"{commit} was pushed and never tested"
                assert (passed[commit]["base"], passed[commit]["tree"]) == (
                    before,
                    self.git("rev-parse", f"{commit}^{{tree}}"),
                )
        assert set(self.theirs) <= set(line), "a commit of the colleague is gone"
        assert {row["fact"]["commit"] for row in scratch.facts("Landed")} <= set(line)


def _git(folder: Path, *argv: str) -> str:
    identity = ("-c", "user.name=Grace", "-c", "user.email=grace@localhost")
    done = subprocess.run(["git", *identity, *argv], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Server:
    """Serves the folder of a remote over http on loopback, and can hang up on everybody."""

    def __init__(self, folder: Path, login: str = "") -> None:
        self.folder, self.login = folder, login
        self.down = threading.Event()
        self.refused = threading.Event()
        """Set by the first request while it was down."""
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/origin.git"

    @contextmanager
    def on(self) -> Iterator["Server"]:
        """Serve as long as this lasts."""
        self._thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

        def _answer(self) -> None:
            if server.down.is_set():
                server.refused.set()
                return  # the connection ends without an answer
            wanted = f"Basic {base64.b64encode(server.login.encode()).decode()}"
            if server.login and self.headers["Authorization"] != wanted:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self._serve()

        def _serve(self) -> None:
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            said = subprocess.run(
                ["git", "http-backend"],
                input=body,
                capture_output=True,
                check=False,
                env=os.environ
                | {
                    "GIT_PROJECT_ROOT": str(server.folder),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "REQUEST_METHOD": self.command,
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "CONTENT_TYPE": self.headers["Content-Type"] or "",
                    "CONTENT_LENGTH": str(len(body)),
                    "HTTP_CONTENT_ENCODING": self.headers["Content-Encoding"] or "",
                    "GIT_PROTOCOL": self.headers["Git-Protocol"] or "",
                    "REMOTE_ADDR": "127.0.0.1",
                },
            ).stdout
            head, _, rest = said.partition(b"\r\n\r\n")
            lines = [line.split(": ", 1) for line in head.decode().split("\r\n")]
            status = next((int(value.split()[0]) for name, value in lines if name == "Status"), 200)
            self.send_response(status)
            for name, value in lines:
                if name != "Status":
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest)

    return Handler
