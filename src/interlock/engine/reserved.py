"""The files of a repository that steer Interlock, the host or the next agent: a change of them goes back.

1. An agent that could land its own settings could let itself out at the next run.
2. So it could with the settings of an agent program (hooks, servers to start, permissions), which the
   person's own session obeys outside any sandbox, and with what makes the person's git, shell or editor start
   programs unasked. The programs that such a file names are the project's own code, and are not reserved.
3. Names are compared as the most careless file system does: case, signs that are not shown, dots at the end.
"""

import json
import os
import re
import tomllib
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from interlock.git.files import read_regular
from interlock.git.place import Place
from interlock.model.outcome import ErrorClass, Report
from interlock.model.reason import Reason, Why
from interlock.model.task import Commit

PROJECT_FILE = "pyproject.toml"
AGENT_SETTINGS = re.compile(
    r"(.*/)?(\.mcp\.json|\.claude/settings[^/]*\.json|\.claude/hooks(/.*)?|opencode\.jsonc?|\.?crush\.json"
    r"|\.vscode/(mcp|tasks|settings)\.json|\.aider\.conf\.yml|\.?mise\.toml|\.exrc|\.nvim\.lua"
    r"|\.github/hooks(/.*)?|\.clinerules/hooks(/.*)?|\.windsurf/(hooks|mcp[^/]*)\.json|\.continue/mcpservers(/.*)?"
    r"|\.amazonq/(mcp\.json|cli-agents(/.*)?)|\.factory/(mcp|settings[^/]*)\.json|\.(kilocode|trae)/mcp\.json"
    r"|\.junie/mcp(/.*)?|\.dir-locals\.el|\.(codex|gemini|qwen|opencode|copilot|cursor|devcontainer|roo|kiro|zed)(/.*)?)",
    re.DOTALL,  # here as below: a name may hold line feeds
)
"""Settings of agent programs and editors that make them start programs, in any folder. Instructions to agents
(`AGENTS.md`, `CLAUDE.md`, `.claude/commands`) are text like any other."""
FOLDERS = re.compile(
    r"(.*/)?(\.claude(/(agents|commands|skills(/[^/.]+)?))?|\.vscode|\.mise|\.config|\.config/mise|\.idea|\.github"
    r"|\.windsurf|\.continue|\.amazonq|\.factory|\.kilocode|\.junie|\.trae)",
    re.DOTALL,
)
"""Folders with such settings: a file of this name is a link to a folder with other settings, or of no use."""
STARTS_UNASKED = re.compile(
    r"(.*/)?(\.pre-commit-config\.ya?ml|\.?lefthook(-local)?\.(ya?ml|toml|jsonc?)|\.lefthook(-local)?(/.*)?"
    r"|\.husky(/.*)?|\.huskyrc.*|husky\.config\..*|\.?simple-git-hooks\..*|\.overcommit\.yml|captainhook\.json"
    r"|\.lintstagedrc.*|lint-staged\.config\..*|\.trunk(/.*)?"
    r"|\.envrc|\.autoenv(\..*)?|\.?mise\..*\.toml|\.mise/.*|mise/config(\..*)?\.toml|\.config/mise(\.toml|/.*)"
    r"|\.rprofile|\.renviron|\.irbrc|\.pryrc|\.byebugrc|\.iex\.exs|\.ghci|\.octaverc|\.ocamlinit|\.pdbrc|\.(gdb|lldb)init"
    r"|.*\.code-workspace|\.devcontainer\.json|\.helix(/.*)?|\.nvimrc|\.vimrc|\.dir-locals-2\.el"
    r"|\.idea/(startup|watchertasks|workspace|externaltools)\.xml|\.idea/runconfigurations(/.*)?)",
    re.DOTALL,
)
"""Files that name commands which a hook manager, the shell or an editor starts when a person commits, enters
the folder or opens it."""
GIT_SETTINGS = (".gitmodules", ".lfsconfig")
"""Addresses that the person's git fetches from."""
ATTRIBUTES = ".gitattributes"
PACKAGE = "package.json"
HOOK_TABLES = ("husky", "lint-staged", "nano-staged", "simple-git-hooks", "gitHooks", "pre-commit")
"""Tables of a package.json that say what runs when a person commits."""
_NAMES_HOOKS = re.compile("|".join(HOOK_TABLES).encode() + rb"|\\")
"""In a file that Python cannot read: another program may, and a backslash may write any of these names."""
AGENT_TEXTS = re.compile(r"(.*/)?\.claude/(agents|commands|skills)/.*", re.DOTALL)
"""Instructions to agents: text like any other, but for the hooks and servers that their first lines name."""
_SETTINGS_FIRST = re.compile(rb"[\s\xef\xbb\xbf]*---.*?(^---[ \t\r]*$|\Z)", re.MULTILINE | re.DOTALL)
_NAMES_COMMANDS = re.compile(rb"(?i)hooks|mcpservers|\\")
MOST_LINKS = 40
"""The most links that the kernel follows."""
_BLANKS = re.compile(rb"[ \t\r]+")
"""The signs that git takes for blank in a line of attributes. It ends a line at a line feed only."""
_MACRO = re.compile(rb"\[attr\] ?([^ ]+)(.*)", re.DOTALL)
_STARTS = re.compile(rb"\[attr\]|(^| )[-!]?(filter|merge|diff|working-tree-encoding)\b")
"""The attributes by which git starts the person's programs, merges in another way, or cannot read a file."""
_NOT_SHOWN = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Signs that some file systems leave out of names, as git knows them."""
Read = Callable[[Commit, str], Awaitable[bytes | None]]
"""Reads a file of a commit: empty if it is not there, None if it is too large or a link."""


async def read_nothing(_commit: Commit, _path: str) -> bytes | None:
    """Return nothing: no file holds settings."""
    return b""


@dataclass(frozen=True, slots=True)
class Reserved:
    """Files that no agent's change may touch."""

    paths: frozenset[str] = field(default=frozenset(), repr=False)
    """Paths as git names them, in any case: some file systems take `Interlock.TOML` for `interlock.toml`.
    With `/` at its end: a folder and all that is in it."""
    read: Read = read_nothing
    attributes: tuple[bytes, ...] = field(default=(), repr=False)
    """Attributes that the person's git has from outside the tree: they may define macros."""

    async def hold(self, report: Report) -> Report:
        """The report, or a refusal that names what the change must leave alone."""
        if report.error or report.commit is None:
            return report
        mine = [*self.among(report.touched)]
        mine += [path for path in report.touched if await self._sets(report.base, report.commit, path)]
        if not mine:
            return report
        why = Reason(Why.RESERVED, {"paths": tuple(mine)})
        tail = f"Leave {', '.join(mine)} as it was."
        return replace(report, error=ErrorClass.DENIED, why=why, tail=tail)

    def among(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return those of these paths that are reserved whatever their content is."""
        kept = _Kept.of(self.paths)
        return tuple(sorted(path for path in paths if kept.has(fold(path))))

    async def _sets(self, base: Commit, work: Commit, path: str) -> bool:
        """Return True if the change alters `[tool.interlock]` or commands that start unasked."""
        if commands := _commands_in(fold(path)):
            if commands is _starting:
                above = await self.read(base, ATTRIBUTES) or b""
                commands = partial(_starting, macros=starting_macros([*self.attributes, above]))
            old, new = await self.read(base, path), await self.read(work, path)
            return _is_in_bytes(path) or new is None or commands(old or b"") != commands(new)
        if fold(path) != PROJECT_FILE:
            return False
        before, after = own_table(await self.read(base, path)), own_table(await self.read(work, path))
        # By their text: to Python, `1` and `true` are equal.
        return repr(before) != repr(after) and (before is not None or bool(after))


@dataclass(frozen=True, slots=True)
class _Kept:
    """Reserved paths, made ready to be compared with thousands of others."""

    files: frozenset[str]
    above: frozenset[str]
    """Folders around the files: a file in the place of one would take it away."""
    folders: tuple[str, ...]

    @classmethod
    def of(cls, paths: Iterable[str]) -> "_Kept":
        folded = frozenset(map(fold, paths))
        above = (str(folder) for path in folded for folder in PurePosixPath(path).parents)
        return cls(folded, frozenset(above), tuple(path for path in folded if path.endswith("/")))

    def has(self, folded: str) -> bool:
        if any(names.fullmatch(folded) for names in (AGENT_SETTINGS, STARTS_UNASKED, FOLDERS)):
            return True
        if folded.rpartition("/")[2] in GIT_SETTINGS or folded.startswith(self.folders):
            return True
        return folded in self.files or folded in self.above or f"{folded}/" in self.files


def fold(path: str) -> str:
    """Return a path as a file system may read it: rule 3."""
    plain = _NOT_SHOWN.sub("", unicodedata.normalize("NFKC", path)).casefold()
    end = "/" if plain.endswith("/") else ""
    return "/".join(part.rstrip(" .") or part for part in plain.rstrip("/").split("/")) + end


def _commands_in(folded: str) -> Callable[[bytes], object] | None:
    """Return the function that finds what a file of this name makes programs start, if only a part does."""
    name = folded.rpartition("/")[2]
    if name == ATTRIBUTES:
        return _starting
    if name == PACKAGE:
        return _hook_tables
    return _first_lines if AGENT_TEXTS.fullmatch(folded) else None


def _hook_tables(package: bytes) -> str:
    try:
        said = json.loads(package or b"{}")
    except (ValueError, RecursionError):
        return repr(package) if _NAMES_HOOKS.search(package) else repr({})
    return repr({name: said[name] for name in HOOK_TABLES if name in said} if isinstance(said, dict) else {})


def _first_lines(text: bytes) -> bytes:
    """Return the settings between the first two lines of dashes, if they may name hooks or servers."""
    said = _SETTINGS_FIRST.match(text)
    return said[0] if said and _NAMES_COMMANDS.search(said[0]) else b""


def _is_in_bytes(path: str) -> bool:
    """Tell if a path may stand for one that is no UTF-8, by which git cannot be asked for the content."""
    return "\\x" in path


def _starting(attributes: bytes, macros: frozenset[bytes] = frozenset()) -> list[bytes]:
    return [line for line in _attribute_lines(attributes) if _starts(line, macros)]


def starting_macros(attributes: Iterable[bytes]) -> frozenset[bytes]:
    """Return the macros of these attributes that stand for one by which git starts programs, also by way of
    another macro."""
    lines = [line for text in attributes for line in _attribute_lines(text)]
    defined = [(found[1], found[2]) for line in lines if (found := _MACRO.fullmatch(line))]
    starting, before = frozenset[bytes](), -1
    while len(starting) > before:
        before = len(starting)
        starting |= {name for name, words in defined if _starts(words, starting)}
    return starting


def own_attributes(place: Place) -> tuple[bytes, ...]:
    """Read the attributes that the person's git has from outside the tree."""
    config = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    named = place.settings.get("core.attributesfile") or f"{config}/git/attributes"
    found = list[bytes]()
    for path in (place.common_dir / "info" / "attributes", Path(named), Path("/etc/gitattributes")):
        with suppress(OSError, RuntimeError):  # there is none, or no home
            found.append(read_regular(path.expanduser()))
    return tuple(found)


def _attribute_lines(attributes: bytes) -> list[bytes]:
    split = attributes.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    lines = (b" ".join(_BLANKS.split(line)).strip(b" ") for line in split)
    return [line for line in lines if not line.startswith(b"#")]


def _starts(line: bytes, macros: frozenset[bytes]) -> bool:
    names = (word.lstrip(b"-!").partition(b"=")[0] for word in line.split(b" "))
    return _STARTS.search(line) is not None or not macros.isdisjoint(names)


def own_table(text: bytes | None) -> Mapping[str, Any] | None:  # Any: TOML holds values of many types
    """Return the settings of Interlock in a pyproject.toml; None if it cannot be read."""
    try:
        tool = tomllib.loads((text or b"").decode()).get("tool", {})
    except (ValueError, RecursionError):  # no TOML, no text, a number too long, brackets without end
        return None
    table = tool.get("interlock", {}) if text is not None and isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def names_in(root: Path, files: Sequence[str | Path]) -> Iterator[str]:
    """Files as git names them from the root; of a link, all on the way to what it leads to as well."""
    ways = {path for name in files for path in _way(os.path.normpath(root / name))}
    return (os.path.relpath(path, base) for path in ways for base in (root, os.path.realpath(root)))


def _way(path: str) -> Iterator[str]:
    """Yield a path, and each path that it leads to as one link after the other is followed."""
    for _ in range(MOST_LINKS):
        yield path
        parts = Path(path).parts
        above = (os.path.join(*parts[:count]) for count in range(2, len(parts) + 1))  # noqa: PTH118 - no meaning
        link = next((each for each in above if os.path.islink(each)), None)  # noqa: PTH114 - the same
        if link is None:
            return
        rest = os.path.relpath(path, link)
        path = os.path.normpath(Path(link).parent / os.readlink(link) / rest)  # noqa: PTH115 - the same
