"""Values of a repository that widen the sandbox, and the agreement of the user to each of them.

Rules:
1. A repository was perhaps cloned a minute ago. A value in it that widens the sandbox counts only after the
   user has agreed to that very value. The same value in the user's own settings needs no agreement.
2. Agreements are kept in the user's own state folder, one file for each repository, as digests of the key and
   the value. A changed value has another digest, so it needs a new agreement.
3. A value that only narrows the sandbox needs no agreement.
4. A file of agreements that cannot be read holds none.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from interlock.engine.reserved import PROJECT_FILE
from interlock.git.include import FILE as INCLUDE_FILE
from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.model.kinds import KINDS, Wire
from interlock.model.provider import HOMES
from interlock.model.task import Agent
from interlock.plan import Graph

OUTSIDE = "a file outside the repository is used"
_PASSWORD = re.compile(r"(?<=://)([^/@:]+):[^@/]+@")


@dataclass(frozen=True, slots=True)
class Widening:
    """One value of a repository that widens the sandbox."""

    key: str
    value: str
    does: str
    """The effect on agents or the host."""
    place: str
    """The file and key that ask for it."""

    @property
    def digest(self) -> str:
        """The name of the agreement to this value."""
        return hashlib.sha256(json.dumps([self.key, self.value]).encode()).hexdigest()

    @property
    def shown(self) -> str:
        """The value on one line, without the password that an address may hold."""
        plain = "".join(sign if sign.isprintable() else "\ufffd" for sign in " ".join(self.value.split()))
        return _PASSWORD.sub(r"\1:***@", plain)

    @property
    def text(self) -> str:
        """The value, its place and its effect, as one line."""
        return f"{self.place}: {self.key} = {self.shown}: {self.does}"


class Untrusted(EnvironmentProblem):
    """The repository widens the sandbox, and the user has not agreed."""

    code = "untrusted"
    hint = "`interlock trust` shows what it is and asks you"
    retryable = False

    def __init__(self, values: Sequence[Widening]) -> None:
        lines = "".join(f"\n  {value.text}" for value in values)
        super().__init__(f"this repository widens the sandbox, and you have not agreed to that:{lines}")


_SENDS = "sends what agents say to others"
OWN = {
    "hooks": "starts programs on your machine",
    "key_hosts": "sends keys of yours to others",
    "workspace_folder": "says where on your machine files are written",
    "statements": "signs with your key",
    "trust_folders": "says which repositories you trust",
    "notify_webhook": _SENDS,
    "notify_webhook_key": _SENDS,
    "notify_urls": _SENDS,
    "database_server": "connects to a server with a password of yours",
    "setup_hosts": "opens the network to the commands of a repository",
}
"""Settings that no file of a repository may have, and why."""
GUARDED = (
    *("pass_env", "sandbox", "toolchains", "container_image", "allow_hosts", "store"),
    "server_fetches",
    *("graph", "prompt_template", "memory_limit_bytes", "process_limit", "disk_limit_bytes"),
    *("land_files", "max_file_bytes", "land", "auto_merge"),
)
"""Settings that widen what agents may reach: a graph names keys, and servers to send them to. Not in a file
that they may change: the change would count at the next run."""


def refuse_misplaced(key: str, place: str, origin: str, paths: Sequence[Path]) -> None:
    """Refuse a setting in a file that may not hold it. `paths`: the files of settings, strongest first."""
    if key in OWN and origin in map(str, paths[:-1]):
        raise UsageError(
            f"{place}: `{key}` {OWN[key]}, which a repository may not set", f"write it into {paths[-1]}"
        )
    if key in GUARDED and Path(origin).name == PROJECT_FILE:
        raise UsageError(
            f"{place}: `{key}` says what agents may reach, and agents may change pyproject.toml",
            f"write it into {paths[0].name}, where no change of an agent lands",
        )


def state_home(environ: Mapping[str, str]) -> Path:
    """The folder in which programs of this user keep their state."""
    home = Path(environ.get("HOME") or "~").expanduser()
    return Path(environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "interlock"


@dataclass(frozen=True, slots=True)
class Trust:
    """The agreements of a user for one repository."""

    folder: Path | None = None
    """The file of agreements; None: there are none."""
    repository: str = ""
    everything: bool = False
    """The user's own settings name a folder around the repository."""

    @property
    def file(self) -> Path | None:
        """File of the agreements for this repository."""
        name = hashlib.sha256(os.fsencode(self.repository)).hexdigest()[:24]
        return self.folder / f"{name}.json" if self.folder else None

    def allows(self, value: Widening) -> bool:
        """Return True if the user has agreed to this value."""
        return self.everything or value.digest in {agreed.get("digest") for agreed in self._agreed()}

    def missing(self, values: Iterable[Widening]) -> tuple[Widening, ...]:
        """The values that the user has not agreed to."""
        return tuple(value for value in values if not self.allows(value))

    def agree(self, values: Iterable[Widening]) -> None:
        """Remember that the user has agreed to these values, besides earlier ones."""
        file = self.file
        new = {
            value.digest: {"key": value.key, "value": value.shown, "digest": value.digest} for value in values
        }
        if file is None or not new:
            return
        kept = {agreed["digest"]: agreed for agreed in self._agreed()} | new
        record = {"repository": self.repository, "agreed": list(kept.values())}
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = file.with_suffix(f".{os.getpid()}")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(record, indent=1), encoding="utf-8")
        fresh.replace(file)
        self._forget_gone()

    def revoke(self) -> bool:
        """Forget all agreements for this repository; False if there were none."""
        if self.file is None or not self.file.exists():
            return False
        self.file.unlink()
        return True

    def _agreed(self) -> list[dict[str, str]]:
        where, agreed = _read(self.file) if self.file else ("", [])
        return agreed if where == self.repository else []

    def _forget_gone(self) -> None:
        """Agreements for repositories that are no longer there: another one may be put in their place."""
        for file in self.folder.glob("*.json") if self.folder else ():
            where, _ = _read(file)
            if not os.path.lexists(where):
                with contextlib.suppress(OSError):
                    file.unlink()


