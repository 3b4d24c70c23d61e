"""Statements are judged by what they say of a commit; what is no statement is none (D16)."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.events import facts as f
from interlock.events.record import GENESIS, Recorded, seal
from interlock.model.evidence import VERIFIED
from interlock.model.outcome import CheckResult
from interlock.model.task import Commit, TaskId, Tree
from interlock.train.proof import CommitOnBranch, Part, agrees, commit_on_branch, difference, opened, untested
from interlock.train.statement import Known, Told, envelope, signed_bytes, statement, told

A, TREE, BASE = Commit("a" * 40), Tree("b" * 40), Commit("c" * 40)
GREEN = CheckResult("make test", 0)
KNOWN = Known("1.0", "main", "log", VERIFIED)
FOUND = CommitOnBranch(A, TREE, BASE, 0, TaskId("t"))


def rows(*facts: f.Fact) -> list[Recorded]:
    found: list[Recorded] = []
    for number, fact in enumerate(facts, start=1):
        before = found[-1].hash if found else GENESIS
        actor = "ada@laptop" if isinstance(fact, f.PermissionAnswered) else "run"
        found.append(seal(before, number, float(number), actor, fact))
    return found


def landing(*checks: CheckResult) -> Told:
    key = (TaskId("t"), 2, "land", 1)
    made = told(
        rows(
            f.SessionOpened(TaskId("t"), 1, "implement", 1, agent="first", model="old"),
            f.PermissionAnswered(TaskId("t"), 1, "call", allow=True),
            f.SessionOpened(TaskId("t"), 2, "implement", 1, agent="second", use="codex", model="new"),
            f.PermissionAnswered(TaskId("t"), 2, "call", allow=True),
            f.PermissionAnswered(TaskId("t"), 2, "other", allow=False),
            f.CandidatePassed(*key, base=BASE, commit=A, tree=TREE, checks=checks),
            f.Landed(*key, base=BASE, commit=A, tree=TREE),
        ),
        A,
    )
    assert made
    return made


def said(made: Told, known: Known = KNOWN) -> bytes:
    return statement([(made, known)], clean)


def clean(text: str) -> str:
    return text.replace("secret", "[redacted]")


def test_a_statement_tells_of_the_attempt_that_landed() -> None:
    made = landing(GREEN)
    change = json.loads(said(made))["predicate"]["interlock"]["changes"][0]
    assert (change["agent"], change["program"], change["model"]) == ("second", "codex", "new")
    assert change["approvedBy"] == ["ada"]  # not the machine
    assert made.position == 7


def test_a_commit_that_the_log_does_not_know_as_tested_has_no_statement() -> None:
    key = (TaskId("t"), 1, "land", 1)
    assert told(rows(f.Landed(*key, base=BASE, commit=A, tree=TREE)), A) is None
    assert told(rows(f.CandidatePassed(*key, base=BASE, commit=A, tree=TREE)), A) is None


@pytest.mark.parametrize(
    ("checks", "result", "why"),
    [
        ((GREEN,), "PASSED", None),
        ((GREEN, CheckResult("make lint", 2, red_on_base=True)), "WARNED", None),
        ((GREEN, CheckResult("make lint", 2)), "FAILED", Part.CHECK),
        ((CheckResult("make test", 0, timed_out=True),), "FAILED", Part.CHECK),
        ((), "WARNED", Part.NO_CHECK),
    ],
)
def test_a_failed_check_counts_unless_it_is_marked(
    checks: tuple[CheckResult, ...], result: str, why: Part | None
) -> None:
    found = opened(envelope(said(landing(*checks)), b""))
    assert found
    assert (found.statement.predicate.result, untested(found.statement)) == (result, why)


@pytest.mark.parametrize(
    ("found", "part"),
    [
        (FOUND, None),
        (CommitOnBranch(Commit("d" * 40), TREE, BASE, 0, TaskId("t")), Part.COMMIT),
        (CommitOnBranch(A, Tree("d" * 40), BASE, 0, TaskId("t")), Part.TREE),
        (CommitOnBranch(A, TREE, Commit("d" * 40), 0, TaskId("t")), Part.BASE),
    ],
)
def test_a_statement_is_about_one_commit(found: CommitOnBranch, part: Part | None) -> None:
    taken = opened(envelope(said(landing(GREEN)), b""))
    assert taken
    assert difference(found, taken.statement) is part


def change_check(said: dict[str, Any]) -> None:
    said["checks"][0]["exitCode"] = 1


def change_command(said: dict[str, Any]) -> None:
    said["checks"][0]["command"] = "true"


def change_base(said: dict[str, Any]) -> None:
    said["base"] = {"gitCommit": "d" * 40}


def change_attempt(said: dict[str, Any]) -> None:
    said["changes"][0]["attempt"] = 1


def change_place(said: dict[str, Any]) -> None:
    said["fact"]["position"] = 3


def change_grade(said: dict[str, Any]) -> None:
    said["evidence"] = "claimed"


def change_sight(said: dict[str, Any]) -> None:
    said["checks"][0]["seen"] = {"gitTree": "d" * 40}


def change_reuse(said: dict[str, Any]) -> None:
    said["checks"][0]["reused"] = True


def change_model(said: dict[str, Any]) -> None:
    said["changes"][0]["model"] = "better"


def change_person(said: dict[str, Any]) -> None:
    said["changes"][0]["approvedBy"] = ["grace"]


def add_task(said: dict[str, Any]) -> None:
    said["changes"].append({"task": "other", "attempt": 1})


def hide_another_command(said: dict[str, Any]) -> None:
    said["checks"][0]["command"] = "make audit [redacted]"


CHANGES = [
    *(change_check, change_command, change_base, change_attempt, change_place, change_grade, change_sight),
    *(change_reuse, change_model, change_person, add_task, hide_another_command),
]


@pytest.mark.parametrize("change", CHANGES)
def test_the_log_agrees_with_its_own_statement_and_with_no_other(change: Any) -> None:  # Any: any of these
    made = landing(GREEN, CheckResult("curl -u me:secret", 0))
    true = json.loads(said(made))
    for text, is_true in ((true, True), (true, False)):
        if not is_true:
            change(text["predicate"]["interlock"])
        taken = opened(envelope(json.dumps(text).encode(), b""))
        assert taken
        assert agrees(taken.statement, [(made, KNOWN)], clean) is is_true


def test_a_command_with_a_secret_that_is_not_known_here_is_neither_confirmed_nor_denied() -> None:
    made = landing(CheckResult("curl -u me:secret", 0))
    taken = opened(envelope(said(made), b""))
    assert taken
    assert agrees(taken.statement, [(made, KNOWN)], lambda text: text) is None
    plain = opened(envelope(statement([(made, KNOWN)], lambda text: text), b""))
    assert plain
    assert agrees(plain.statement, [(made, KNOWN)], clean) is True


def test_a_signature_covers_type_and_length() -> None:
    """The example of the DSSE specification has the same form."""
    assert signed_bytes(b"{}") == b"DSSEv1 28 application/vnd.in-toto+json 2 {}"
    taken = opened(envelope(said(landing(GREEN)), b"signature"))
    assert taken
    assert taken.signature == b"signature"


@pytest.mark.property
@given(
    st.binary()
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(lambda v: json.dumps(v).encode())
)
def test_no_bytes_are_taken_for_a_statement_by_mistake(note: bytes) -> None:
    assert opened(note) is None
    wrapped = {"payloadType": "application/vnd.in-toto+json", "payload": base64.b64encode(note).decode()}
    assert opened(json.dumps({**wrapped, "signatures": []}).encode()) is None


def test_a_commit_is_read_with_its_first_parent_and_the_trailer_that_counts() -> None:
    head = f"tree {TREE}\nparent {BASE}\nparent {'d' * 40}\nauthor A <a> 1 +0000\ncommitter A <a> 7 +0200\n"
    signed = "gpgsig -----BEGIN\n tree x\n parent y\n"
    found = commit_on_branch(
        A, f"{head}{signed}\nDo it\n\n> Interlock-Task: x\n\nInterlock-Task: t\n".encode()
    )
    assert found == CommitOnBranch(A, TREE, BASE, 7, TaskId("t"))
    assert commit_on_branch(A, b"") == CommitOnBranch(A, Tree(""), Commit(""), 0, TaskId(""))
