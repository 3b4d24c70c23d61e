"""The bodies of actions: all that may be asked for, with limits on every text and list."""

from typing import Annotated

from msgspec import Meta, Struct

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=4_000)]
Names = Annotated[list[Name], Meta(min_length=1, max_length=200)]
Globs = Annotated[list[Text], Meta(max_length=200)]


class OnTasks(Struct, frozen=True, forbid_unknown_fields=True):
    """Some tasks."""

    tasks: Names
    why: Text = ""
    """Why, for the log; `retry` gives it to the next attempt, or answers a question with it."""


class OnTask(Struct, frozen=True, forbid_unknown_fields=True):
    """One task."""

    task: Name


class OnTaskOrAll(Struct, frozen=True, forbid_unknown_fields=True):
    """One task, or the project."""

    task: Name | None = None
    why: Text = ""


class OnRun(Struct, frozen=True, forbid_unknown_fields=True):
    """The run."""

    why: Text = ""


class Message(Struct, frozen=True, forbid_unknown_fields=True):
    """A text for the agent of a task."""

    task: Name
    text: Annotated[str, Meta(min_length=1, max_length=4_000)]


class Decision(Struct, frozen=True, forbid_unknown_fields=True):
    """A decision about changes that wait for review."""

    tasks: Names
    note: Text = ""
    change: Text = ""
    """The digest of the change that was looked at: another one is not decided."""


class Rejection(Struct, frozen=True, forbid_unknown_fields=True):
    """A decision about one change: its agent is told why."""

    task: Name
    note: Text = ""
    change: Text = ""
    """The digest of the change that was looked at: another one is not decided."""


class Remark(Struct, frozen=True, forbid_unknown_fields=True):
    """A comment on a change that waits for review."""

    task: Name
    path: Annotated[str, Meta(min_length=1, max_length=4_096)]
    text: Annotated[str, Meta(min_length=1, max_length=4_000)]
    line: Annotated[int, Meta(ge=0, le=999_999_999)] = 0
    """As the change leaves the file; 0: the whole file."""


class NewTask(Struct, frozen=True, forbid_unknown_fields=True):
    """A task beside the graph file."""

    id: Name
    goal: Annotated[str, Meta(min_length=1, max_length=20_000)]
    needs: Globs = []
    touches: Globs = []
    done_when: Globs = []
    agent: Text = ""
    parent: Text = ""


class Proposed(Struct, frozen=True, forbid_unknown_fields=True):
    """A task that an agent proposed, as `PARENT/ID` or `ID`."""

    proposal: Name
    decline: bool = False


class Undoing(Struct, frozen=True, forbid_unknown_fields=True):
    """Landed tasks, or commits of main."""

    targets: Names
    include_later: bool = False
