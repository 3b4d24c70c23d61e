"""Parts of the shape of task-graph.yaml that stand by themselves: what all share, `leases` and `routes`."""

import re
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

MAX_VALUES = 10_000
RANGE = "^([0-9]{1,6})-([0-9]{1,6})$"
DATABASE = r"^[A-Za-z_][A-Za-z0-9_.-]{0,62}$"
DATABASES = 20
"""Copies of a template at once, unless the graph says another number."""

LeaseName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,31}$")]


def problem(message: str, hint: str) -> PydanticCustomError:
    """A refusal in our own words."""
    return PydanticCustomError("interlock", "{message}", {"message": message, "hint": hint})


class Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


# None is what an absent key becomes; a key that is written must have a value, so no field's type allows it.
ABSENT: Any = None


def _names(value: object) -> object:
    if isinstance(value, bool | int | float):
        raise problem("expected the name of an agent, or a list of them", "put the name in quotes")
    return [value] if isinstance(value, str) else value


ONE_OR_MORE = WithJsonSchema(
    {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "items": {"type": "string", "minLength": 1}},
        ]
    }
)
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Line = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True, pattern=r"^.+$")]
Names = Annotated[list[Line], BeforeValidator(_names), Field(min_length=1), ONE_OR_MORE]


class RoutePart(Part):
    """Agents for the tasks that meet a condition."""

    when: Line = Field(
        ABSENT,
        description="The condition, like `category == 'docs' and complexity <= 2`. Without it: every task.",
    )
    agents: Names = Field(
        alias="try",
        description="The agents: names, labels or `any`. Of those that could have a task, the one with the "
        "least expected cost until it lands goes first, and the next one after a failure.",
    )


def _range(value: str) -> str:
    match = re.fullmatch(RANGE, value)
    if not match or not 0 <= int(match[2]) - int(match[1]) < MAX_VALUES:
        raise problem(f"`{value}` is not a range of at most {MAX_VALUES} values", "write it like 3000-3999")
    return value


class LeasePart(Part):
    """Something that tasks name in `uses`: an attempt gets a value of its own, in a variable of that name."""

    count: Annotated[int, Field(ge=1, le=MAX_VALUES)] = Field(
        ABSENT, description="How many there are, with the values 0, 1, 2 ... Default 1."
    )
    range: Annotated[str, AfterValidator(_range), WithJsonSchema({"type": "string", "pattern": RANGE})] = (
        Field(ABSENT, description="The values instead, first and last: `3000-3999`.")
    )
    template: Annotated[str, StringConstraints(pattern=DATABASE)] = Field(
        ABSENT,
        description="A database on the server of the setting `database_server`: each program gets a copy of "
        "its own, in `DATABASE_URL`. `count` is then how many at once, default 20.",
    )

    @model_validator(mode="after")
    def _is_either(self) -> "LeasePart":
        for other in ("count", "template"):
            if {other, "range"} <= self.model_fields_set:
                raise problem(f"`{other}` and `range` exclude each other", "remove one of them")
        return self
