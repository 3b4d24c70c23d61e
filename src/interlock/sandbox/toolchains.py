"""Programs that a person installed outside the system's folders: which of them agents and checks may read.

With `toolchains = ["auto"]` these are the ones on the PATH: what works in the person's own shell works in the
sandbox. They are read-only there, and the files in them that hold credentials are blank.

1. Found by where they are, never by looking through a home folder.
2. A folder on the PATH lets in itself. The folder around it comes along only if it is an installation: known
   by its name, or with libraries beside its programs and no repository in it.
3. A link in such a folder lets in the installation that it leads to.
4. A virtual environment in the checkout, or in a cache of its tools, lets in the Python it was made with.
5. A file or link that git tracks lets in nothing: its author, or an agent, could name any folder of the host.
6. Nothing on the list of private folders is let in, and no folder around one: a repository's own settings
   must not be able to show an agent the person's keys.
"""

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from interlock.model.errors import UsageError
from interlock.sandbox.checkout import CONFIG, Checkout, Tracked, read_small
from interlock.sandbox.home_caches import find_caches

AUTO = "auto"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
"""Always there."""
SHARED = (
    *("/boot", "/dev", "/etc", "/home", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/srv", "/sys"),
    *("/tmp", "/usr", "/usr/local", "/var", "/var/lib", "/var/tmp"),  # noqa: S108 - named to be kept out
)
"""Folders that hold more than one installation: none is let in whole unless it is named."""
NO_PYTHON_BELOW = ("/boot", "/dev", "/etc", "/proc", "/run", "/sys")
MOST_LINKS = 2000
"""The most links of one folder that are followed."""
PYTHONS = ("python", "python3")
MOST_ENVIRONMENTS = 200

KNOWN = (
    # path below HOME, the variable by which its programs find it when HOME is another one
    (".pyenv", "PYENV_ROOT"),
    (".nvm", "NVM_DIR"),
    (".rustup", "RUSTUP_HOME"),
    (".cargo/bin", ""),
    (".local/bin", ""),
    (".local/share/uv/python", ""),
    (".local/share/uv/tools", ""),
    (".local/share/pipx", ""),
    (".local/pipx", ""),
    (".local/share/mise", "MISE_DATA_DIR"),
    (".local/share/fnm", "FNM_DIR"),
    (".local/share/pnpm", "PNPM_HOME"),
    (".asdf", "ASDF_DATA_DIR"),
    (".volta", "VOLTA_HOME"),
    (".nodenv", "NODENV_ROOT"),
    (".npm-global", ""),
    (".bun", "BUN_INSTALL"),
    (".deno", ""),
    (".rbenv", "RBENV_ROOT"),
    (".rvm", "rvm_path"),
    (".sdkman", "SDKMAN_DIR"),
    (".jenv", "JENV_ROOT"),
    (".ghcup", "GHCUP_INSTALL_BASE_PREFIX"),
    (".juliaup", "JULIAUP_DEPOT_PATH"),
    (".opam", "OPAMROOT"),
    (".dotnet", "DOTNET_ROOT"),
    (".nix-profile", ""),
    (".poetry", ""),
    ("go/bin", ""),
    ("miniconda3", ""),
    ("anaconda3", ""),
    ("miniforge3", ""),
    ("mambaforge", ""),
)
COMPANIONS = {".cargo/bin": (".rustup",)}
"""Programs in the first are nothing without the second."""
NAMED_BY = ("VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "GOROOT", "NVM_BIN", "UV_PYTHON_INSTALL_DIR")
"""Variables that name an installation, and that its programs still need inside."""

PRIVATE = (
    ".ssh",
    ".aws",
    ".gnupg",
    ".config",
    ".kube",
    ".docker",
    ".azure",
    ".netrc",
    ".git-credentials",
    ".gitconfig",
    ".npmrc",
    ".pypirc",
    ".claude",
    ".codex",
    ".gemini",
    ".qwen",
    ".copilot",
    ".mozilla",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/opencode",
)
"""Below HOME: what gives access to something."""
CREDENTIALS = (
    "credentials",
    "credentials.toml",
    ".npmrc",
    ".netrc",
    ".pypirc",
    "pip.conf",
    "etc/npmrc",
    "etc/pip.conf",
    "etc/gitconfig",
    ".condarc",
    "auth.json",
    ".env",
)
"""Files right in an installation that may hold a token."""


@dataclass(frozen=True, slots=True)
class Toolchains:
    """The toolchains that were found."""

    folders: tuple[str, ...] = ()
    """Folders to be read; they keep their path."""
    masked: tuple[str, ...] = ()
    """Files in them that are blank."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that their programs need when HOME is another one."""
    left_out: tuple[str, ...] = ()
    """Virtual environments of the project whose Python is not let in, as git tracks files of them."""


NO_TOOLCHAINS = Toolchains()


def find_toolchains(
    wanted: Iterable[str],
    environ: Mapping[str, str],
    root: str = "",
    hidden: Iterable[str] = (),
    tracked: Tracked = lambda _: (),
) -> Toolchains:
    """The folders that are `wanted`: `auto`, or by name, which may be relative to the project's `root`.

    Never one around the project, and none that is, is in or is around a `hidden` folder.
    """
    home = os.path.realpath(environ.get("HOME") or "/nonexistent")
    search = _Search(home, Checkout(root, tracked), tuple(os.path.realpath(path) for path in hidden))
    for word in wanted:
        if word == AUTO:
            search.automatic(environ)
            if root:
                search.project(root, environ)
        else:
            search.named(os.path.normpath(Path(root or "/", _expanded(word, environ))))
    folders = tuple(_outermost(search.found))
    masked = tuple(
        path for folder in folders for name in CREDENTIALS if os.path.lexists(path := f"{folder}/{name}")
    )
    env = {**_variables(folders, environ), **search.env}
    return Toolchains(folders, masked, env, tuple(search.left_out))


class _Search:
    def __init__(self, home: str, checkout: Checkout, hidden: tuple[str, ...]) -> None:
        self._home = home
        self._checkout = checkout
        self._around = tuple(filter(None, (home, checkout.root)))
        self._kept_out = (*(f"{home}/{name}" for name in PRIVATE), *hidden)
        self.found: dict[str, None] = {}
        """Folders in the order of finding."""
        self.left_out: list[str] = []
        self._seen: set[Path] = set()
        self.env: dict[str, str] = {}
        """Variables that tell tools where their caches are."""

    def automatic(self, environ: Mapping[str, str]) -> None:
        for entry in environ.get("PATH", "").split(":"):
            if entry.startswith("/"):
                self._programs(Path(entry))
        for name in NAMED_BY:
            if environ.get(name, "").startswith("/"):
                self._installation(Path(environ[name]))

    def project(self, root: str, environ: Mapping[str, str]) -> None:
        """Add what the project's own files point to: the Python of its environments, caches of its tools."""
        environments = list(itertools.islice(_environments(Path(root)), MOST_ENVIRONMENTS))
        ways = {each: [each / CONFIG, *(each / "bin" / name for name in PYTHONS)] for each in environments}
        vouched = set(self._checkout.vouched(path for way in ways.values() for path in way))
        for environment, way in ways.items():
            if vouched.issuperset(way):
                self._pythons(environment)
            else:
                self.left_out.append(str(environment))
        for cache in find_caches(root, self._home, environ):
            self.env |= cache.env
            for folder in cache.folders:
                self._add(folder)
            for environment in cache.environments:
                self._pythons(environment)

    def _pythons(self, environment: Path) -> None:
        """Add the Python that an environment was made with, if it is one."""
        links = [link for name in PYTHONS if (link := environment / "bin" / name).is_symlink()]
        for home in (*_homes(environment), *(Path(os.path.realpath(link)).parent for link in links)):
            if _has_python(home) and not is_below(os.path.realpath(home), NO_PYTHON_BELOW):
                self._installation(home)

    def named(self, path: str) -> None:
        """A person's, or a repository's, own choice: no private folder, and none around one."""
        real = os.path.realpath(path)
        if not self._may(real):
            raise UsageError(
                f"toolchains: {path} is, or holds, a private folder that agents must not read",
                "name the folder of the tool itself",
            )
        if not self._checkout.has(real) and not self._checkout.vouched([Path(path)]):
            raise UsageError(
                f"toolchains: {path} is reached through a link that git tracks, and a change may redirect it",
                "name the folder that it leads to",
            )
        if _is_open(Path(path)):
            self.found[path] = None
        self._behind(Path(path))

    def _behind(self, environment: Path) -> None:
        """Add the Python of an environment that is on the PATH or named: rule 5."""
        if self._checkout.vouched([environment / CONFIG]):
            for home in _homes(environment):
                self._installation(home)

    def _programs(self, entry: Path) -> None:
        if not _is_open(entry) or _is_system(entry):
            return
        self._installation(entry)
        for link in self._checkout.vouched(_links(entry)):
            if not _is_system(target := Path(os.path.realpath(link))):
                self._installation(target.parent)

    def _installation(self, folder: Path) -> None:
        """The folder that has to be there for the programs in `folder` to work."""
        if not _is_open(folder) or _is_system(folder) or folder in self._seen:
            return
        self._seen.add(folder)
        if known := self._known(folder):
            for name in (known, *COMPANIONS.get(known, ())):
                self._add(Path(self._home, name))
            around = folder.parent
        else:
            around = _around(folder)
            if os.path.realpath(around) in SHARED:
                around = folder
            self._add(around)
        self._behind(around)

    def _known(self, folder: Path) -> str:
        real = os.path.realpath(folder)
        names = (name for name, _ in KNOWN if is_below(real, [os.path.realpath(f"{self._home}/{name}")]))
        return next(names, "")

    def _add(self, path: Path) -> None:
        path = Path(os.path.normpath(path))
        real = os.path.realpath(path)
        if _is_open(path) and real not in SHARED and self._may(real):
            self.found[str(path)] = None

    def _may(self, real: str) -> bool:
        if real == "/" or any(is_below(inner, [real]) for inner in self._around):
            return False
        return not any(is_below(private, [real]) or is_below(real, [private]) for private in self._kept_out)


def _is_open(folder: Path) -> bool:
    """Tell if it is a folder that this user can read. A PATH may well name some of another user."""
    try:
        return folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)
    except PermissionError:
        return False


def _is_system(path: Path) -> bool:
    return is_below(os.path.realpath(path), SYSTEM)


def _homes(environment: Path) -> Iterator[Path]:
    """A virtual environment is nothing without the Python that it was made with."""
    for line in os.fsdecode(read_small(environment / CONFIG)).splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home" and value.strip().startswith("/"):
            yield Path(os.path.normpath("/" + value.strip().lstrip("/")))


def _has_python(programs: Path) -> bool:
    """Tell if a folder is the `bin` of a Python: its interpreter is a file, and its modules are beside it."""
    files = [str(programs / name) for name in PYTHONS]
    # `Path.is_file` raises where a folder may not be looked into.
    if not any(os.path.isfile(file) and os.access(file, os.X_OK) for file in files):  # noqa: PTH113 - see above
        return False
    patterns = ("lib/python3*", "lib64/python3*", "lib/pypy3*")
    return any(any(programs.parent.glob(pattern)) for pattern in patterns)


def _links(folder: Path) -> Iterator[Path]:
    """Yield the links in a folder of programs."""
    try:
        with os.scandir(folder) as entries:
            for entry in itertools.islice(entries, MOST_LINKS):
                if entry.is_symlink():
                    yield Path(entry.path)
    except OSError:
        return


def _environments(root: Path) -> Iterator[Path]:
    """The virtual environments of a checkout, where people and tools make them."""
    for pattern in (f"*/{CONFIG}", f".tox/*/{CONFIG}", f".nox/*/{CONFIG}"):
        for file in root.glob(pattern):
            yield file.parent


def _around(folder: Path) -> Path:
    """The folder of the whole installation: a package of node, a prefix, or just the programs."""
    parts = folder.parts
    if "node_modules" in parts:
        first = parts.index("node_modules") + 1
        return Path(*parts[: first + (2 if parts[first : first + 1] and parts[first][0] == "@" else 1)])
    return folder.parent if folder.name in ("bin", "sbin") and _is_prefix(folder.parent) else folder


def _is_prefix(folder: Path) -> bool:
    """Tell if it looks like an installation: libraries beside the programs, and no repository."""
    if os.path.lexists(folder / ".git"):
        return False
    return any((folder / name).is_dir() for name in ("lib", "lib64", "libexec", "share"))


def _expanded(word: str, environ: Mapping[str, str]) -> str:
    if word == "~" or word.startswith("~/"):
        return environ.get("HOME", "~") + word[1:]
    return word


def _outermost(folders: Iterable[str]) -> Iterator[str]:
    kept: list[str] = []
    for folder in sorted(folders):
        if not is_below(folder, kept):
            kept.append(folder)
    yield from kept


def _variables(folders: tuple[str, ...], environ: Mapping[str, str]) -> dict[str, str]:
    home = environ.get("HOME", "")
    found = {name: f"{home}/{path}" for path, name in KNOWN if name and is_below(f"{home}/{path}", folders)}
    named = {name: environ[name] for name in NAMED_BY if environ.get(name)}
    return {**found, **{name: path for name, path in named.items() if is_below(path, (*SYSTEM, *folders))}}


def is_below(path: str, folders: Sequence[str]) -> bool:
    """Tell if it is one of the folders, or in one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
