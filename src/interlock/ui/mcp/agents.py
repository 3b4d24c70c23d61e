"""The tools of an agent: about its own attempt, and with no more power than its output has."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import msgspec

from interlock.model.outcome import ProposedTask
from interlock.run.attempt_tools import AttemptTools
from interlock.ui.mcp.http import serving
from interlock.ui.mcp.tools import Nothing, Tool

INSTRUCTIONS = """\
Interlock runs you on one task of a repository. These tools are about your own attempt."""


class Report(msgspec.Struct, forbid_unknown_fields=True):
    text: str


class Question(msgspec.Struct, forbid_unknown_fields=True):
    question: str


class Proposed(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    goal: str
    needs: list[str] = []
    touches: list[str] = []
    done_when: list[str] = []


class Paths(msgspec.Struct, forbid_unknown_fields=True):
    paths: list[str]
    why: str


def agent_tools(attempt: AttemptTools) -> tuple[Tool, ...]:
    async def my_task(_: Nothing) -> object:
        return attempt.task()

    async def report(given: Report) -> object:
        attempt.report(given.text)
        return "noted"

    async def ask_person(given: Question) -> object:
        attempt.ask(given.question)
        return "End your session now, without another tool call. You go on from here with the answer."

    async def propose_task(given: Proposed) -> object:
        lists = (given.needs, given.touches, given.done_when)
        await attempt.propose(ProposedTask(given.id, given.goal, *map(tuple, lists)))
        return "Proposed. A person accepts or declines it; do not wait for it, and do not do it yourself."

    async def request_scope(given: Paths) -> object:
        return await attempt.request_scope(given.paths, given.why)

    return (
        Tool(
            "my_task",
            "Your task, feedback on earlier attempts, your limits.",
            Nothing,
            my_task,
            True,
        ),
        Tool("report", "Say in one line how far you are. People see it.", Report, report),
        Tool(
            "ask_person",
            "Ask a person for a decision that neither the task nor the repository gives. Only at your end: "
            "no tool call may follow.",
            Question,
            ask_person,
        ),
        Tool(
            "propose_task",
            "Propose other work that you found, as a task of its own. `needs`: ids of tasks; `touches`: "
            "globs; `done_when`: commands.",
            Proposed,
            propose_task,
        ),
        Tool(
            "request_scope",
            "Say which unexpected files you must edit, before you edit them.",
            Paths,
            request_scope,
        ),
    )


def serve_agents(attempt: AttemptTools, path: Path, token: str) -> AbstractAsyncContextManager[None]:
    """Serve one attempt, as `interlock.run.attempt_tools.ServeTools`."""
    return serving(agent_tools(attempt), INSTRUCTIONS, path, token)
