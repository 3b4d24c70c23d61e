"""Settings of a project, and the origin of each value.

Rules:
1. A flag beats an `INTERLOCK_*` variable, which beats `interlock.toml`, which beats `[tool.interlock]` in
   pyproject.toml, which beats the user's own file, which beats the default here.
2. An unknown key is an error that names the file, the line and the nearest known key.
3. Files hold times as people write them (`5m`, `1h30m`); the value here is always in seconds.
4. What starts programs on the user's machine is taken from the user's own file only. What widens the sandbox
   counts from a repository's file once the user has agreed to it, and is passed over until then: see `trust`.
"""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import msgspec

from interlock.engine.landing_settings import LandingSettings
from interlock.engine.reserved import PROJECT_FILE, own_table
from interlock.engine.setting_values import LEAST, TABLES, table_problem
from interlock.engine.trust import OWN, Trust, Untrusted, Widening, of_setting, refuse_misplaced, trust_of
from interlock.git.files import read_regular
from interlock.model.durations import seconds_of
from interlock.model.errors import UsageError
from interlock.model.nearest import nearest, suggest
from interlock.model.unwanted import MAX_FILE_BYTES

FILE = "interlock.toml"
LOG_FILE = "log.db"
LOG_KEYS = ("store", "project_name")
PREFIX = "INTERLOCK_"
GIVEN = frozenset(
    PREFIX + name
    for name in (
        *("ATTEMPT", "MCP_TOKEN", "MCP_URL", "MODEL", "MODEL_TOKEN", "PROCESS", "PROMPT_FILE", "SESSION"),
        *("TASK_ID", "DEBUG", "UNSAFE_NO_SANDBOX"),
    )
)
"""Variables of ours that are no settings: most are what the programs of an attempt get."""
LISTING = "`interlock config show` lists every setting"
FORMER = frozenset({"clutch_per", "color", "share_experience", "strict_scope"})
"""Settings of earlier versions. They may stay in a file and change nothing."""
TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Settings(LandingSettings):
    """Everything that can be set for a project."""

    branch: str = ""
    """The branch that work lands on. Empty: `main` or `master`, else the one that is checked out."""
    graph: str = "task-graph.yaml"
    """The task graph, relative to the root of the repository."""
    max_parallel: int | Literal["auto"] = 3
    """The most agents that work at once. With 1, tasks run one after the other. `auto`: the clutch chooses
    the number for each kind of work. If it is not set: 3, and `auto` once a run has landed a change."""
    host_brake: bool = True
    """Let no more agents work at once while memory is short; with `auto`, also while processors are."""
    slots: dict[str, int] = field(default_factory=dict)
    """The most agents of each role at once, within `max_parallel`: a table with `worker`, `critic`,
    `orchestrator`. A role that is not named has no limit of its own."""
    lane_depth: int = 2
    """The most changes that are tested at once, on main or early in builds; never more than there are
    processors. With 1, one after the other: for checks that cannot run twice at the same time."""
    hang_factor: int = 10
    """A check hangs when it takes this many times as long as it usually does here; it is then ended, and
    counts as timed out. 0: only the limits of the task graph end a check."""
    hang_after_seconds: float = 120.0
    """The least time beyond its usual one before a check counts as hanging."""
    radar: Literal["off", "warn", "tell", "ask", "order"] = "warn"
    """The answer when changes that agents are making now conflict with each other or main: `warn` shows
    it, `tell` also sends their agents a message, `ask` also asks you in `interlock inbox`, `order` also lets
    the change that cost more go first in the merge train."""
    metrics_port: int = 0
    """The port of this machine, reachable from it alone, where Prometheus finds a run's figures. 0: none."""
    store: str = ""
    """Place of the log: empty for SQLite in the state folder, the path of an SQLite file, or the address of a
    Postgres database. Relative paths start at the root of the repository."""
    project_name: str = ""
    """The project's name in a database that several share. Empty: one that no other repository has."""
    stale_after_seconds: float = 300.0
    """A phase that runs this long beyond its own limits is given up, archived and tried again. A claim of a
    task that is not renewed for this long is free."""
    controller_lease_seconds: float = 30.0
    """The time for which a run that no longer answers keeps others from taking over."""
    keep_trash_days: int = 7
    """Days for which files that git ignores are kept after their workspace is gone."""
    workspace_folder: str = ""
    """The folder in which `interlock workspace new` makes workspaces. Empty: NAME-workspaces beside the
    repository NAME. Relative names start at the root of the repository. In your own file only."""
    land_files: tuple[str, ...] = ()
    """Globs of new files that land although Interlock would leave them out (`.env` files, keys, dependencies,
    caches, build output, large files), and that are not searched for secrets."""
    max_file_bytes: int = MAX_FILE_BYTES
    """A new file that is larger does not land. 0: no limit."""
    pass_env: tuple[str, ...] = ()
    """Variables of your environment that agents and checks get, besides the few they always get."""
    prompt_template: str = ""
    """Template of the prompts, a file of the repository. Empty: the template that comes with Interlock."""
    lessons_held_out_percent: int = 20
    """Percentage of attempts that do not get a lesson that fits, to measure if it helps; more while that is
    unknown. 0: every attempt gets it. 100: no attempt gets a learned lesson."""
    hooks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Your commands that run at moments of an agent's session: a table, in your own file only."""
    hook_timeout_seconds: float = 10.0
    """Time limit of each of these commands."""
    sandbox: Literal["auto", "bubblewrap", "landlock", "container"] = "auto"
    """The sandbox of agents and checks. `auto`: bubblewrap, else Landlock; if neither works, no program is
    started."""
    toolchains: tuple[str, ...] = ("auto",)
    """Folders outside the system's own that agents and checks may read: where tools are installed, caches.
    `auto`: the installations that are on your PATH. Relative names start at the root of the repository."""
    container_image: str = ""
    """The image that agents and checks run in, with `sandbox = "container"`."""
    memory_limit_bytes: int = 8 << 30
    """The most memory of an agent or a check, with all processes that it starts. 0: no limit."""
    process_limit: int = 4096
    """The most processes and threads of an agent or a check at once. 0: no limit."""
    disk_limit_bytes: int = 20 << 30
    """The size of its folders at which an agent or a check is stopped. 0: no limit."""
    allow_hosts: tuple[str, ...] = ()
    """Hosts besides the model that agents may reach, like `docs.example.org` or `*.example.org:8443`."""
    server_fetches: Literal["refuse", "allow"] = "refuse"
    """Permission for agents to make the model's provider contact others: web searches, remote MCP servers,
    images and files by address. `refuse` removes such tools, and refuses requests that need them."""
    setup_hosts: tuple[str, ...] = ()
    """Hosts that the graph's `setup` and `regenerate` may reach, like a package index. Not in a file of the
    repository: in your own file, or as a variable."""
    trust_folders: tuple[str, ...] = ()
    """Folders whose repositories may widen the sandbox without a question, like `~/work`. Not in a file of
    the repository: in your own file, or as a variable."""
    key_hosts: tuple[str, ...] = ()
    """Keys of yours and the hosts that may get them besides the providers' own, like
    `MY_KEY@models.example.org`. Not in a file of the repository: in your own file, or as a variable."""
    model_silence_seconds: float = 300.0
    """The longest silence of a model, before its answer and in the middle of it. After it the call fails."""
    model_brake: bool = True
    """Limit the calls of models at once to the number that their provider accepts, which is measured."""
    model_hold_seconds: float = 60.0
    """The longest wait of a call for its turn. After it the agent program is told to try again later."""
    log_limit_bytes: int = 1 << 30
    """An agent that writes more output than this is stopped."""

    @property
    def lesson_hold_out(self) -> float:
        """The share of attempts that a lesson is kept from."""
        return min(1.0, self.lessons_held_out_percent / 100)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and the place that decided each of them."""

    settings: Settings
    origins: dict[str, str]
    files: tuple[Path, ...]
    """The files that were looked for, strongest first."""
    trust: Trust
    asked: tuple[Widening, ...] = ()
    """Values of the repository's files that widen the sandbox. Without the user's agreement none counts."""

    def refuse_log(self) -> None:
        """Refuse to open a log where the repository wants it: it would be another one than before."""
        if missing := self.trust.missing(value for value in self.asked if value.key in LOG_KEYS):
            raise Untrusted(missing)


@dataclass(frozen=True, slots=True)
class _Layer:
    """Values of one origin."""

    origin: str
    values: Mapping[str, Any]  # Any: any value of TOML or a flag, until it is checked
    text: str = ""
    """The file, to find a key's line in."""


