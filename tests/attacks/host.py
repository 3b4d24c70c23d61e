"""A machine worth attacking: a repository, decoys with a secret, servers that greet whoever reaches them."""

import atexit
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from tests import warm

INSIDE = Path(__file__).with_name("inside")
NOBODY = "12345"
"""A user with no rights at all, and no entry in the list of users."""
OUTSIDE_TMP = next((path for path in ("/srv", "/opt") if os.access(path, os.W_OK)), str(Path.home()))
"""A sandbox has a /tmp of its own: what is written there hits nobody, and would look like a success."""
GREETING = b"you are out"
GIVE_UP_SECONDS = 180
REQUEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the agent could do."""

    work: dict[str, str]
    attacks: dict[str, str]
    harm: tuple[str, ...]
    """What was changed on the machine outside the workspace."""

    @property
    def broken(self) -> list[str]:
        """What must work and does not."""
        return [f"{name}: {said}" for name, said in self.work.items() if said != "yes"]

    @property
    def succeeded(self) -> list[str]:
        """Attacks that got what they wanted."""
        return [name for name, said in self.attacks.items() if said == "yes"]


class Host:
    """One machine, as the user `uid`."""

    def __init__(self, folder: Path, uid: str) -> None:
        self.folder = folder
        self.uid = uid
        self.secret = "canary-" + os.urandom(12).hex()
        self.mark = "interlock-attack-" + os.urandom(6).hex()
        self.home = folder / "home"
        self.repository = folder / "repository"
        self.shared_tmp = folder / "tmp"

    def set_up(self, stack: ExitStack) -> None:
        """Everything but the graph."""
        self.folder.chmod(0o755)
        for name in (".ssh", ".aws"):
            (self.home / name).mkdir(parents=True)
        for name in (".ssh/id_ed25519", ".aws/credentials", ".git-credentials", ".bashrc"):
            (self.home / name).write_text(f"{self.secret}\n")
        self.shared_tmp.mkdir()
        self.repository.mkdir()
        self._git("init", "-q", "-b", "main")
        targets = self._targets(stack)
        shutil.copytree(INSIDE, self.repository / "inside", ignore=shutil.ignore_patterns("__pycache__"))
        (self.repository / "targets.json").write_text(json.dumps(targets))
        (self.repository / ".gitignore").write_text(".env\nuntracked.txt\n.interlock\n")
        (self.repository / ".env").write_text(f"{self.secret}\n")
        (self.repository / "untracked.txt").write_text("mine\n")

    def commit(self, graph: str) -> None:
        """The graph, and a commit to build on."""
        (self.repository / "task-graph.yaml").write_text(graph)
        self._git("add", "-A")
        self._git("commit", "-qm", "start")
        if self.uid != "0":
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, int(self.uid), int(self.uid), follow_symlinks=False)

    def _targets(self, stack: ExitStack) -> dict[str, str]:
        shared = self._git("hash-object", "-w", "--stdin", feed="shared\n").strip()
        common = self.repository / ".git"
        state = self.repository / ".git/interlock"
        other = state / "workspaces" / "other" / "1" / "tree"
        other.mkdir(parents=True)
        (other / "file.txt").write_text("theirs\n")
        (other / "secret.txt").write_text(f"{self.secret}\n")
        port = stack.enter_context(_tcp())
        victim = stack.enter_context(self._victim())
        unix = self.folder / "engine.sock"
        abstract = self.mark
        for family, kind, address in (
            (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", port)),
            (socket.AF_UNIX, socket.SOCK_STREAM, str(unix)),
            (socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract),
        ):
            stack.enter_context(_serving(family, kind, address))
        return {
            "secret": self.secret,
            "mark": self.mark,
            "home": str(self.home),
            "main_tree": str(self.repository),
            "common_dir": str(common),
            "state": str(state),
            "other_workspace": str(other),
            "shared_object": str(common / "objects" / shared[:2] / shared[2:]),
            "shared_tmp": str(self.shared_tmp),
            "victim_pid": str(victim),
            "port": str(port),
            "udp_port": str(port),
            "unix_socket": str(unix),
            "abstract_socket": abstract,
        }

    @contextmanager
    def _victim(self) -> Iterator[int]:
        """Somebody else's process, with the secret in its environment and its command line."""
        script = "import signal, sys; signal.signal(signal.SIGUSR1, signal.SIG_IGN); sys.stdin.read()"
        argv = [*self._as_user(), _python(self.uid), "-c", script, "victim", self.secret]
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, env={"TOKEN": self.secret}, cwd="/")
        try:
            yield process.pid
        finally:
            process.kill()
            process.wait()
            if process.stdin:
                process.stdin.close()

    def _git(self, *words: str, feed: str = "") -> str:
        identity = ("-c", "user.name=Person", "-c", "user.email=person@localhost", "-c", "safe.directory=*")
        done = subprocess.run(
            ["git", *identity, *words],
            cwd=self.repository,
            input=feed,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def _as_user(self) -> list[str]:
        if self.uid == "0":
            return []
        return ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", "--no-new-privs"]

    def interlock(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """The real command, as the user, with a secret of the user's in its environment."""
        env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "DECOY_TOKEN": self.secret,
            "INTERLOCK_TRUST_FOLDERS": str(self.repository),  # its graph names a model server here
            "PYTHONDONTWRITEBYTECODE": "1",
            **variables,
        }
        if self.uid == "0":
            return warm.run([*warm.INTERLOCK, *words], self.repository, env)
        env["PYTHONPATH"] = str(_readable_copy())
        return subprocess.run(
            [*self._as_user(), _python(self.uid), "-m", "interlock", *words],
            cwd=self.repository,
            env=env,
            capture_output=True,
            text=True,
            timeout=GIVE_UP_SECONDS,
            check=False,
        )

    def attacked(self, *flags: str, **variables: str) -> Outcome:
        """Let the hostile agent run as a task, and see what it could do."""
        before = self._fingerprints()
        done = self.interlock("run", "--no-input", *flags, **variables)
        log = self.repository / ".git/interlock" / "logs" / "attack" / "1.log"
        assert log.exists(), f"{done.stdout}\n{done.stderr}"
        found = json.loads(next(line for line in log.read_text().splitlines() if line.startswith("{")))
        assert "1 done" in done.stdout, f"{done.stdout}\n{done.stderr}"
        after = self._fingerprints()
        harm = tuple(name for name in sorted(before | after) if before.get(name) != after.get(name))
        return Outcome(found["work"], found["attacks"], harm)

    def _fingerprints(self) -> dict[str, str]:
        """Of every file that no honest run would touch."""
        common = self.repository / ".git"
        places = (
            self.home,
            self.shared_tmp,
            common / "hooks",
            common / "config",
            common / "packed-refs",
            common / "refs" / "heads" / "attacked",
            self.repository / ".git/interlock" / "workspaces" / "other",
            self.repository / ".git/interlock" / "planted",
            self.repository / ".env",
            self.repository / "untracked.txt",
            Path("/etc") / self.mark,
            Path("/usr/local/bin") / self.mark,
            Path(json.loads((self.repository / "targets.json").read_text())["shared_object"]),
        )
        files = [file for place in places for file in (place, *place.rglob("*")) if file.is_file()]
        return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}

    def clean_up(self) -> None:
        """What attacks that succeeded have left outside the folder."""
        for folder in ("/etc", "/usr/local/bin"):
            (Path(folder) / self.mark).unlink(missing_ok=True)


