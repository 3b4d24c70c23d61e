"""Files that an agent leaves behind and that no person would commit: which these are, and why.

1. Only files that are new in a change are judged. What the branch tracks already, or had under another name,
   is the project's own choice.
2. `land_files` has the last word. It is the person's setting: no agent can change it.
3. A folder is named once, with the number of its files.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, takewhile
from typing import NamedTuple

from interlock.model.globs import matches
from interlock.model.secret_names import holds_credentials, is_key
from interlock.model.secrets import is_private_key
from interlock.model.task import Commit

MAX_FILE_BYTES = 5 << 20
SETTING = "land_files"


class Unwanted(StrEnum):
    """The reason that a file does not land."""

    IGNORED = "ignored"
    ENVIRONMENT = "env-file"
    KEY = "key"
    DEPENDENCIES = "dependencies"
    CACHE = "cache"
    BUILD = "build-output"
    COMPILED = "compiled"
    LARGE = "large"


WORDS = {
    Unwanted.IGNORED: "your own git ignore rules exclude it",
    Unwanted.ENVIRONMENT: "files like this hold credentials",
    Unwanted.KEY: "it is a private key",
    Unwanted.DEPENDENCIES: "installed dependencies",
    Unwanted.CACHE: "a cache",
    Unwanted.BUILD: "build output",
    Unwanted.COMPILED: "compiled code",
    Unwanted.LARGE: "larger than max_file_bytes",
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of a change that does not land: a file, or a folder with a slash at its end."""

    path: str
    why: Unwanted
    files: int = 1

    @property
    def text(self) -> str:
        many = f"{self.files} files, " if self.files > 1 else ""
        return f"{self.path} ({many}{WORDS[self.why]})"


class Leak(NamedTuple):
    """A secret in a file that would land. The secret itself is not part of it."""

    path: str
    line: int
    rule: str

    @property
    def text(self) -> str:
        return f"{self.path}:{self.line} ({self.rule})"


@dataclass(frozen=True, slots=True)
class ScreenedChange:
    """A change, after the look at the files in it."""

    commit: Commit
    """The agent's own, or one on top of it without what is left out."""
    left_out: tuple[LeftOut, ...] = ()
    paths: frozenset[str] = frozenset()
    """Every single file that is left out."""
    leaks: tuple[Leak, ...] = ()
    submodules: tuple[str, ...] = ()
    """Submodules that are at another commit after it, or were added or removed."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that a change adds."""

    path: str
    size: int
    content: bytes = b""
    """Its first bytes; empty if it was too large to read."""


@dataclass(frozen=True, slots=True)
class LandingRules:
    """The person's settings about files."""

    land_files: tuple[str, ...] = ()
    max_file_bytes: int = MAX_FILE_BYTES

    def allow(self, path: str) -> bool:
        return any(matches(glob, path) for glob in self.land_files)


