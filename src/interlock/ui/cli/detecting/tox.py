"""The commands that tox would run, translated: tox itself makes environments from the network."""

import re
from collections.abc import Iterator

from interlock.ui.cli.detecting.detected import CheckFound
from interlock.ui.cli.detecting.layout import Layout, Table, ini, table
from interlock.ui.cli.detecting.python import in_environment

_TESTS = re.compile(r"\b(pytest|py\.test|unittest|nose2|stestr|runtests|test)\b")
_FACTOR = re.compile(r"^(?P<factor>!?[\w.{},!-]+):\s+(?P<command>.+)$")
_PLACE = re.compile(r"\{([^{}]*)\}")
_REFERENCE = re.compile(r"^\[(?P<section>[^\]]+)\](?P<key>.+)$")
_MOST_PLACES = 20
_KNOWN = {
    "toxinidir": ".",
    "tox_root": ".",
    "envpython": "python",
    "env_python": "python",
    "envtmpdir": "$TMPDIR",
    "env_tmp_dir": "$TMPDIR",
}
"""Places that mean something outside of tox."""

Sections = dict[str, dict[str, str]]


def tox_checks(layout: Layout) -> Iterator[CheckFound]:
    """The first command of the test environment that tests."""
    for source, sections in _sources(layout):
        for section in _ranked(sections):
            for line in _lines(sections[section].get("commands", "")):
                command = _filled(line, sections)
                if command and _TESTS.search(command):
                    yield CheckFound(in_environment(layout, command), f"{source}: {section}")
                    return


def _ranked(sections: Sections) -> list[str]:
    """`testenv` itself, then the environments that are named for tests."""
    named = [name for name in sections if re.match(r"testenv:(py|test)", name)]
    return [name for name in ("testenv", *named) if name in sections]


def _sources(layout: Layout) -> Iterator[tuple[str, Sections]]:
    for name in ("tox.ini", "setup.cfg"):
        if text := layout.text(name):
            yield name, _sections(text)
    native = table(layout.pyproject, "tool", "tox")
    if isinstance(older := native.get("legacy_tox_ini"), str):
        yield "pyproject.toml", _sections(older)
    for name, said in (("pyproject.toml", native), ("tox.toml", layout.toml("tox.toml"))):
        if said:
            yield name, _native(said)


def _sections(text: str) -> Sections:
    parser = ini(text)
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _native(said: Table) -> Sections:
    """The newer form, in TOML: a command is a list of words."""
    found = {"testenv": table(said, "env_run_base")}
    found |= {f"testenv:{name}": table(said, "env", name) for name in table(said, "env")}
    return {name: {"commands": _joined(value.get("commands"))} for name, value in found.items()}


def _joined(commands: object) -> str:
    lists = [each for each in commands if isinstance(each, list)] if isinstance(commands, list) else []
    return "\n".join(" ".join(word for part in command for word in _word(part)) for command in lists)


def _word(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict) and part.get("replace") == "posargs":
        yield from (word for word in part.get("default", []) if isinstance(word, str))


def _lines(commands: str) -> Iterator[str]:
    """One command each; those for one factor only if that is a version of Python, tests, or not set."""
    for line in commands.replace("\\\n", " ").splitlines():
        text = " ".join(line.split()).removeprefix("- ").lstrip("-")
        match = _FACTOR.match(text)
        if match and not match["factor"].startswith(("!", "py", "test")):
            continue
        if text and not text.startswith("#"):
            yield match["command"] if match else text


def _filled(line: str, sections: Sections) -> str:
    """The line without places to fill in; nothing if one of them is not known outside of tox."""
    for _ in range(_MOST_PLACES):
        place = _PLACE.search(line)
        if place is None:
            return " ".join(line.split())
        value = _value(place[1], sections)
        if value is None:
            return ""
        line = line[: place.start()] + value + line[place.end() :]
    return ""


def _value(said: str, sections: Sections) -> str | None:
    name, _, default = said.partition(":")
    if reference := _REFERENCE.match(said):
        return sections.get(reference["section"], {}).get(reference["key"])
    if name == "posargs":
        return default
    if name == "env":
        return default.partition(":")[2]
    return _KNOWN.get(name)
