"""Installs what main needs before a run starts its first agent."""

from interlock.engine.project import Project
from interlock.model.errors import EnvironmentProblem
from interlock.model.outcome import CheckResult
from interlock.ui.cli.output import note

LAST_LINES = 12


async def set_up_main(project: Project) -> None:
    """Carry out the graph's `setup` for main, if the checkout lacks what it makes."""
    setups = project.setups
    tree = (await project.repository.tip()).tree
    if setups.spec is None or not await setups.is_missing(tree):
        return
    setups.clear_up()
    hosts = ", ".join(project.settings.setup_hosts) or "no network"
    note(f"setting up: {' && '.join(setups.spec.run)} (with {hosts})")
    if failed := await setups.ensure(tree):
        raise _failure(project, failed)


def _failure(project: Project, failed: CheckResult) -> EnvironmentProblem:
    how = "timed out" if failed.timed_out else f"exited {failed.exit_code}"
    last = "\n".join(f"  {line}" for line in failed.tail.splitlines()[-LAST_LINES:])
    hint = f"run `{failed.command}` in your checkout"
    if not project.settings.setup_hosts:
        hint += ", or allow the hosts it needs: setup_hosts in your own settings, or INTERLOCK_SETUP_HOSTS"
    return EnvironmentProblem(
        f"nothing was started: the set-up `{failed.command}` {how} on {project.place.branch}\n{last}", hint
    )
