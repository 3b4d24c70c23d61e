"""`interlock hooks`: the user's commands, and for which agents their word counts."""

from dataclasses import dataclass

import click

from interlock.engine.settings import load
from interlock.model.kinds import KINDS
from interlock.model.moment import Moment
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.output import Invocation, note, paint, say, say_json
from interlock.ui.cli.session import repository_root


@dataclass(frozen=True, slots=True)
class Known:
    """Support for one moment by agents of one kind."""

    agent: str
    how: str
    """`ours`, `native`, `observed` or `never`."""
    can_block: bool


@click.command("hooks", cls=CliCommand)
@click.pass_obj
def hooks_command(invocation: Invocation) -> None:
    """Show your hooks, and for each kind of agent how each moment is detected and which can block.

    For example: interlock hooks --json
    """
    loaded = load(repository_root(invocation), {})
    table = {moment: [_known(use, moment) for use in KINDS] for moment in Moment}
    if invocation.wants_json():
        say_json(
            [
                {"moment": moment, "commands": loaded.settings.hooks.get(moment, ()), "agents": known}
                for moment, known in table.items()
            ]
        )
        return
    width = max(len(moment.value) for moment in table)
    for moment, known in table.items():
        say(f"{paint(f'{moment.value:{width}}', 'cyan')}  {_summary(known)}")
        for command in loaded.settings.hooks.get(moment, ()):
            say(f"  runs: {command}")
    note(f"hooks are set in the table [hooks] of {loaded.files[-1]}")


def _known(use: str, moment: Moment) -> Known:
    from interlock.run.hooks import can_block, source_of

    return Known(use, source_of(use, moment).value, can_block(use, moment))


def _summary(known: list[Known]) -> str:
    """The kinds of agent by what holds for them."""
    groups: dict[str, list[str]] = {}
    for one in known:
        how = f"{one.how}{', can block' if one.can_block else ''}"
        groups.setdefault(how, []).append(one.agent)
    if len(groups) == 1:
        return f"{next(iter(groups))}, for every agent"
    return "; ".join(f"{how}: {' '.join(agents)}" for how, agents in groups.items())
