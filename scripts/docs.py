"""Write the reference pages that are made from the code.

`python scripts/docs.py` writes them; with `--check` it only says which are out of date.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path

import click
import msgspec

from interlock.engine.setting_values import TABLES
from interlock.engine.settings import PREFIX, Settings, default_of, key_of
from interlock.events.facts import Fact, Landed, PhaseFact, kinds
from interlock.events.lifecycle import TABLE, Stage, next_move
from interlock.model.durations import time_text
from interlock.model.task import PIPELINE, PhaseKind
from interlock.ui.cli.app import COMMANDS, interlock
from interlock.ui.cli.app import shared_options as fresh_options
from interlock.ui.cli.exits import MEANING

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
HEADER = "<!-- Written by `make docs` from the code. Edit the code, not this page. -->"


PICTURE = "<!-- The picture below is written by `make docs` from `events/lifecycle.py`. -->"
PICTURE_END = "<!-- End of the picture. -->"

ABOUT_COMMANDS = """\
A task may be named by its id, or by the beginning of it as long as only one fits. Data
goes to stdout and everything else to stderr. `interlock` alone shows the status and the next command.
"""

ABOUT_TRAPS = """\
Agent programs end with status 0 after a failure, wait for ever, and count in their own ways. Each of
these was seen with a real program; the test beside it fails if Interlock falls for it.
"""

_TRAP = re.compile(r"Traps?: (.*)", re.DOTALL)
TRAPS_OF = {
    "installed": "how they are installed",
    "recorded": "several programs",
    "contract": "several programs",
    "homes": "several programs",
}
"""What tests of more than one program are about, by their file."""

ABOUT_OUTPUT = """\
With `--json`, `run`, `events`, `logs`, `attach`, `replay RUN` and `status -w` print one line of JSON for
each item, the others one document. An error is `{"error": {"code", "message", "hint", "retryable"}}` on
stdout; one about the graph also has `problems`. Commands that list or show print JSON, too, when their
output is not a terminal and `CLAUDECODE`, `CURSOR_AGENT` or `CODEX_SANDBOX` is set.

Colour follows `--no-color`, then `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb`, then the setting `color`.
"""

ABOUT_SETTINGS = """\
The first place that names a key has the last word:

1. an option of the command
2. a variable of the environment, as below
3. `interlock.toml` in the root of the repository
4. `[tool.interlock]` in `pyproject.toml` (not what agents may reach, like `toolchains`)
5. `~/.config/interlock/config.toml`
6. the default

