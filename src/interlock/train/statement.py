"""The statement about a change that lands: what was checked, on which tree, and who made it.

The format is in-toto's: Statement v1 with the predicate test-result v0.1. `interlock` holds what that
predicate has no field for, as its rules for extensions allow. A reader compares a statement with the commit
that carries it: a statement about another tree or another base says nothing about this one.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from interlock.events.parts import Candidate
from interlock.events.state import TaskState
from interlock.model.outcome import CheckResult
from interlock.model.task import Commit, TaskId, Tree

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement about a landing, as far as it is compared with the commit and shown."""

    commit: Commit
    tree: Tree
    base: Commit
    result: str
    task: TaskId
    attempt: int
    grade: str
    checks: tuple[tuple[str, int], ...]
    """Commands with their exit codes."""


class BadStatement(ValueError):
    """The text is no statement about a landing."""


def statement(candidate: Candidate, environment: str = "", task: TaskState | None = None) -> bytes:
    """State what is known of a candidate that passed; without a task, of a merge with the upstream."""
    evidence = candidate.evidence
    found = {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": "commit", "digest": {"gitCommit": candidate.commit}},
            {"name": "tree", "digest": {"gitTree": candidate.tree}},
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": "PASSED" if evidence.is_verified else "WARNED",
            "configuration": [_command(result) for result in candidate.results],
            "interlock": {
                "base": {"gitCommit": candidate.base},
                "grade": evidence.grade.value,
                "gap": evidence.gap.value if evidence.gap else "",
                "checks": [_check(result) for result in candidate.results],
                "environment": environment,
                "task": task.spec.id if task else "",
                "attempt": task.attempt if task else 0,
                "agent": _agent(task) if task else {},
            },
        },
    }
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def read_statement(payload: bytes) -> Statement:
    """Read a statement that Interlock wrote. `BadStatement` says what is wrong with any other text."""
    try:
        found = json.loads(payload)
        if (found["_type"], found["predicateType"]) != (STATEMENT_TYPE, PREDICATE_TYPE):
            raise BadStatement("it is of another type")
        digests: dict[str, Any] = {}
        for subject in found["subject"]:
            digests |= subject["digest"]
        about = found["predicate"]["interlock"]
        return Statement(
            Commit(str(digests["gitCommit"])),
            Tree(str(digests["gitTree"])),
            Commit(str(about["base"]["gitCommit"])),
            str(found["predicate"]["result"]),
            TaskId(str(about["task"])),
            int(about["attempt"]),
            str(about["grade"]),
            tuple((str(check["command"]), int(check["exitCode"])) for check in about["checks"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as problem:
        if isinstance(problem, BadStatement):
            raise
        raise BadStatement("it is not complete") from None


def mismatches(found: Statement, commit: Commit, tree: Tree, base: Commit) -> list[str]:
    """Name what a statement says otherwise than the commit that carries it."""
    pairs = {
        "commit": (found.commit, commit),
        "tree": (found.tree, tree),
        "base": (found.base, base),
    }
    return [name for name, (said, true) in pairs.items() if said != true]


def _agent(task: TaskState) -> dict[str, object]:
    opened = task.session.opened
    if opened is None:
        return {"name": task.session.agent}
    return {
        "name": task.session.agent,
        "program": opened.use,
        "model": opened.model,
        "sandbox": opened.sandbox,
        "prompt": {"sha256": opened.prompt},
    }


def _command(result: CheckResult) -> dict[str, object]:
    digest = hashlib.sha256(result.command.encode("utf-8", "backslashreplace")).hexdigest()
    return {"name": result.command, "digest": {"sha256": digest}}


def _check(result: CheckResult) -> dict[str, object]:
    found: dict[str, object] = {"command": result.command, "exitCode": result.exit_code}
    if result.suite:
        found |= {"passed": result.suite.passed_count, "failed": result.suite.failed_count}
    if result.red_on_base:
        found["redOnMain"] = True
    return found
