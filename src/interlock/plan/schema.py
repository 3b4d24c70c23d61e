"""The shape of task-graph.yaml. Strict: an unknown key or a wrong type is an error, nothing is converted.

Importing this module imports pydantic, so only `parse` and `interlock schema` do, when they are called.
"""

import math
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    WithJsonSchema,
)

from interlock.model.durations import PATTERN, seconds_of
from interlock.model.kinds import KINDS, Wire
from interlock.model.nearest import suggest
from interlock.model.suite import RedMain
from interlock.model.task import COMPLEXITIES, REVIEWS, ROLES, TASK_ID
from interlock.plan.parts import ABSENT as _ABSENT
from interlock.plan.parts import ONE_OR_MORE as _COMMANDS_SCHEMA
from interlock.plan.parts import LeaseName, LeasePart, Line, Names, Part, RoutePart, Text, problem
from interlock.plan.selection import PRIORITIES

MAX_TASKS = 10_000
MAX_SECONDS = 30 * 86_400.0
MAX_RETRIES = 100


_DRIVE = re.compile("[A-Za-z]:")
_ENV_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
TEXT_TAG, CHECK_TAG = "[text]", "[check]"
"""Steps that pydantic adds to the place of a check, for the form that it is written in."""
OURS = "INTERLOCK_"
"""Environment names that begin like this are set by us."""


def _seconds(value: object) -> object:
    if isinstance(value, str):
        try:
            value = seconds_of(value)
        except ValueError:
            raise problem(
                f"`{value}` is not a duration", "write it like 90s, 30m, 2h or 1h30m; a number means seconds"
            ) from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise problem("expected a duration", "write it like 90s, 30m, 2h or 1h30m; a number means seconds")
    if not math.isfinite(value) or value < 0 or value > MAX_SECONDS:
        raise problem("the duration must be between 0 and 30 days", "write it like 90s, 30m, 2h or 1h30m")
    return float(value)


def _positive(value: float) -> float:
    if value <= 0:
        raise problem("the duration must be more than 0", "leave the key out to take the default")
    return value


def _version(value: object) -> object:
    if type(value) is not int:  # true and 1.0 equal 1
        raise problem("`version` must be 1", "write `version: 1`")
    return value


def _commands(value: object) -> object:
    if isinstance(value, str | dict):
        return [value]
    if isinstance(value, bool | int | float):
        raise problem("expected a command, or a list of commands", "put the command in quotes")
    return value


def _kind_of_check(value: object) -> str:
    return CHECK_TAG if isinstance(value, dict | CheckPart) else TEXT_TAG


def _priority(value: object) -> object:
    names = ", ".join(f"{number} or {name}" for number, name in enumerate(PRIORITIES))
    if isinstance(value, str) and value in PRIORITIES:
        return PRIORITIES.index(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(PRIORITIES):
        raise problem("this is not a priority", f"write {names}")
    return value


def _path(value: str) -> str:
    segments = value.split("/")
    if value.startswith(("/", "~")) or _DRIVE.match(value):
        raise problem(
            f"`{value}` is an absolute path", "write paths relative to the top of the repository, like src/**"
        )
    if ".." in segments:
        raise problem(
            f"`{value}` leaves the repository", "write it without `..`, from the top of the repository"
        )
    if "\\" in value:
        raise problem(f"`{value}` contains a backslash", "separate folders with `/`")
    if segments[0].lower() == ".git":
        raise problem("files in .git cannot be edited", "name files that are part of the repository")
    return value


def _kind(value: object) -> object:
    if isinstance(value, str) and value not in KINDS:
        raise problem(
            f"`{value}` is not a kind of agent", suggest(value, KINDS, f"the kinds are {', '.join(KINDS)}")
        )
    return value


def _url(value: str) -> str:
    match = re.match(r"https?://([^/?#]*)", value)
    if not match or not match[1] or re.search(r"\s", value):
        raise problem(f"`{value}` is not the address of a server", "write it like http://127.0.0.1:11434/v1")
    if "@" in match[1]:
        raise problem(
            "an address must not contain a password", "name the variable that holds it with `key_env`"
        )
    return value


def _one_of(*words: str) -> BeforeValidator:
    def check(value: object) -> object:
        if value not in words:
            hint = suggest(str(value), words, f"write {words[0]}")
            raise problem(f"this must be one of {', '.join(words)}", hint)
        return value

    return BeforeValidator(check)


def _argv(value: object) -> object:
    if isinstance(value, str):
        raise problem(
            "the command must be a list of words", 'write `run: [sh, -c, "..."]` or one item for each word'
        )
    if isinstance(value, list) and value[:1] in ([], [""]):
        raise problem("the command has no program", 'write the program first: `run: [sh, -c, "..."]`')
    return value


def _own_name(value: str) -> str:
    if value.startswith(OURS):
        raise problem(
            f"`{value}` is set by Interlock itself", f"choose a name that does not begin with {OURS}"
        )
    return value


_DURATION_SCHEMA = WithJsonSchema(
    {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": f"^(?:{PATTERN})$"}]}
)
_PRIORITY_SCHEMA = WithJsonSchema({"enum": [*range(len(PRIORITIES)), *PRIORITIES]})

_CHECK_SCHEMA: dict[str, Any] = {  # Any: a JSON Schema is open by nature
    "type": "object",
    "properties": {
        "run": {"type": "string", "minLength": 1, "description": "The command."},
        "inputs": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "minLength": 1},
            "description": "Globs of all files that it reads: it sees no others.",
        },
    },
    "required": ["run", "inputs"],
    "additionalProperties": False,
}
_ONE_CHECK: dict[str, Any] = {"anyOf": [{"type": "string", "minLength": 1}, _CHECK_SCHEMA]}
_CHECKS_SCHEMA = WithJsonSchema({"anyOf": [*_ONE_CHECK["anyOf"], {"type": "array", "items": _ONE_CHECK}]})