def load(root: Path, flags: Mapping[str, object], environ: Mapping[str, str] | None = None) -> Loaded:
    """The settings for the repository at `root`."""
    environ = os.environ if environ is None else environ
    paths = setting_files(root, environ)
    layers = [
        _Layer("flag", {key: value for key, value in flags.items() if value is not None}),
        _environment(environ),
        *(_file(path) for path in paths),
    ]
    known = {key_of(field): field for field in fields(Settings)}
    trust = trust_of(root, environ, _trusted_folders(layers))
    values: dict[str, object] = {}
    origins = dict.fromkeys(known, "default")
    asked: dict[str, Widening] = {}
    for layer in reversed(layers):
        for key, value in layer.values.items():
            place = _place(layer, key)
            if key in FORMER:
                continue
            if key not in known:
                raise UsageError(f"{place}: unknown setting `{key}`", suggest(key, known, LISTING))
            refuse_misplaced(key, place, layer.origin, paths)
            converted = _value(known[key], value, place)
            asked.pop(key, None)
            if layer.origin in map(str, paths[:-1]) and (widening := of_setting(key, converted, place, root)):
                asked[key] = widening
                if not trust.allows(widening):
                    continue
            values[known[key].name] = converted
            origins[key] = place
    settings = Settings(**values)  # type: ignore[arg-type] # each value was checked just above
    return Loaded(settings, origins, paths, trust, tuple(asked.values()))


