"""Programs that a person installed outside the system's folders: which of them agents and checks may read.

With `toolchains = ["auto"]` these are the ones on the PATH: what works in the person's own shell works in the
sandbox. They are read-only there, and the files in them that hold credentials are blank.

1. Found by where they are, never by looking through a home folder.
2. A folder on the PATH lets in itself. The folder around it comes along only if it is an installation: known
   by its name, or with libraries beside its programs and no repository in it.
3. A link in such a folder lets in the installation that it leads to.
4. A virtual environment in the checkout, or in a cache of its tools, lets in the Python it was made with.
5. Nothing on the list of private folders is let in, and no folder around one: a repository's own settings
   must not be able to show an agent the person's keys.
"""

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from interlock.model.errors import UsageError
from interlock.sandbox.home_caches import find_caches

AUTO = "auto"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
"""Always there."""
MOST_LINKS = 2000
"""The most links of one folder that are followed."""

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


NO_TOOLCHAINS = Toolchains()


def find_toolchains(
    wanted: Iterable[str], environ: Mapping[str, str], root: str = "", hidden: Iterable[str] = ()
) -> Toolchains:
    """The folders that are `wanted`: `auto`, or by name, which may be relative to the project's `root`.

    Never one around the project, and none that is, is in or is around a `hidden` folder.
    """
    home = os.path.realpath(environ.get("HOME") or "/nonexistent")
    around = (home, os.path.realpath(root)) if root else (home,)
    search = _Search(home, around, tuple(os.path.realpath(path) for path in hidden))
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
    return Toolchains(folders, masked, {**_variables(folders, environ), **search.env})


class _Search:
    def __init__(self, home: str, around: tuple[str, ...], hidden: tuple[str, ...]) -> None:
        self._home = home
        self._around = around
        self._kept_out = (*(f"{home}/{name}" for name in PRIVATE), *hidden)
        self.found: dict[str, None] = {}
        """Folders in the order of finding."""
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
        for environment in _environments(Path(root)):
            self._pythons(environment)
        for cache in find_caches(root, self._home, environ):
            self.env |= cache.env
            for folder in cache.folders:
                self._add(folder)
            for environment in cache.environments:
                self._pythons(environment)

    def _pythons(self, environment: Path) -> None:
        """Add the folders of a Python only: a repository may hold a pyvenv.cfg that names any folder."""
        names = ("python", "python3")
        links = [link for name in names if (link := environment / "bin" / name).is_symlink()]
        for home in (*_homes(environment), *(link.resolve().parent for link in links)):
            if any(os.access(home / name, os.X_OK) for name in names):
                self._installation(home)

    def named(self, path: str) -> None:
        """A person's, or a repository's, own choice: no private folder, and none around one."""
        if not self._may(os.path.realpath(path)):
            raise UsageError(
                f"toolchains: {path} is, or holds, a private folder that agents must not read",
                "name the folder of the tool itself",
            )
        self._add(Path(path))
        for home in _homes(Path(path)):
            self._installation(home)

    def _programs(self, entry: Path) -> None:
        if not _is_open(entry) or _is_system(entry):
            return
        self._installation(entry)
        for target in _links(entry):
            if not _is_system(target):
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
            self._add(around)
        for home in _homes(around):
            self._installation(home)

    def _known(self, folder: Path) -> str:
        real = os.path.realpath(folder)
        names = (name for name, _ in KNOWN if is_below(real, [os.path.realpath(f"{self._home}/{name}")]))
        return next(names, "")

    def _add(self, path: Path) -> None:
        if _is_open(path) and self._may(os.path.realpath(path)):
            self.found[os.path.normpath(path)] = None

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
    try:
        lines = (environment / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        key, _, value = line.partition("=")
        if key.strip() == "home" and value.strip().startswith("/"):
            yield Path(value.strip())


def _links(folder: Path) -> Iterator[Path]:
    """Yield the targets of the links in a folder of programs."""
    try:
        with os.scandir(folder) as entries:
            for entry in itertools.islice(entries, MOST_LINKS):
                if entry.is_symlink():
                    yield Path(os.path.realpath(entry.path))
    except OSError:
        return


def _environments(root: Path) -> Iterator[Path]:
    """The virtual environments of a checkout, where people and tools make them."""
    for pattern in ("*/pyvenv.cfg", ".tox/*/pyvenv.cfg", ".nox/*/pyvenv.cfg"):
        for file in itertools.islice(root.glob(pattern), MOST_LINKS):
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
