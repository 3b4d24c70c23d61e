"""The statement about a landed commit: what landed, on what base, and which checks ran on its tree.

The form is published: an in-toto Statement v1 with the predicate `test-result` v0.1, in a DSSE envelope. What
that predicate has no field for is in its one extension field, `interlock` (docs/how-to/verify.md).

Rules:
1. It says what facts of the log say, and digests. It holds no output, no prompt, and no path or name of the
   machine.
2. Only a commit that the log knows as tested gets one. What a rebase makes of it is another commit.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.model.evidence import Evidence
from interlock.model.outcome import CheckResult
from interlock.model.task import Commit, Tree

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
PAYLOAD = "application/vnd.in-toto+json"
Digest = dict[str, str]


class Described(msgspec.Struct):
    """A resource descriptor of in-toto: a name, and digests of the content."""

    name: str = ""
    digest: Digest = {}


class Check(msgspec.Struct, rename="camel"):
    """One command, and how it ended."""

    command: str
    exit_code: int
    timed_out: bool = False
    red_on_base: bool = False
    """It fails on main too, and is not held against the change."""
    seen: Digest = {}
    """The content that it could read."""
    environment: str = ""
    """Digest of what decides its result besides that content; empty: it is not known."""
    reused: bool = False
    """It was not run: an earlier run on the same content is its result."""
    output: Digest = {}
    """Digest of its output, which the state folder keeps."""

    @property
    def is_excused(self) -> bool:
        return self.red_on_base or (self.exit_code == 0 and not self.timed_out)


class Change(msgspec.Struct, rename="camel"):
    """The change of one task, and what made it."""

    task: str
    attempt: int
    agent: str = ""
    program: str = ""
    model: str = ""
    prompt: Digest = {}
    sandbox: str = ""
    approved_by: list[str] = []
    """People who allowed the agent something that it asked for."""
    reviewed_by: list[str] = []
    """People who approved exactly this change before it landed."""


class LogPlace(msgspec.Struct):
    """The fact of the landing in the log of facts."""

    log: str
    """Digest of the log's lineage: positions of another log say nothing."""
    position: int
    hash: Digest


class Extension(msgspec.Struct):
    """The fields that Interlock adds to the predicate."""

    version: str
    tree: Digest
    base: Digest
    evidence: str
    """The grade of the evidence."""
    gap: str = ""
    """The reason for no better grade."""
    checks: list[Check] = []
    changes: list[Change] = []
    fact: LogPlace | None = None


class Predicate(msgspec.Struct, rename="camel"):
    """The result of a run of tests, as in-toto has it."""

    result: str
    configuration: list[Described]
    interlock: Extension
    passed_tests: list[str] = []
    warned_tests: list[str] = []
    failed_tests: list[str] = []


class Statement(msgspec.Struct, rename="camel"):
    """An in-toto statement."""

    type: str = msgspec.field(name="_type")
    subject: list[Described]
    predicate_type: str
    predicate: Predicate


class Signature(msgspec.Struct):
    """A signature of an envelope, in base64."""

    sig: str


class Envelope(msgspec.Struct, rename="camel"):
    """A DSSE envelope: the statement in base64, and signatures."""

    payload_type: str
    payload: str
    signatures: list[Signature] = []


@dataclass(frozen=True, slots=True)
class Told:
    """A landing, as facts of the log tell it."""

    passed: f.CandidatePassed
    session: f.SessionOpened | None
    position: int
    """Place of the landing's fact in the log."""
    hash: str
    approved_by: tuple[str, ...] = ()
    reviewed_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """The knowledge of a landing besides the facts about its task."""

    version: str
    branch: str
    log: str
    evidence: Evidence | None
    prompt: str = ""
    """Digest of the prompt; empty: it was deleted."""
    outputs: Mapping[str, str] = field(default_factory=dict)
    """Digests of outputs of checks, by their path."""


def told(rows: Sequence[Recorded], commit: Commit) -> Told | None:
    """Return what the facts about a task say of a commit that landed; None if they name no test of it."""
    facts = [(row, row.fact) for row in rows]
    landed = next((row for row, fact in facts if _is_landing(fact, commit)), None)
    tests = (fact for _, fact in facts if isinstance(fact, f.CandidatePassed))
    passed = next((fact for fact in tests if fact.commit == commit), None)
    if landed is None or passed is None:
        return None
    before = [(row, fact) for row, fact in facts if row.seq < landed.seq]
    opened = [fact for _, fact in before if isinstance(fact, f.SessionOpened)]
    people = [
        row.actor.partition("@")[0]
        for row, fact in before
        if isinstance(fact, f.PermissionAnswered) and fact.allow and fact.attempt == passed.attempt
    ]
    reviewers = [
        row.actor.partition("@")[0]
        for row, fact in before
        if isinstance(fact, f.ReviewApproved) and _is_for(fact, passed)
    ]
    session = next((fact for fact in reversed(opened) if fact.attempt == passed.attempt), None)
    named = (tuple(dict.fromkeys(people)), tuple(dict.fromkeys(reviewers)))
    return Told(passed, session, landed.seq, landed.hash, *named)