@contextmanager
def host(folder: Path, uid: str) -> Iterator[Host]:
    """A machine that is gone afterwards."""
    with ExitStack() as stack:
        made = Host(folder, uid)
        stack.callback(made.clean_up)
        made.set_up(stack)
        yield made


def can_be(uid: str) -> bool:
    """Can programs be started as this user, with a Python it may read."""
    return os.geteuid() == int(uid) or (os.geteuid() == 0 and bool(_python(uid)))


def _python(uid: str) -> str:
    """An interpreter of our own version that the user may start."""
    if uid == "0" or os.geteuid() == int(uid):
        return sys.executable
    for path in ("/usr/bin/python3", "/usr/local/bin/python3", str(Path(sys.executable).resolve())):
        tried = subprocess.run(
            [
                "setpriv",
                f"--reuid={uid}",
                "--clear-groups",
                path,
                "-c",
                "import sys; print(*sys.version_info[:2])",
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
        )
        if tried.stdout.split() == [str(number) for number in sys.version_info[:2]]:
            return path
    return ""


@cache
def _readable_copy() -> Path:
    """Interlock and all it needs where any user can read it; a checkout of root's may be out of reach."""
    copy = Path(tempfile.mkdtemp(prefix="interlock-installed-", dir=OUTSIDE_TMP))
    atexit.register(shutil.rmtree, copy)
    copy.chmod(0o755)
    shutil.copytree(Path(__file__).parents[2] / "src" / "interlock", copy / "interlock")
    for name in _needed("interlock"):
        for file in metadata.distribution(name).files or ():
            if ".." not in file.parts and Path(str(file.locate())).exists():
                (copy / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(str(file.locate()), copy / file)  # with its time, which its compiled form is for
    return copy


def _needed(name: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """The distributions that one needs, without itself and without extras."""
    found: set[str] = set()
    for line in metadata.requires(name) or ():
        other = re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]
        if "extra ==" in line or other in seen | found or not _is_installed(other):
            continue
        found |= {other} | _needed(other, seen | found | {other})
    return found


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


@contextmanager
def _tcp() -> Iterator[int]:
    """One port on which 127.0.0.1, 127.0.0.2 and ::1 all answer."""
    with ExitStack() as stack:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        for family, address in (
            (socket.AF_INET, "127.0.0.1"),
            (socket.AF_INET, "127.0.0.2"),
            (socket.AF_INET6, "::1"),
        ):
            stack.enter_context(_serving(family, socket.SOCK_STREAM, (address, port)))
        yield port


@contextmanager
def _serving(family: int, kind: int, address: object) -> Iterator[None]:
    """A server that greets whoever reaches it."""
    with socket.socket(family, kind) as sock:
        if family != socket.AF_UNIX:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)  # type: ignore[arg-type] # an address of whatever family
        if isinstance(address, str) and not address.startswith("\0"):
            Path(address).chmod(0o666)
        if kind == socket.SOCK_STREAM:
            sock.listen()
        thread = threading.Thread(target=_greet, args=(sock,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            sock.shutdown(socket.SHUT_RDWR) if kind == socket.SOCK_STREAM else None
            if kind == socket.SOCK_DGRAM:
                with socket.socket(family, kind) as last:
                    last.connect(address)  # type: ignore[arg-type] # an address of whatever family
                    last.send(b"")
            thread.join(5)


def _greet(sock: socket.socket) -> None:
    while True:
        try:
            if sock.type == socket.SOCK_DGRAM:
                asked, whom = sock.recvfrom(REQUEST_BYTES)
                if not asked:
                    return
                sock.sendto(GREETING, whom)
            else:
                connection, _ = sock.accept()
                with connection:
                    connection.recv(REQUEST_BYTES)
                    connection.sendall(GREETING)
        except OSError:
            return