Id = Annotated[str, StringConstraints(pattern=TASK_ID)]
Path = Annotated[Line, AfterValidator(_path)]
Seconds = Annotated[float, BeforeValidator(_seconds), _DURATION_SCHEMA]
Duration = Annotated[float, BeforeValidator(_seconds), AfterValidator(_positive), _DURATION_SCHEMA]
Commands = Annotated[list[Text], BeforeValidator(_commands), _COMMANDS_SCHEMA]
Check = Annotated[
    Annotated[Text, Tag(TEXT_TAG)] | Annotated["CheckPart", Tag(CHECK_TAG)], Discriminator(_kind_of_check)
]
Checks = Annotated[list[Check], BeforeValidator(_commands), _CHECKS_SCHEMA]
Role = Annotated[str, _one_of(*ROLES), WithJsonSchema({"enum": list(ROLES)})]
Complexity = Annotated[str, _one_of(*COMPLEXITIES), WithJsonSchema({"enum": list(COMPLEXITIES)})]
RedMainWord = Annotated[str, _one_of(*RedMain), WithJsonSchema({"enum": [word.value for word in RedMain]})]
ReviewWord = Annotated[str, _one_of(*REVIEWS), WithJsonSchema({"enum": list(REVIEWS)})]
Priority = Annotated[int, BeforeValidator(_priority), _PRIORITY_SCHEMA]
Retries = Annotated[int, Field(ge=0, le=MAX_RETRIES)]
EnvName = Annotated[str, StringConstraints(pattern=_ENV_NAME), AfterValidator(_own_name)]


# A tuple stands in for the empty list: pydantic copies a default that can change, for every task.
_EMPTY: Any = ()


class CheckPart(Part):
    """A check that sees only the files that it names."""

    run: Text = Field(description="The command.")
    inputs: Annotated[list[Path], Field(min_length=1)] = Field(
        description="Globs of all files that it reads: it sees no others."
    )


class TaskSettings(Part):
    """The keys that a task may have, and that `defaults` may set for all tasks."""

    agent: Names = Field(
        _ABSENT,
        description="The agent: its name, a label, `any`, or a list of these by preference.",
    )
    role: Role = Field(_ABSENT, description="The role that its agent must have. Default `worker`.")
    requires: list[Line] = Field(_ABSENT, description="Capabilities that its agent must have.")
    complexity: Complexity = Field(
        _ABSENT, description="The complexity. Only agents of at least this complexity get the task."
    )
    verify: Checks = Field(
        _ABSENT,
        description="The project's checks, run on the merged tree before anything lands: commands, or "
        "mappings of `run` and the `inputs` that it sees.",
    )
    red_main: RedMainWord = Field(
        _ABSENT,
        description="While `verify` fails on main itself: `baseline` (default) judges test by test, `strict` "
        "starts nothing, `allow` also excuses a check whose report cannot be read.",
    )
    review: ReviewWord = Field(
        _ABSENT,
        description="Review of its change before it lands: `none`, `required` (a person approves it) or "
        "`auto` (unless it is verified and small). Default: the setting `review`.",
    )
    timeout: Duration = Field(_ABSENT, description="Time limit of one attempt. Default 30m.")
    idle_timeout: Seconds = Field(
        _ABSENT, description="Time limit without output of the agent; 0: no limit. Default 10m."
    )
    check_timeout: Duration = Field(_ABSENT, description="Time limit of each check. Default 15m.")
    lease_timeout: Seconds = Field(
        _ABSENT, description="Time limit for waiting on a lease of another task; 0 (the default): no limit."
    )
    retries: Retries = Field(_ABSENT, description="Number of retries after a failed attempt. Default 3.")
    estimate: Duration = Field(
        _ABSENT, description="Expected time of the work. Default: learned from similar work."
    )
    priority: Priority = Field(
        _ABSENT, description="0 (critical, jumps the queue) to 4 (lowest). Default 2 (normal)."
    )
    uses: list[Line] = Field(
        _ABSENT,
        description="Things outside the tree that it needs: names that one task at a time may use, or what "
        "`leases` declares, like `gpu` or `port:web`.",
    )
    category: Line = Field(_ABSENT, description="The kind of work, like `backend` or `docs`.")
    story: Line = Field(_ABSENT, description="The larger piece of work that it belongs to.")
    subsystem: Line = Field(_ABSENT, description="The part of the system that it changes.")