What belongs to a task (agent, timeout, retries, checks) is in the task graph and its `defaults`, not
here. `interlock config show --origin` says where each value comes from. A key that does not exist is an
error. Times are written as `90s`, `5m` or `1h30m`; a list in a variable is separated by commas. An
address with a password belongs into the variable `INTERLOCK_STORE`, not into a file that is committed.
"""

ABOUT_FACTS = """\
What the log can hold. `interlock events --json` prints them, each with `seq`, `time`, `actor`, `kind` and
`hash`; the fields below are in `fact`. A fact is never changed. `_v` is the version of its fields (none: 1)
and `_needs` the oldest Interlock that may go on without it ([why](../why/log-versions.md)).
"""

ABOUT_LIFE = """\
A task is in one stage and one phase at a time, and begins as waiting in the first phase. A fact moves it
only if the table has a row for it; any other fact stays in the log and changes nothing. The picture shows how
phases end; the table shows all moves.
"""


def cli_page() -> str:
    """Every command with its arguments and options."""
    context = click.Context(interlock, info_name="interlock")
    parts = [
        "# Commands",
        ABOUT_COMMANDS,
        "## Options of every command",
        _options(fresh_options()),
        ABOUT_OUTPUT,
    ]
    for name in COMMANDS:
        command = interlock.get_command(context, name)
        assert command is not None, name  # noqa: S101 - the table of commands is what we walk over
        parts += _command(command, f"interlock {name}", 2)
    return _page(parts)


def _command(command: click.Command, path: str, level: int) -> Iterator[str]:
    arguments = [_argument(param) for param in command.params if isinstance(param, click.Argument)]
    subcommands = list(command.commands.values()) if isinstance(command, click.Group) else []
    yield f"{'#' * level} {path}"
    yield f"`{' '.join([path, *arguments, 'COMMAND' if subcommands else ''])}`".replace(" `", "`")
    yield inspect.cleandoc(command.help or "")
    own = [param for param in command.params if isinstance(param, click.Option) and not _is_shared(param)]
    if own:
        yield _options(own)
    for child in subcommands:
        yield from _command(child, f"{path} {child.name}", level + 1)


def _argument(param: click.Argument) -> str:
    if param.metavar:
        return param.metavar
    name = (param.name or "").upper() + ("..." if param.nargs == -1 else "")
    return name if param.required else f"[{name}]"


def _is_shared(param: click.Parameter) -> bool:
    return param.name in {option.name for option in fresh_options()}


def _options(options: list[click.Option] | list[click.Parameter]) -> str:
    rows = ["| option | meaning |", "|---|---|"]
    for option in options:
        assert isinstance(option, click.Option)  # noqa: S101 - both callers pass options only
        flags = ", ".join(f"`{flag}`" for flag in option.opts)
        value = "" if option.is_flag else f" `{_cell(option.metavar or _metavar(option))}`"
        many = " May be given several times." if option.multiple else ""
        rows.append(f"| {flags}{value} | {_cell(option.help or '')}{many} |")
    return "\n".join(rows)


def _metavar(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    return {"path": "PATH", "file": "PATH"}.get(
        option.type.name, "N" if "int" in option.type.name else "TEXT"
    )


def config_page() -> str:
    """Every setting with its default."""
    docs = field_docs(Settings)
    rows = ["| key | default | variable | meaning |", "|---|---|---|---|"]
    for field in fields(Settings):
        key = key_of(field)
        default = _default(field.name, default_of(field))
        variable = "none" if field.name in TABLES else f"`{PREFIX}{key.upper()}`"
        rows.append(f"| `{key}` | {default} | {variable} | {_cell(docs[field.name])} |")
    return _page(["# Settings", ABOUT_SETTINGS, "\n".join(rows)])


def _default(name: str, value: object) -> str:
    if name.endswith("_seconds") and isinstance(value, float):
        return f"`{time_text(value)}`"
    if value in ("", (), {}):
        return "none"
    return f"`{msgspec.json.encode(value).decode()}`" if isinstance(value, tuple | bool) else f"`{value}`"


def exits_page() -> str:
    """Every exit code."""
    rows = ["| code | meaning |", "|---|---|"]
    rows += [f"| {int(code)} | {_cell(text)} |" for code, text in MEANING.items()]
    return _page(["# Exit codes", "\n".join(rows)])


def facts_page() -> str:
    """Every fact with its fields."""
    parts = ["# Facts", ABOUT_FACTS]
    shared = [field.name for field in fields(PhaseFact)]
    for name, kind in kinds().items():
        parts += [f"## {name}", _prose(inspect.getdoc(kind) or ""), _fact_fields(kind, shared)]
    return _page(parts)


def _fact_fields(kind: type[Fact], shared: list[str]) -> str:
    docs = field_docs(kind)
    names = [field.name for field in fields(kind)]
    about_phase = issubclass(kind, PhaseFact)
    own = [name for name in names if not (about_phase and name in shared)]
    listed = "; ".join(f"`{name}`" + (f" ({_clause(docs[name])})" if docs.get(name) else "") for name in own)
    lead = ", ".join(f"`{name}`" for name in shared) if about_phase else ""
    return f"Fields: {'; '.join(part for part in (lead, listed) if part) or 'none'}."


def _clause(sentence: str) -> str:
    """Without its full stop; what leaves something open stays open."""
    return sentence if sentence.endswith("..") else sentence.removesuffix(".")


def lifecycle_page() -> str:
    """The table of moves."""
    rows = ["| from | in a phase of kind | fact | to | in |", "|---|---|---|---|---|"]
    for row in TABLE:
        phases = "any" if len(row.kinds) == len(PhaseKind) else ", ".join(row.kinds)
        rows.append(f"| {row.stage} | {phases} | {_named(row.fact)} | {row.to} | {row.go} |")
    stages = f"The stages: {', '.join(stage.value for stage in Stage)}."
    return _page(["# The life of a task", ABOUT_LIFE, phases_picture(), stages, "\n".join(rows)])


def phases_picture() -> str:
    """How each phase can end, from the table and the pipeline."""
    edges: dict[tuple[str, str], list[str]] = {}
    for index, phase in enumerate(PIPELINE):
        for row in TABLE:
            is_late = row.fact is Landed and phase.kind is not PhaseKind.LAND  # main moved before a reset
            if row.stage is not Stage.RUNNING or not issubclass(row.fact, PhaseFact) or is_late:
                continue
            place = next_move(row.stage, PIPELINE, index, row.fact)
            if phase.kind in row.kinds and place and place.stage is not Stage.RUNNING:
                to = "done" if place.stage is Stage.DONE else PIPELINE[place.phase_index].name
                edges.setdefault((phase.name, to), []).append(row.fact.__name__)
    lines = [f"    {start} --> {to}: {', '.join(facts)}" for (start, to), facts in edges.items()]
    return "\n".join(
        [
            "```mermaid",
            "stateDiagram-v2",
            f"    [*] --> {PIPELINE[0].name}",
            *lines,
            "    done --> [*]",
            "```",
        ]
    )


def architecture_page() -> str:
    """The page as it is, with the picture of the phases made from the code."""
    text = _content(ROOT / "docs" / "architecture.md")
    head, start, rest = text.partition(PICTURE)
    _, end, tail = rest.partition(PICTURE_END)
    return f"{head}{start}\n{phases_picture()}\n{end}{tail}"


def _named(kind: type[Fact]) -> str:
    return (
        f"[{kind.__name__}](facts.md#{kind.__name__.lower()})" if kind.__name__ in kinds() else kind.__name__
    )


def field_docs(kind: type) -> dict[str, str]:
    """The docstrings below the fields of a class and of its ancestors; Python itself forgets them."""
    found: dict[str, str] = {}
    for ancestor in reversed(kind.__mro__[:-1]):
        body = ast.parse(textwrap.dedent(inspect.getsource(ancestor))).body[0]
        assert isinstance(body, ast.ClassDef)  # noqa: S101 - the source of a class is a class
        for field, after in zip(body.body, [*body.body[1:], ast.Pass()], strict=True):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                found[field.target.id] = _text(after)
    return found


def _text(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return _prose(str(statement.value.value))
    return ""


def _prose(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|")


def _page(parts: list[str]) -> str:
    text = "\n\n".join([parts[0], HEADER, *(part.strip() for part in parts[1:] if part)])
    return re.sub(r"[ \t]+\n", "\n", text) + "\n"


def traps_page() -> str:
    """What is known to go wrong with agent programs, from the tests that each have one of these traps."""
    parts = ["# Traps of agent programs", ABOUT_TRAPS]
    for title, rows in traps().items():
        parts += [f"## {title}", "\n".join(["| test | trap |", "|---|---|", *rows])]
    return _page(parts)


def traps() -> dict[str, list[str]]:
    """By program, a row for each test whose docstring begins with the word."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for test in ast.parse(text).body if '"""Trap' in text else ():
            said = ast.get_docstring(test) if isinstance(test, ast.FunctionDef) else None
            if isinstance(test, ast.FunctionDef) and said and (trap := _TRAP.match(said)):
                where = f"`{path.relative_to(ROOT).as_posix()}::{test.name}`"
                title = path.stem.removeprefix("test_").replace("_", "-")
                found.setdefault(TRAPS_OF.get(title, title), []).append(f"| {where} | {_cell(trap[1])} |")
    return dict(sorted(found.items()))


PAGES: dict[str, Callable[[], str]] = {
    "agent-traps.md": traps_page,
    "cli.md": cli_page,
    "config.md": config_page,
    "exit-codes.md": exits_page,
    "facts.md": facts_page,
    "lifecycle.md": lifecycle_page,
    "../architecture.md": architecture_page,
}


def out_of_date(folder: Path) -> list[str]:
    """The pages in the folder that differ from the code."""
    return [name for name, page in PAGES.items() if _content(folder / name) != page()]


def _content(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def main(words: list[str], folder: Path = FOLDER) -> int:
    """Write or check."""
    old = out_of_date(folder)
    for name in old:
        if "--check" in words:
            print(f"{name} is out of date: run `make docs`")
        else:
            (folder / name).write_text(PAGES[name](), encoding="utf-8")
            print(f"wrote {name}")
    return 1 if old and "--check" in words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
