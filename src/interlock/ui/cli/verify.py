"""`interlock verify`: check the statements that landed commits carry."""

from collections import Counter

import click

from interlock.git.statements import NOTES, Signature, carriers, opened
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import Invocation, note, paint, say, say_json
from interlock.ui.cli.session import opened_fully, read, run_async
from interlock.ui.plain import counted, inert
from interlock.ui.queries.statements import StatementRow, StatementState, statement_rows

COLORS = {
    StatementState.GOOD: "green",
    StatementState.WRONG: "red",
    StatementState.MISSING: "yellow",
    StatementState.FOREIGN: "yellow",
}
_FLAWS = {
    "unreadable": "its note is no statement",
    "signature": "the signature does not fit",
    "unsigned": "no good signature",
    "commit": "the statement is about another commit",
    "tree": "the statement is about another tree",
    "base": "the statement is about another base",
    "log": "the log says otherwise",
}
_SIGNATURES = {
    Signature.NONE: "unsigned",
    Signature.GOOD: "signed by {}",
    Signature.UNKNOWN: "signed with a key that is not known here ({})",
    Signature.BAD: "bad signature",
}


@click.command("verify", cls=CliCommand)
@click.argument("commits", metavar="COMMIT|RANGE")
@click.option("--signed", is_flag=True, help="A statement without a good signature is wrong too.")
@click.pass_obj
def verify_command(invocation: Invocation, commits: str, signed: bool) -> int:
    """Check the statement of each landed commit: which checks passed, on which tree, and who signed it.

    Needs only the commits and their notes, so it works in any clone. If the project's log is here, the
    statements are compared with it too. Exits with 1 unless every commit has a good statement.

    For example: interlock verify main~20..main
    """
    found, has_notes = run_async(_judged(invocation, commits, signed))
    if invocation.wants_json():
        say_json({"commits": found})
    else:
        for row in found:
            say(_line(row))
        _say_sum(found, has_notes)
    return ExitCode.OK if all(row.state is StatementState.GOOD for row in found) else ExitCode.FAILED


async def _judged(invocation: Invocation, commits: str, signed: bool) -> tuple[list[StatementRow], bool]:
    async with opened_fully(invocation) as project:
        carried = await carriers(project.place, commits)
        notes = [
            await opened(project.place, each.note) if each.note is not None else None for each in carried
        ]
        state = (await read(project.store)).state
        found = statement_rows(list(zip(carried, notes, strict=True)), state, signed=signed)
        return found, any(notes)


def _line(row: StatementRow) -> str:
    return f"{paint(f'{row.state.value:8}', COLORS[row.state])} {row.commit[:12]}  {_text(row)}"


def _text(row: StatementRow) -> str:
    subject = inert(row.subject)
    if row.state is StatementState.MISSING:
        return f"{subject}: it names a task of Interlock and carries no statement"
    if row.state is StatementState.FOREIGN:
        return f"{subject}: not landed by Interlock"
    if row.flaws:
        return f"{subject}: {', '.join(_FLAWS[flaw] for flaw in row.flaws)}"
    return f"{subject}: {_checks(row)}, {_SIGNATURES[row.signature].format(inert(row.signer))}"


def _checks(row: StatementRow) -> str:
    if row.statement is None:
        return ""
    count = len(row.statement.checks)
    return f"{inert(row.statement.grade)}, {counted(count, 'check') if count else 'no checks'}"


def _say_sum(found: list[StatementRow], has_notes: bool) -> None:
    sums = Counter(row.state for row in found)
    parts = [f"{sums[state]} {state.value}" for state in StatementState if sums[state]]
    say(f"{counted(len(found), 'commit')}: {', '.join(parts)}" if found else "the range has no commits")
    if found and not has_notes:
        note(f"no statements here; to fetch them: git fetch origin {NOTES}:{NOTES}")