class TaskPart(TaskSettings):
    """One piece of work for one agent, ending in one landing."""

    goal: Text = Field(description="The work to do, in words for the agent.")
    needs: list[Line] = Field(_EMPTY, description="Tasks that must have landed before this one starts.")
    touches: list[Path] = Field(
        _EMPTY, description="Globs that it will probably edit: a forecast, not a limit."
    )
    exclusive: list[Path] = Field(
        _EMPTY, description="Globs that no other task may edit while this one runs."
    )
    shared: list[Path] = Field(
        _EMPTY, description="Globs that no other task may lease exclusively while this one runs."
    )
    done_when: Checks = Field(
        _EMPTY,
        description="Commands that must pass on the merged tree for it to be done, written as in `verify`.",
    )
    labels: list[Line] = Field(_EMPTY, description="Labels to select tasks by.")


class AgentPart(Part):
    """A program that works on tasks. Which keys go together is in `model.kinds`."""

    use: Annotated[str, BeforeValidator(_kind), WithJsonSchema({"enum": list(KINDS)})] = Field(
        description="The kind of agent."
    )
    run: Annotated[list[str], BeforeValidator(_argv), Field(min_length=1)] = Field(
        _EMPTY,
        description="The program and its arguments, for `command` and `acp`; it runs in the workspace.",
    )
    args: list[str] = Field(
        _EMPTY, description="More arguments for a program that Interlock knows how to start."
    )
    env: dict[EnvName, str] = Field({}, description="Environment variables to add. Never put a secret here.")
    model: Line = Field("", description="The model, by the name that its server knows.")
    url: Annotated[Line, AfterValidator(_url)] = Field(
        "", description="The address of the model server. Default: the provider that the program is made for."
    )
    key_env: Annotated[str, StringConstraints(pattern=_ENV_NAME)] = Field(
        "",
        description="The variable of your environment with the credential, which stays outside the sandbox.",
    )
    wire: Annotated[str, _one_of(*Wire), WithJsonSchema({"enum": [wire.value for wire in Wire]})] = Field(
        "", description="The API of its model, for `command` and `acp`."
    )
    permissions: Annotated[Literal["allow", "ask", "deny"], _one_of("allow", "ask", "deny")] = Field(
        "allow",
        description="The answer to an agent that asks before it acts. Default `allow`: it is in a sandbox.",
    )
    login: bool = Field(
        False,
        description="Use the account the program is logged in with. Its credential is then in the sandbox.",
    )
    roles: Annotated[list[Role], Field(min_length=1)] = Field(
        [ROLES[0]], description="Its roles: worker (default), critic, orchestrator."
    )
    capabilities: list[Line] = Field(_EMPTY, description="Its capabilities, in words that tasks require.")
    labels: list[Line] = Field(
        _EMPTY, description="Labels that stand for several agents, as `agent` of a task."
    )
    complexity: Complexity = Field(
        COMPLEXITIES[-1], description="The highest complexity of its tasks. Default `high`."
    )


class SetupPart(Part):
    """The commands that install dependencies, for a checkout without them or a change to their lock files."""

    run: Annotated[Commands, Field(min_length=1)] = Field(
        description="A command, or several in order, run in the sandbox on the tree alone."
    )
    key: list[Path] = Field(
        _EMPTY, description="Files that decide the result, like a lock file: same content, same result."
    )
    makes: list[Path] = Field(_EMPTY, description="The folders it makes. Known for the usual tools.")


class DefaultsPart(TaskSettings):
    """Values for all tasks."""

    setup: SetupPart = Field(
        _ABSENT, description="Installs dependencies that checks and agents need and git does not store."
    )
    teardown: Commands = Field(
        _EMPTY,
        description="Commands that run in the sandbox after each attempt: they release what it started "
        "elsewhere. Their failures are reported and change nothing.",
    )
    regenerate: dict[Path, Text] = Field(
        {},
        description="Globs of generated files, like lock files, each with the command that makes them. If a "
        "change and main conflict in nothing else, Interlock runs the command on the merged tree.",
    )


class GraphPart(Part):
    """The tasks of a project, and who works on them. State is never written here."""

    version: Annotated[Literal[1], BeforeValidator(_version)] = Field(
        description="The version of this format."
    )
    defaults: DefaultsPart = Field(
        default_factory=lambda: DefaultsPart.model_validate({}),
        description="Defaults for all tasks.",
    )
    leases: dict[LeaseName, LeasePart] = Field(
        {}, description="Ports, devices and other things that tasks name in `uses`: so many of each."
    )
    services: dict[LeaseName, Text] = Field(
        {},
        description="Programs that run beside each check of the tasks that use their port: `redis` with the "
        "port in `$PORT_REDIS`, for tasks with `port:redis` in `uses`.",
    )
    agents: dict[Id, AgentPart] = Field({}, description="The agents, by name.")
    routes: list[RoutePart] = Field(
        _EMPTY,
        description="Agents of the tasks that name none: the first route whose condition holds decides.",
    )
    tasks: dict[Id, TaskPart] = Field(description="The tasks, by id.")
