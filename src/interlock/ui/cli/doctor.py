"""`interlock doctor`: what could stand in the way on this machine, each with the command that mends it."""

import click

from interlock.model.errors import UsageError
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.checkup import check_up
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import Invocation, paint, say, say_json
from interlock.ui.cli.session import run_async
from interlock.ui.queries.findings import Finding, Health

COLORS = {Health.OK: "green", Health.WARNING: "yellow", Health.BAD: "red"}


@cli_command("doctor")
@click.option(
    "--prove",
    "proving",
    is_flag=True,
    help="Trigger each mechanism in scratch repositories and show the result.",
)
@click.option("--keep", is_flag=True, help="With --prove: keep those repositories for inspection.")
@click.option("--no-checks", is_flag=True, help="Do not run the checks of the task graph.")
@click.option("--no-canary", is_flag=True, help="Do not break the code on purpose to test the checks.")
def doctor_command(
    invocation: Invocation, proving: bool, keep: bool, no_checks: bool, no_canary: bool
) -> int:
    """Check git, the repository, the log, the disk, the agents and the checks. Exit 7 if one needs a fix.

    Each `verify` and `done_when` command runs once on main, in the sandbox. Then main is broken on purpose in
    a tree of its own, to test that `verify` fails.
    With --prove, each mechanism of Interlock is triggered on this machine, through the real command, in a
    minute or two: a race, a crash, a conflict, an attack. Exit 1 if a demonstration failed.
    For example: interlock doctor --prove --keep
    """
    if keep and not proving:
        raise UsageError("--keep is for --prove", "interlock doctor --prove --keep")
    if proving:
        from interlock.ui.cli.prove.show import tell_proofs

        return run_async(tell_proofs(invocation, keep))
    findings = run_async(check_up(invocation, checks=not no_checks, canary=not no_canary))
    is_well = all(finding.health is not Health.BAD for finding in findings)
    if invocation.wants_json():
        say_json({"ok": is_well, "checks": findings})
    else:
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            say(_line(finding, width))
    return ExitCode.OK if is_well else ExitCode.ENVIRONMENT


def _line(finding: Finding, width: int) -> str:
    mark = paint(f"{finding.health.value:7}", COLORS[finding.health])
    lines = finding.fix.splitlines()
    fix = "".join(f"\n    {paint(line, 'cyan')}" for line in lines)
    if len(lines) == 1:
        fix = f"  -> {paint(finding.fix, 'cyan')}"
    detail = "".join(f"\n    | {line}" for line in finding.detail)
    return f"{mark} {finding.name:{width}}  {finding.text}{detail}{fix}"
