"""A prompt with placeholders. The shipped one is `templates/prompt.md`; a project may have its own.

1. A placeholder is `$name` or `${name}`; a plain dollar sign is `$$`.
2. The line of an empty placeholder is removed, with the empty line after it.
3. An unknown name is an error with its line and column, found before any agent starts.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

from interlock.engine.settings import FILE, Settings
from interlock.git.files import read_regular
from interlock.model.errors import UsageError
from interlock.model.nearest import suggest

PLACES = {
    "task": "the id of the task",
    "attempt": "the number of the attempt",
    "goal": "the goal, as the graph has it",
    "acceptance": "the commands that must pass",
    "footprint": "the files it will probably touch, and those it holds alone",
    "neighbours": "the work of other agents that run at the same time",
    "said": "messages of people",
    "lessons": "lessons of earlier attempts that may apply to it",
    "feedback": "feedback on the attempt before: its failure, its output, its change, its last message",
}
_ALONE = re.compile(r"^\s*\$(?:\{(\w+)\}|(\w+))\s*$")
SETTING = "prompt_template"


@cache
def shipped() -> str:
    """The template that comes with Interlock."""
    return files("interlock.engine").joinpath("templates/prompt.md").read_text(encoding="utf-8")


def template_of(settings: Settings, origins: Mapping[str, str], root: Path) -> str:
    """The template that the settings name, checked; the shipped one if they name none."""
    name = settings.prompt_template
    if not name:
        return shipped()
    place = origins.get(SETTING, str(root / FILE))
    path = (root / Path(name).expanduser()).resolve()
    if place.startswith(f"{root}/") and not path.is_relative_to(root.resolve()):
        # It is sent to a model, and the author of the repository's settings may want a file of yours there.
        raise UsageError(
            f"{place}: `{SETTING}` is outside the repository: {name}",
            "name a file of the repository; only your own settings file may name any other",
        )
    try:
        text = read_regular(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            f"{place}: `{SETTING}` cannot be read: {path}: {said}", "write the file, or drop the setting"
        ) from None
    check_template(text, str(path))
    return text


def check_template(text: str, name: str) -> None:
    """Complain about the first place that cannot be filled, or if the goal has none."""
    used = set()
    for found in Template.pattern.finditer(text):
        word = found["named"] or found["braced"]
        if found["escaped"] is not None or word in PLACES:
            used.add(word)
            continue
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - text.rfind("\n", 0, found.start())
        where = f"{name}:{line}:{column}"
        if word is None:
            raise UsageError(f"{where}: a `$` without a name after it", "write `$$` for a dollar sign")
        raise UsageError(f"{where}: unknown placeholder `${word}`", suggest(word, PLACES, _listing()))
    if "goal" not in used:
        raise UsageError(
            f"{name}: the template has no `$goal`", "add it: without it no agent knows what to do"
        )


def has_place(template: str, name: str) -> bool:
    """Return True if a template has this place."""
    return any(name in (found["named"], found["braced"]) for found in Template.pattern.finditer(template))


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with its places filled in. What is filled in is never looked at again."""
    kept: list[str] = []
    is_after_empty = False
    for line in template.splitlines():
        alone = _ALONE.match(line)
        if alone and not values[alone[1] or alone[2]].strip():
            is_after_empty = True
            continue
        if not (is_after_empty and not line.strip()):
            kept.append(line)
        is_after_empty = False
    return Template("\n".join(kept)).substitute(values).rstrip() + "\n"


def _listing() -> str:
    return "the placeholders are " + ", ".join(f"`${name}`" for name in PLACES)