def _read(file: Path) -> tuple[str, list[dict[str, str]]]:
    """Rule 4."""
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        agreed = [{key: str(one[key]) for key in ("key", "value", "digest")} for one in record["agreed"]]
        return str(record["repository"]), agreed
    except (OSError, ValueError, LookupError, TypeError):
        return "", []


def trust_of(root: Path, environ: Mapping[str, str], folders: Sequence[str]) -> Trust:
    """The agreements for the repository with a checkout at `root`: all its checkouts share them."""
    here = root.resolve()
    around = (Path(folder).expanduser().resolve() for folder in folders)
    everything = any(here.is_relative_to(folder) for folder in around)
    return Trust(state_home(environ) / "trust", str(_git_folder(here)), everything)


def _git_folder(root: Path) -> Path:
    """The folder that the repository is kept in. No file of a repository can be named `.git`."""
    link = root / ".git"
    if not link.is_file():
        return link if link.is_dir() else root
    with contextlib.suppress(OSError, ValueError):
        own = root / link.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        common = own / "commondir"
        shared = own / common.read_text(encoding="utf-8").strip() if common.is_file() else own
        return shared.resolve()
    return root


def _is_wider(default: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and (value == 0 or value > default)


WIDENS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "pass_env": ("agents and checks get these variables of your environment", bool),
    "allow_hosts": ("agents can reach these hosts", bool),
    "server_fetches": (
        "agents can make the model's provider contact any address",
        lambda value: value == "allow",
    ),
    "land": (
        "what agents make is pushed to your remote, with your credentials",
        lambda value: value != "branch",
    ),
    "auto_merge": ("the forge merges what agents make when its own rules allow that", bool),
    "toolchains": (
        "agents and checks can read these folders",
        lambda value: isinstance(value, tuple) and bool({*value} - {"auto"}),
    ),
    "sandbox": (
        "another sandbox than the strongest is used",
        lambda value: value in ("landlock", "container"),
    ),
    "container_image": ("agents and checks run in this image", bool),
    "store": ("the log is kept there, and you log in to that database", bool),
    "project_name": ("the log of this name is used in a database that you share with others", bool),
    "memory_limit_bytes": ("agents and checks can take this much memory", _is_wider(8 << 30)),
    "process_limit": ("agents and checks can have this many processes", _is_wider(4096)),
    "disk_limit_bytes": ("agents and checks can fill this much of the disk", _is_wider(20 << 30)),
    "log_limit_bytes": ("agents and checks can write this much output", _is_wider(1 << 30)),
}
"""Effect of each setting, and a test for values that widen. `graph` is judged apart."""


