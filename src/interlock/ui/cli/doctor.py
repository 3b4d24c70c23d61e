"""`interlock doctor`: what could stand in the way on this machine, each with the command that mends it."""

import click

from interlock.ui.cli.app import Command
from interlock.ui.cli.checkup import check_up
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.findings import Finding, Health
from interlock.ui.cli.output import Invocation, paint, say, say_json
from interlock.ui.cli.session import run_async

COLORS = {Health.OK: "green", Health.WARNING: "yellow", Health.BAD: "red"}


@click.command("doctor", cls=Command)
@click.pass_obj
def doctor_command(invocation: Invocation) -> int:
    """Check git, the repository, the log, the disk and the agents. Exit 7 if something must be mended."""
    findings = run_async(check_up(invocation))
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
    return f"{mark} {finding.name:{width}}  {finding.text}{fix}"