_COMPILED_NAMES = re.compile(
    r".*\.(?:py[cod]|o|obj|lo|class|rlib|rmeta|pdb|ilk|gch|pch|beam|hi|cm[ioxt]|cmxa|gcda|gcno|profraw|tsbuildinfo"
    r"|exe|dll|dylib|so(?:\.\d+)*)\Z",
    re.DOTALL,
)
_COMPILED_BEGINNINGS = (
    *(b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe"),
    *(b"!<arch>\n", b"\0asm", b"BC\xc0\xde", b"rust\0\0\0", b"\x1bLua", b";ELC", b"Caml1999", b"dex\n0"),
)
"""Programs and libraries of Linux and macOS, classes of Java, archives of objects (`.rlib` too), WebAssembly,
LLVM, metadata of Rust, bytecode of Lua, Emacs, OCaml and Android: whatever the name of the file is."""
_PRODUCT_FOLDERS = re.compile(r".+\.(?:egg-info|dist-info|dSYM)|CMakeFiles", re.DOTALL)
FOLDERS = {
    **dict.fromkeys(("node_modules", "bower_components", ".venv", "site-packages"), Unwanted.DEPENDENCIES),
    **dict.fromkeys(("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"), Unwanted.CACHE),
    **dict.fromkeys((".tox", ".nox", ".gradle", ".next", ".nuxt", ".turbo", ".parcel-cache"), Unwanted.CACHE),
    **dict.fromkeys((".eggs", ".hypothesis", ".nyc_output", "htmlcov", ".dart_tool"), Unwanted.CACHE),
}  # fmt: skip # a table
_BUILD_FOLDERS = {
    "dist": ("package.json", "pyproject.toml", "setup.py", "setup.cfg"),
    "build": ("package.json", "pyproject.toml", "setup.py", "CMakeLists.txt", "build.gradle"),
    "target": ("Cargo.toml", "pom.xml", "build.sbt", "project.clj"),
    "_build": ("dune-project", "mix.exs", "rebar.config"),
    "zig-out": ("build.zig",),
    ".build": ("Package.swift",),
}  # fmt: skip # a table
"""Folders of build output, and the files beside which they are that: `src/build/` may well be source."""


def left_out(
    files: Iterable[NewFile], rules: LandingRules, ignored: Collection[str], products: Collection[str]
) -> dict[str, LeftOut]:
    """Return the files of a change that do not land, by path.

    `ignored` are those that the person's own ignore rules exclude, `products` folders of build output.
    """
    found: dict[str, tuple[Unwanted, str]] = {}
    for file in files:
        if rules.allow(file.path):
            continue
        why = (Unwanted.IGNORED, file.path) if file.path in ignored else _judged(file, rules, products)
        if why:
            found[file.path] = why
    counts: dict[tuple[Unwanted, str], int] = {}
    for why in found.values():
        counts[why] = counts.get(why, 0) + 1
    return {path: LeftOut(named, why, counts[why, named]) for path, (why, named) in found.items()}


def _judged(file: NewFile, rules: LandingRules, products: Collection[str]) -> tuple[Unwanted, str] | None:
    """The reason and what is to be named: the folder, if it is all of it."""
    for folder in _folders(file.path):
        name = folder.rpartition("/")[2]
        if kind := FOLDERS.get(name):
            return kind, f"{folder}/"
        if folder in products or _PRODUCT_FOLDERS.fullmatch(name):
            return Unwanted.BUILD, f"{folder}/"
    for kind, holds in _KINDS.items():
        if holds(file, file.path.rpartition("/")[2]):
            return kind, file.path
    return (Unwanted.LARGE, file.path) if rules.max_file_bytes and file.size > rules.max_file_bytes else None


def _is_key(file: NewFile, name: str) -> bool:
    return is_key(name) or is_private_key(file.content)


_KINDS: dict[Unwanted, Callable[[NewFile, str], bool]] = {
    Unwanted.ENVIRONMENT: lambda _, name: holds_credentials(name),
    Unwanted.KEY: _is_key,
    Unwanted.COMPILED: lambda file, name: (
        bool(_COMPILED_NAMES.fullmatch(name))
        or file.content.startswith(_COMPILED_BEGINNINGS)
        or (file.content.startswith(b"MZ") and b"PE\0\0" in file.content)  # of Windows
    ),
}


def build_folders(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The folders that may be build output, each with the files one of which must then be beside it."""
    every = dict.fromkeys(folder for path in paths for folder in takewhile(_is_plain, _folders(path)))
    named = ((folder, folder.rpartition("/")[2]) for folder in every)
    return {folder: _BUILD_FOLDERS[name] for folder, name in named if name in _BUILD_FOLDERS}


def _is_plain(folder: str) -> bool:
    """Not unwanted by its name alone, and fit for a line of text."""
    return folder.rpartition("/")[2] not in FOLDERS and folder.isprintable()


def _folders(path: str) -> Iterator[str]:
    """The folders that a path is in, the outermost first."""
    return accumulate(path.split("/")[:-1], lambda above, name: f"{above}/{name}")
