"""`interlock verify`: judges commits by the statements about their landings."""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import click

from interlock.engine.trust import Untrusted
from interlock.engine.verification import Means, verify
from interlock.model.errors import EnvironmentProblem
from interlock.store import Store
from interlock.train.proof import UNCONFIRMED, Judged
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import Invocation, note, paint, say_listing
from interlock.ui.cli.session import locate, opened
from interlock.ui.plain import counted, one_line
from interlock.ui.words.statements import flaw_text, good_text


@cli_command("verify")
@click.argument("commits", metavar="COMMIT|RANGE")
@click.option("--allow-unsigned", is_flag=True, help="Accept statements without a signature.")
@click.option(
    "--signers",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True),
    help="The SSH signers to accept, in place of gpg.ssh.allowedSignersFile.",
)
async def verify_command(
    invocation: Invocation, commits: str, allow_unsigned: bool, signers: Path | None
) -> int:
    """Verify the statements about a COMMIT, or about a RANGE along first parents.

    Needs no network, and no log. Exit code 1: a commit has a problem.
    For example: interlock verify main~20..main
    """
    async with AsyncExitStack() as stack:
        place = await locate(invocation.project)
        store = await _log(invocation, stack)
        judged = await verify(Means(place, store, signers, allow_unsigned), commits)
    flawed = sum(each.flaw is not None for each in judged)
    say_listing(
        invocation,
        lambda: {"commits": [_document(each) for each in judged], "problems": flawed},
        _lines(judged, flawed),
    )
    return ExitCode.FAILED if flawed else ExitCode.OK


async def _log(invocation: Invocation, stack: AsyncExitStack) -> Store | None:
    try:
        return (await stack.enter_async_context(opened(invocation))).store
    except (EnvironmentProblem, Untrusted) as problem:
        note(f"{paint('warning:', 'yellow')} the log cannot be used ({problem}); verifying without it")
        return None


def _lines(judged: list[Judged], flawed: int) -> Iterator[str]:
    width = max((len(each.task) for each in judged), default=0)
    for each in judged:
        mark = paint("problem", "red") if each.flaw else f"{paint('ok', 'green')}     "
        text = flaw_text(each) or good_text(each)
        yield f"{mark}  {each.commit[:12]}  {one_line(each.task):{width}}  {text}"
    steered = sum(bool(each.steering) and each.flaw is None for each in judged)
    edits = f" ({steered} {'edits' if steered == 1 else 'edit'} how the checks run)" if steered else ""
    wrong = f", {paint(counted(flawed, 'problem'), 'red')}" if flawed else ""
    yield f"{counted(len(judged), 'commit')}, {len(judged) - flawed} good{edits}{wrong}"


def _document(judged: Judged) -> dict[str, object]:
    return {
        "commit": judged.commit,
        "task": judged.task or None,
        "problem": judged.flaw,
        "part": judged.part,
        "text": flaw_text(judged) or good_text(judged),
        "signed": judged.is_signed,
        "signer": judged.signer or None,
        "confirmed": judged.confirmed,
        "unconfirmed": list(UNCONFIRMED) if judged.confirmed else None,
        "steering": list(judged.steering),
        "statement": judged.statement,
    }