def _trusted_folders(layers: Sequence[_Layer]) -> tuple[str, ...]:
    """Return the folders that the environment names, else the user's own file."""
    said = (layer.values.get("trust_folders") for layer in (layers[1], layers[-1]))
    found = next((value for value in said if value is not None), ())
    return tuple(map(str, found)) if isinstance(found, list) else ()


def store_address(settings: Settings, state_dir: Path) -> str:
    """Return the address of the log, as `open_store` takes it."""
    if "://" in settings.store:
        return settings.store
    if not settings.store:
        return str(state_dir / LOG_FILE)
    git_dir = state_dir.parent
    return str((git_dir.parent if git_dir.name == ".git" else git_dir) / settings.store)


def project_name(settings: Settings, lineage: str) -> str:
    """The project's name in a shared database: the same from every worktree, and no other repository's."""
    return settings.project_name or lineage


def setting_files(root: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """List the files that may hold settings, strongest first."""
    config = Path(environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME") or "~").expanduser() / ".config")
    return (root / FILE, root / PROJECT_FILE, config / "interlock" / "config.toml")


def key_of(field: Field[Any]) -> str:  # Any: a field of any type
    """The name of a setting as people write it: without the unit of times, which they write themselves."""
    return field.name.removesuffix("_seconds")


def default_of(field: Field[Any]) -> object:  # Any: a field of any type
    """Return the value of a setting that is not set."""
    if field.default_factory is not MISSING:
        return field.default_factory()
    assert field.default is not MISSING, field.name  # noqa: S101 - a setting without a default cannot exist
    return field.default


def check(key: str, text: str, place: str) -> object:
    """The value that `text` means for `key`, or an error that begins with `place`."""
    known = {key_of(field): field for field in fields(Settings)}
    if key not in known:
        raise UsageError(f"{place}: unknown setting `{key}`", suggest(key, known, LISTING))
    if key in OWN:
        raise UsageError(
            f"{place}: `{key}` {OWN[key]}, which a repository may not set",
            "`interlock config path` names your own file, last",
        )
    return _value(known[key], _from_text(known[key], text), place)


def _environment(environ: Mapping[str, str]) -> _Layer:
    """The variables that name a setting. Others may share the prefix; a near miss is taken for a mistake."""
    known = {PREFIX + key_of(field).upper(): field for field in fields(Settings)}
    values: dict[str, object] = {}
    for name, text in environ.items():
        if name in known and known[name].name in TABLES:
            key = key_of(known[name])
            raise UsageError(f"{name}: `{key}` is a table, which no variable can hold", _example(known[name]))
        if name in known:
            values[key_of(known[name])] = _from_text(known[name], text)
        elif name in GIVEN:
            continue
        elif name.startswith(PREFIX) and (near := nearest(name, known, 0.88)):
            raise UsageError(f"unknown variable {name}", f"did you mean {near}?")
    return _Layer("environment", values)


def _file(path: Path) -> _Layer:
    if path.name == PROJECT_FILE:
        return _project_file(path)
    try:
        text = read_regular(path).decode()
        values = tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{path}: brackets are nested too deeply", "correct the file") from None
    except (FileNotFoundError, NotADirectoryError):
        return _Layer(str(path), {})
    except ValueError as error:  # no TOML, no text, or a number that is too long
        line = re.search(r"line (\d+), column (\d+)", str(error))
        place = f"{path}:{line[1]}:{line[2]}" if line else str(path)
        raise UsageError(f"{place}: {error}", "correct the file") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", "make the file readable, or move it away") from None
    return _Layer(str(path), values, text)


def _project_file(path: Path) -> _Layer:
    """Read the settings in a pyproject.toml. An invalid file is left to the project's own tools."""
    try:
        text = read_regular(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return _Layer(str(path), {})
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", "make the file readable, or move it away") from None
    return _Layer(str(path), own_table(text) or {}, text.decode(errors="replace"))


def _place(layer: _Layer, key: str) -> str:
    if layer.origin == "flag":
        return f"--{key.replace('_', '-')}"
    if layer.origin == "environment":
        return PREFIX + key.upper()
    lines = layer.text.splitlines()
    start = next((n for n, line in enumerate(lines) if line.strip() == "[tool.interlock]"), -1)
    wanted = re.compile(rf"""^\s*["']?{re.escape(key)}["']?\s*[=.]|^\s*\[+\s*{re.escape(key)}\b""")
    number = next((n for n, line in enumerate(lines[start + 1 :], start + 2) if wanted.match(line)), 0)
    return f"{layer.origin}:{number}" if number else layer.origin


def _from_text(field: Field[Any], text: str) -> object:  # Any: a field of any type
    """A variable's text as TOML would have given it."""
    default = default_of(field)
    if isinstance(default, bool):
        word = text.strip().lower()
        return word in TRUE if word in TRUE + FALSE else text
    if isinstance(default, int):
        return int(text) if re.fullmatch(r"[+-]?\d{1,18}", text.strip()) else text
    if isinstance(default, tuple):
        return [part for part in re.split(r"[,\s]+", text) if part]
    return text


def _value(field: Field[Any], value: object, place: str) -> object:  # Any: a field of any type
    """The value in the field's own type, within sense."""
    key = key_of(field)
    if field.name.endswith("_seconds"):
        try:
            value = seconds_of(str(value))
        except ValueError:
            raise UsageError(
                f"{place}: `{key}` is not a duration: {value!r}", "write it like 90s, 5m or 1h30m"
            ) from None
    try:
        converted: object = msgspec.convert(value, type=field.type, strict=True)
    except msgspec.ValidationError as error:
        raise UsageError(f"{place}: `{key}` cannot be {value!r}: {error}", _example(field)) from None
    if isinstance(converted, dict) and (found := table_problem(field.name, key, converted)):
        raise UsageError(f"{place}: {found[0]}", found[1] or _example(field))
    least = LEAST.get(field.name, 0)
    if isinstance(converted, int | float) and converted < least:
        raise UsageError(
            f"{place}: `{key}` cannot be {value!r}: at least {least:g} is needed", _example(field)
        )
    return converted


def _example(field: Field[Any]) -> str:  # Any: a field of any type
    default = default_of(field)
    if field.name in TABLES:
        return f"write it into the file by hand, for example: {TABLES[field.name][2]}"
    shown = list(default) if isinstance(default, tuple) else default
    return f"for example: {key_of(field)} = {msgspec.json.encode(shown).decode()}"
