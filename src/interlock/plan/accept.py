"""Turns the text into the Graph: read, check the shape, check the whole, fill in the defaults.

Importing this module imports pydantic and the YAML parser; `parse` does so when it is called.
"""

from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256
from typing import Any

from pydantic import ValidationError

from interlock.model.setup import Setup
from interlock.model.task import Agent, Task, TaskId
from interlock.plan import check, explain
from interlock.plan.candidates import Candidates
from interlock.plan.graph import Graph
from interlock.plan.leases import leasables, split_uses
from interlock.plan.problem import GraphProblems, Notes, Position, Severity
from interlock.plan.routes import routes_of
from interlock.plan.schema import (
    MAX_TASKS,
    AgentPart,
    CheckPart,
    DefaultsPart,
    GraphPart,
    SetupPart,
    TaskPart,
    TaskSettings,
)
from interlock.plan.yaml_text import Document, Value, read, split_lines

_FIELDS = {
    "timeout": "timeout_seconds",
    "idle_timeout": "idle_seconds",
    "check_timeout": "check_seconds",
    "lease_timeout": "lease_seconds",
    "estimate": "estimate_seconds",
}
_FIELDS |= {
    name: name
    for name in (
        "goal",
        "retries",
        "priority",
        "category",
        "story",
        "subsystem",
        "role",
        "complexity",
        "red_main",
        "review",
    )
}
"""Settings that are taken over as they are, and what Task calls them; Task knows the defaults."""
_COMMANDS = frozenset({"verify", "done_when"})
"""Lists in which a word may stand twice."""
_WORDS = frozenset({"needs", "touches", "exclusive", "shared", "uses", "labels", "requires"})

_NO_GOAL = "?"
"""Stands in for a goal that is missing or broken, in a graph that will be refused."""


def accept(text: str | bytes, source: str, files: Collection[str] | None) -> Graph:
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    text = _decode(text, source).removeprefix("\ufeff")
    notes = Notes(source, split_lines(text))
    document = read(text, notes)
    part = _checked(document, notes, files) if document else None
    notes.refuse_errors()
    if part is None:
        raise AssertionError("a graph that cannot be read must have a problem")
    agents = {name: _agent(name, agent) for name, agent in part.agents.items()}
    warnings = notes.sorted(Severity.WARNING)
    tasks, setup = _tasks(part, agents), _setup(part.defaults.setup)
    digest, regenerate = sha256(raw).hexdigest(), dict(part.defaults.regenerate)
    return Graph(
        tasks,
        digest,
        source,
        warnings,
        tuple(agents.values()),
        setup,
        regenerate,
        leasables(part.leases),
        dict(part.services),
        tuple(part.defaults.teardown),
    )


def _decode(text: str | bytes, source: str) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        lines = split_lines(text[: error.start].decode(errors="replace"))
        notes = Notes(source, lines)
        message = f"the byte 0x{text[error.start]:02x} is not UTF-8"
        notes.add(Position(len(lines), len(lines[-1]) + 1), message, "save the file as UTF-8 text")
        raise GraphProblems(notes.sorted(Severity.ERROR)) from error


def _checked(document: Document, notes: Notes, files: Collection[str] | None) -> GraphPart | None:
    """The graph without what is wrong in it, which has been noted; None if nothing is left."""
    value, places = document
    if not isinstance(value, dict):
        notes.add(places.of(()), "the file must be a mapping", "start with `version: 1` and `tasks:`")
        return None
    tasks = value.get("tasks")
    if isinstance(tasks, dict) and len(tasks) > MAX_TASKS:
        first = list(tasks)[MAX_TASKS]
        message = f"there are {len(tasks)} tasks; at most {MAX_TASKS} are allowed"
        notes.add(places.of(("tasks", first), at_key=True), message, "split the work into several graphs")
        return None
    part = _shaped(value, document, notes)
    if part is not None:
        check.note_all(part, document, notes, files)
    return part


def _shaped(value: dict[str, Value], document: Document, notes: Notes) -> GraphPart | None:
    try:
        return GraphPart.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False)
        explain.note_all(found, document.places, notes)
    try:
        return GraphPart.model_validate(_without(value, [one["loc"] for one in found]))
    except ValidationError:
        return None


def _without(value: dict[str, Value], broken: Iterable[tuple[str | int, ...]]) -> dict[str, Value]:
    """The file without what is broken: the field of a task, or an agent, so that the rest can be checked."""
    left: dict[str, Value] = {
        key: dict(inner) if isinstance(inner, dict) else inner for key, inner in value.items()
    }
    for path in broken:
        section = left.get(str(path[0]))
        if len(path) > 1 and isinstance(section, dict):
            name, part = str(path[1]), section.pop(str(path[1]), None)
            if path[0] == "tasks" and isinstance(part, dict) and path[2] != explain.KEY:
                section[name] = {"goal": _NO_GOAL, **{key: part[key] for key in part if key != path[2]}}
        elif path[0] == "version":
            left["version"] = 1
        else:
            left.pop(str(path[0]), None)
    return left


def _agent(name: str, part: AgentPart) -> Agent:
    return Agent(
        name,
        part.use,
        tuple(part.run),
        dict(part.env) or None,
        tuple(part.args),
        part.model,
        part.url,
        part.key_env,
        part.wire,
        part.permissions,
        part.login,
        tuple(dict.fromkeys(part.roles)),
        tuple(dict.fromkeys(part.capabilities)),
        tuple(dict.fromkeys(part.labels)),
        part.complexity,
    )


def _setup(part: SetupPart | None) -> Setup | None:
    return Setup(tuple(part.run), tuple(part.key), tuple(part.makes)) if part else None


def _tasks(part: GraphPart, agents: Mapping[str, Agent]) -> tuple[Task, ...]:
    defaults = _settings(part.defaults)
    candidates = Candidates(part.defaults, part.agents, routes_of(part))
    tasks: list[Task] = []
    for id, task in part.tasks.items():
        want = candidates.want(task, id)
        able = tuple([agents[name] for name in candidates.of(want).able])
        given = defaults | _settings(task)  # the task's own word comes before the default
        given |= split_uses(given.get("uses", ()), part.leases)
        given["has_estimate"] = _FIELDS["estimate"] in given
        given["inputs"] = _inputs(task, part.defaults)
        given["route"] = want.route
        tasks.append(Task(id=TaskId(id), agent=able[0], agents=able if len(able) > 1 else (), **given))
    return tuple(tasks)


def _settings(part: TaskSettings) -> dict[str, Any]:  # Any: the settings are of many types
    settings: dict[str, Any] = {}
    for key in part.model_fields_set:
        value = getattr(part, key)
        if key in _WORDS:
            settings[key] = tuple(dict.fromkeys(value))
        elif key in _COMMANDS:
            settings[key] = tuple(each.run if isinstance(each, CheckPart) else each for each in value)
        elif key in _FIELDS:
            settings[_FIELDS[key]] = value
    return settings


def _inputs(task: TaskPart, defaults: DefaultsPart) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The inputs of the checks of a task, by command, each once.

    The files that decide what `setup` installs are among them: a change of these changes what the check runs
    with.
    """
    verify = task.verify if "verify" in task.model_fields_set else defaults.verify
    declared = (each for each in (*task.done_when, *(verify or ())) if isinstance(each, CheckPart))
    key = defaults.setup.key if "setup" in defaults.model_fields_set else ()
    return tuple(
        {each.run: (each.run, tuple(dict.fromkeys((*each.inputs, *key)))) for each in declared}.values()
    )
