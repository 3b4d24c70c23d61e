"""The next command for a task that has failed: `retry` only where a new attempt can end in another way."""

from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.budget import Budgeted
from interlock.model.kinds import KINDS, Wire
from interlock.model.outcome import ErrorClass
from interlock.model.provider import key_variable
from interlock.model.reason import Reason, Why
from interlock.model.task import Agent
from interlock.ui.reading import Reading, open_permissions
from interlock.ui.words.red_main import mend_command

LOGINS = {
    "claude-code": "claude auth login",
    "codex": "codex login",
    "opencode": "opencode auth login",
    "copilot": "copilot login",
}
"""The login command by kind of agent; programs that are not here ask for a login when they start."""


def after_failure(task: TaskState) -> str:
    """The next command after a failure. A retry does not help a refused credential or a missing program."""
    retry = f"interlock retry {task.spec.id}"
    last = task.trouble.failures[-1] if task.trouble.failures and task.stage is Stage.FAILED else None
    if last and last.error is ErrorClass.AUTH:
        command = login_command(task.spec.agent_named(last.agent))
        return f"{command} && {retry}" if command else "interlock doctor"
    if last and last.error is ErrorClass.MISSING:
        return "interlock doctor"
    return retry


def login_command(agent: Agent) -> str:
    """The command after which the agent's credential is there; '' if no variable is named for it."""
    if agent.login:
        return LOGINS.get(agent.use, agent.use)
    wire = agent.wire or KINDS[agent.use].wire
    named = key_variable(Wire(wire), agent.url, agent.key_env) if wire else agent.key_env
    return f"export {named}=..." if named else ""


def next_command(reading: Reading, task: TaskState, reason: Reason) -> str:
    name = task.spec.id
    if task.stage is Stage.RUNNING and reading.is_live:
        return f"interlock answer {name} allow" if open_permissions(task) else f"interlock logs {name} -f"
    if task.stage is Stage.RUNNING:
        return "interlock run"
    if task.stage in (Stage.FAILED, Stage.CANCELLED):
        return after_failure(task)
    if task.stage is Stage.DONE:
        return f"interlock show {name}"
    if reason.code in (Why.REVIEW, Why.ANSWER):
        return f'interlock answer {name} "..."' if task.asks else f"interlock review {name}"
    if reason.code in (Why.MAIN_RED, Why.CHECK) and (command := mend_command(reading.state)):
        return command
    if reason.code in (Why.PAUSED, Why.HELD_BACK, Why.ALL_PAUSED):
        return f"interlock unpause {name}" if task.queue.paused else "interlock unpause"
    if not reading.is_live and reason.code == Why.BUDGET and reason.text("budget") == Budgeted.RUN:
        reason = Reason(Why.NO_RUN)  # the next run has a budget of its own
    return HELPS.get(reason.code) or f"interlock explain {name}"


HELPS: dict[str, str] = {
    Why.BUDGET: "interlock budget --add 5",
    Why.CHECK: "interlock doctor",
    Why.CHECKOUT_IN_THE_WAY: "git status",
    Why.NOT_PUSHED: "git pull --rebase && git push",
    Why.PUSH_REFUSED: "git push --dry-run",
    Why.NO_RUN: "interlock run",
    Why.NOT_SELECTED: "interlock run",
}
"""The next command by reason, where the reason is about no single task."""
