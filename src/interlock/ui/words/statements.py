"""Verdicts on commits by their statements, in words."""

from interlock.train.proof import Flaw, Judged, Part, failed
from interlock.train.statement import Statement
from interlock.ui.plain import counted, one_line, shortened
from interlock.ui.words.evidence import steering_text

NAME_CHARS = 100
_PARTS = {
    Part.FORM: "its note is not a statement",
    Part.SIGNATURE: "the signature does not fit the statement",
    Part.COMMIT: "its statement is about another commit",
    Part.TREE: "its statement names another tree",
    Part.BASE: "its statement names another base than the first parent",
    Part.LOG: "its statement does not say what the log says",
    Part.NO_CHECK: "no check ran on it",
    Part.NO_SIGNERS: (
        "signed, but no file says which signers are allowed (gpg.ssh.allowedSignersFile, --signers)"
    ),
}
_FLAWS = {
    Flaw.MISSING: "a task landed it, and it has no statement",
    Flaw.BY_HAND: "no task landed it",
    Flaw.UNSIGNED: "its statement is not signed (--allow-unsigned accepts that)",
    Flaw.UNKNOWN_SIGNER: "its statement is signed by a signer that is not allowed",
}


def flaw_text(judged: Judged) -> str:
    """The flaw of a commit; empty: it has none."""
    if judged.flaw is None:
        return ""
    return f"{judged.flaw.value}: {_what(judged)}"


def _what(judged: Judged) -> str:
    if judged.part is Part.CHECK and judged.statement:
        commands = ", ".join(f"`{_name(check.command)}`" for check in failed(judged.statement))
        return f"{commands} failed"
    if judged.part:
        return _PARTS[judged.part]
    return _FLAWS.get(judged.flaw, "") if judged.flaw else ""


def good_text(judged: Judged) -> str:
    """The line about a commit whose statement has no flaw."""
    said = judged.statement
    parts = [_tested(said)] if said else []
    people = (
        [name for change in said.predicate.interlock.changes for name in change.reviewed_by] if said else []
    )
    parts += [f"approved by {', '.join(map(_name, people))}"] if people else []
    by = f" by {_name(judged.signer)}" if judged.signer else ""
    parts.append(f"signed{by}" if judged.is_signed else "unsigned")
    text = ", ".join([*parts, *(["as the log says"] if judged.confirmed else [])])
    return f"{text}; {steering_text(judged.steering)}" if judged.steering else text


def _tested(said: Statement) -> str:
    found = said.predicate.interlock
    excused = sum(check.red_on_base for check in found.checks)
    marked = f", {excused} failed as on the base" if excused else ""
    gap = f" ({_name(found.gap)})" if found.gap else ""
    return f"{_name(found.evidence)}{gap}, {counted(len(found.checks), 'check')}{marked}"


def _name(text: str) -> str:
    return shortened(one_line(text), NAME_CHARS)
