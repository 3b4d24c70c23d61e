"""The statements that commits carry, compared with the commits themselves and with the log."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from interlock.events.finished import unpacked
from interlock.events.parts import Candidate
from interlock.events.state import State
from interlock.git.statements import Carrier, Signature, Signed
from interlock.model.task import Commit
from interlock.train.statement import BadStatement, Statement, mismatches, read_statement


class StatementState(StrEnum):
    """The worth of what a commit carries."""

    GOOD = "good"
    WRONG = "wrong"
    """It carries a statement that does not fit it, the log, or its signature."""
    MISSING = "missing"
    """Its message names a task, but it carries no statement."""
    FOREIGN = "foreign"
    """Interlock did not land it."""


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One commit of the first-parent line, judged."""

    commit: Commit
    subject: str
    state: StatementState
    flaws: tuple[str, ...] = ()
    """What is wrong: `unreadable`, `signature`, `unsigned`, `commit`, `tree`, `base` or `log`."""
    signature: Signature = Signature.NONE
    signer: str = ""
    statement: Statement | None = None


def statement_rows(
    found: Sequence[tuple[Carrier, Signed | None]], state: State, *, signed: bool
) -> list[StatementRow]:
    """Judge each commit; with `signed`, a statement without a good signature is wrong."""
    known = _landings(state, {carrier.commit for carrier, _ in found})
    return [_row(carrier, note, known.get(carrier.commit), signed) for carrier, note in found]


def _row(carrier: Carrier, note: Signed | None, known: Candidate | None, signed: bool) -> StatementRow:
    if note is None:
        state = StatementState.MISSING if carrier.task or known else StatementState.FOREIGN
        return StatementRow(carrier.commit, carrier.subject, state)
    flaws = ["signature"] if note.signature is Signature.BAD else []
    if signed and note.signature is not Signature.GOOD and not flaws:
        flaws.append("unsigned")
    statement = None
    try:
        statement = read_statement(note.statement)
        flaws += mismatches(statement, carrier.commit, carrier.tree, carrier.parent)
    except BadStatement:
        flaws.append("unreadable")
    if statement and known and _differs(statement, known):
        flaws.append("log")
    state = StatementState.WRONG if flaws else StatementState.GOOD
    return StatementRow(
        carrier.commit, carrier.subject, state, tuple(flaws), note.signature, note.signer, statement
    )


def _differs(statement: Statement, known: Candidate) -> bool:
    said = (statement.tree, statement.base, statement.grade)
    return said != (known.tree, known.base, known.evidence.grade.value)


def _landings(state: State, wanted: set[Commit]) -> dict[Commit, Candidate]:
    """The landings of these commits that the log knows."""
    packed = (unpacked(state, name) for name, each in state.finished.items() if each.commit in wanted)
    landed = (task.change.landed for task in (*packed, *state.tasks.values()))
    return {each.commit: each for each in landed if each and each.commit in wanted}