def _is_for(approved: f.ReviewApproved, passed: f.CandidatePassed) -> bool:
    """Return True if the approval is for what this commit changes, as it is or on top of an older main."""
    is_same = (approved.digest, approved.work) == (passed.digest, passed.work)
    return approved.commit == passed.commit or is_same


def _is_landing(fact: f.Fact, commit: Commit) -> bool:
    return isinstance(fact, f.Landed | f.LandingSeen) and fact.commit == commit


Stated = tuple[Told, Known]


def statement(landings: Sequence[Stated], clean: Callable[[str], str]) -> bytes:
    """Write the statement about a commit as JSON: of one landing, or of several that are one commit.

    `clean` takes secrets out of commands."""
    (landing, known), made = landings[-1], landings[-1][0].passed
    results = {check.command: (check, own) for told, own in landings for check in told.passed.checks}
    checks = [_check(result, made.tree, own, clean) for result, own in results.values()]
    evidence = _weakest([own.evidence for _, own in landings])
    listed = {
        name: [check.command for check in checks if _result(check) == name]
        for name in ("PASSED", "WARNED", "FAILED")
    }
    is_verified = evidence is not None and evidence.is_verified
    worst = (
        "FAILED"
        if listed["FAILED"]
        else "PASSED"
        if is_verified and checks and not listed["WARNED"]
        else "WARNED"
    )
    extension = Extension(
        version=known.version,
        tree={"gitTree": made.tree},
        base={"gitCommit": made.base},
        evidence=evidence.grade if evidence else "",
        gap=(evidence.gap or "") if evidence else "",
        checks=checks,
        changes=[_change(told, own) for told, own in landings],
        fact=LogPlace(known.log, landing.position, {"sha256": landing.hash}),
    )
    predicate = Predicate(
        result=worst,
        configuration=[Described(check.command, check.seen) for check in checks],
        interlock=extension,
        passed_tests=listed["PASSED"],
        warned_tests=listed["WARNED"],
        failed_tests=listed["FAILED"],
    )
    subject = [Described(known.branch, {"gitCommit": made.commit})]
    return msgspec.json.encode(Statement(STATEMENT, subject, PREDICATE, predicate))


def _weakest(found: Sequence[Evidence | None]) -> Evidence | None:
    return next((each for each in found if each is None or not each.is_verified), found[0])


def _check(result: CheckResult, tree: Tree, known: Known, clean: Callable[[str], str]) -> Check:
    output = known.outputs.get(result.log, "")
    return Check(
        command=clean(result.command),
        exit_code=result.exit_code,
        timed_out=result.timed_out,
        red_on_base=result.red_on_base,
        seen={"gitTree": result.saw or tree},
        environment=result.environment,
        reused=result.reused,
        output={"sha256": output} if output else {},
    )


def _result(check: Check) -> str:
    if not check.is_excused:
        return "FAILED"
    return "WARNED" if check.red_on_base else "PASSED"


def _change(landing: Told, known: Known) -> Change:
    made, session = landing.passed, landing.session
    return Change(
        task=made.task,
        attempt=made.attempt,
        agent=session.agent if session else "",
        program=session.use if session else "",
        model=session.model if session else "",
        prompt={"sha256": known.prompt} if known.prompt else {},
        sandbox=session.sandbox if session else "",
        approved_by=list(landing.approved_by),
        reviewed_by=list(landing.reviewed_by),
    )


def signed_bytes(payload: bytes) -> bytes:
    """Return the bytes that a signature of an envelope covers: its type, its statement and their lengths."""
    return b"DSSEv1 %d %s %d %s" % (len(PAYLOAD), PAYLOAD.encode(), len(payload), payload)


def envelope(payload: bytes, signature: bytes) -> bytes:
    """Put a statement into an envelope, with a signature if there is one."""
    signatures = [Signature(base64.b64encode(signature).decode())] if signature else []
    text = Envelope(PAYLOAD, base64.b64encode(payload).decode(), signatures)
    return msgspec.json.encode(text) + b"\n"