def of_setting(key: str, value: object, place: str, root: Path) -> Widening | None:
    """The widening that a repository's value for a setting is, if it is one."""
    if key == "graph":
        inside = (root / str(value)).resolve().is_relative_to(root.resolve())
        return None if inside else Widening(key, str(value), OUTSIDE, place)
    does, widens = WIDENS.get(key, ("", lambda _value: False))
    if not widens(value):
        return None
    text = json.dumps(value) if isinstance(value, tuple | list) else str(value)
    return Widening(key, text, does, place)


def of_agents(agents: Iterable[Agent], source: str, key_hosts: Sequence[str]) -> Iterator[Widening]:
    """Wishes of a task graph: servers to send to, keys of yours, your accounts."""
    for agent in agents:
        place = f"{source} agents.{agent.name}"
        if agent.login:
            yield Widening(
                "login", agent.use, f"your account of {agent.use} is readable in the sandbox", place
            )
        wire = agent.wire or KINDS[agent.use].wire
        if not wire or agent.login:
            continue
        host = urlsplit(agent.url or HOMES[Wire(wire)].upstream).netloc.lower()
        if f"{agent.key_env}@{urlsplit(agent.url).hostname}" in key_hosts:
            continue
        if agent.url and _origin(agent.url) not in _HOMES:
            yield Widening("url", agent.url, f"the agent can send to {host}", place)
        if agent.key_env and agent.key_env != HOMES[Wire(wire)].key_env:
            pair = f"{agent.key_env} for {host}"
            yield Widening("key_env", pair, f"{host} gets the value of your variable {agent.key_env}", place)


def of_graph(graph: Graph | None, source: str, key_hosts: Sequence[str]) -> Iterator[Widening]:
    """Wishes of a task graph: those of its agents, and the databases of the user's server that it names."""
    yield from of_agents(graph.agents if graph else (), source, key_hosts)
    for lease in graph.leases if graph else ():
        if lease.template:
            does = "agents and checks get copies of this database of your server"
            yield Widening("template", lease.template, does, f"{source} leases.{lease.name}")


def of_links(files: Mapping[str, str], root: Path) -> Iterator[Widening]:
    """Files of the repository, by key, that are links out of it: what they hold is not the repository's."""
    for key, name in files.items():
        path = Path(os.path.normpath(root / name))
        real = path.resolve()
        if path.is_relative_to(root) and not real.is_relative_to(root.resolve()):
            yield Widening(key, str(real), OUTSIDE, str(path.relative_to(root)))


def of_include(patterns: str) -> Widening | None:
    """The files of the checkout that the repository wants to be copied for agents."""
    lines = [line for line in map(str.rstrip, patterns.splitlines()) if line and not line.startswith("#")]
    does = "agents get copies of these files of your checkout, secret ones too"
    return Widening(INCLUDE_FILE, "\n".join(lines), does, INCLUDE_FILE) if lines else None


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url.lower())
    host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname
    try:
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        port = None
    return parts.scheme, host or "", port


_HOMES = frozenset(_origin(home.upstream) for home in HOMES.values())
