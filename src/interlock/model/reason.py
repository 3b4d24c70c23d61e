"""Reasons as data: a code and its fields. Sentences are made from them in `ui/words`, and nowhere else.

Rules:
1. One code has one sentence. A new code adds its words to `ui/words` (`model/failure_words.py` if agents read
   them), and its line to `docs/reference/reasons.md`.
2. A field is a value that a program can use: names, numbers, another reason. It holds text where a person, a
   program or an agent said it, and for trouble outside a task (`SAID`).
3. Logs hold reasons. A reader gets an empty value for a field that is missing or of another type, and shows
   a code that it does not know as it is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from interlock.model.numbers import bounded
from interlock.model.task import TaskId


class Why(StrEnum):
    """The codes."""

    SAID = "said"
    """`text` is what a person, a program or an agent said, or the sentence of an older version."""

    ANSWER = "answer"
    NEEDS = "needs"
    NEEDS_FAILED = "needs-failed"
    NEED_LEAVES = "need-leaves"
    PAUSED = "paused"
    HELD_BACK = "held-back"
    ALL_PAUSED = "all-paused"
    NOT_SELECTED = "not-selected"
    MAIN_RED = "main-red"
    MAIN_UNTRIED = "main-untried"
    CHECK = "check"
    BACKOFF = "backoff"
    SLOTS = "slots"
    ROLE_SLOTS = "role-slots"
    CLUTCH = "clutch"
    PROVIDER_CLOSED = "provider-closed"
    LEASE = "lease"
    KEPT_FREE = "kept-free"
    HELD_ALONE = "held-alone"
    OVERLAP = "overlap"
    LANE = "lane"
    BUILDS = "builds"
    BUILT = "built"
    LOOKED_UP = "looked-up"
    STOPPING = "stopping"
    NO_RUN = "no-run"
    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REMOVED = "removed"

    GIVEN_UP = "given-up"
    CYCLE = "cycle"
    NEED_MISSING = "need-missing"
    NEED_GIVEN_UP = "need-given-up"
    NEED_NOT_SELECTED = "need-not-selected"
    NEED_BLOCKED = "need-blocked"

    QUESTION_ASKED = "question-asked"
    QUESTION_ANSWERED = "question-answered"
    NOTHING_TO_CHANGE = "nothing-to-change"
    LANDED = "landed"
    LANDING_LOST = "landing-lost"
    UNDONE = "undone"
    REOPENED = "reopened"
    LANDING_FOUND = "landing-found"
    MAIN_MOVED = "main-moved"
    RETRYING = "retrying"
    RETRIED = "retried"
    RESET = "reset"
    BY_PERSON = "by-person"
    NOT_IN_GRAPH = "not-in-graph"

    HOLDER_GONE = "holder-gone"
    LOST_OFTEN = "lost-often"
    STOPPED = "stopped"
    MAIN_IN_THE_WAY = "main-in-the-way"
    REVIEW = "review"
    REVIEW_REQUIRED = "review-required"
    REVIEW_UNVERIFIED = "review-unverified"
    REVIEW_LARGE = "review-large"
    REVIEW_BINARY = "review-binary"
    REVIEW_FILE = "review-file"
    REVIEW_STEERING = "review-steering"
    APPROVED = "approved"
    REJECTED = "rejected"
    PULL_REQUEST = "pull-request"
    PULL_REQUEST_CLOSED = "pull-request-closed"
    PULL_REQUEST_OUTDATED = "pull-request-outdated"
    CHANGES_REQUESTED = "changes-requested"
    FORGE_FAILED = "forge-failed"
    CHECKOUT_IN_THE_WAY = "checkout-in-the-way"
    BRANCH_TAKEN = "branch-taken"
    REMOTE_AHEAD = "remote-ahead"
    NOT_PUSHED = "not-pushed"
    PUSH_REFUSED = "push-refused"
    REMOTE_UNREACHABLE = "remote-unreachable"

    CHECK_FAILED = "check-failed"
    FAILS_TOGETHER = "fails-together"
    CONFLICT = "conflict"
    UNCHANGED = "unchanged"
    NO_RESULT = "no-result"
    LEAK = "leak"
    NONE_LANDS = "none-lands"
    RESERVED = "reserved"
    SUBMODULE = "submodule"
    LANDED_AGAIN = "landed-again"
    EXITED = "exited"
    ENDED_SILENTLY = "ended-silently"
    ENDED_BADLY = "ended-badly"
    EXIT_DISAGREES = "exit-disagrees"
    TOOK_TOO_LONG = "took-too-long"
    WROTE_NOTHING = "wrote-nothing"
    NO_PROGRESS = "no-progress"
    TOO_MUCH_OUTPUT = "too-much-output"
    MEMORY_LIMIT = "memory-limit"
    DISK_LIMIT = "disk-limit"
    DISK_FULL = "disk-full"
    LEASE_ENDED = "lease-ended"
    MODEL_SILENT = "model-silent"
    NO_CHANGE = "no-change"
    NOT_ALLOWED = "not-allowed"
    HOOK_OBJECTED = "hook-objected"
    NOT_RUN = "not-run"
    CHECK_PROGRAM = "check-program"
    NOT_IMPORTED = "not-imported"
    NOT_REMOVED = "not-removed"
    NOT_TORN_DOWN = "not-torn-down"
    LOG_IN = "log-in"
    GET_KEY = "get-key"
    COUNTS_DIFFER = "counts-differ"
    NOTED = "noted"

    LEASE_TIMEOUT = "lease-timeout"
    HOPELESS = "hopeless"
    MODEL_UNAVAILABLE = "model-unavailable"
    SAME_FAILURE = "same-failure"
    RETRIES_USED = "retries-used"
    ATTEMPTS_USED = "attempts-used"

    NEXT_IN_ORDER = "next-in-order"
    CHEAP_OVERLAP = "cheap-overlap"
    NEXT_IN_LANE = "next-in-lane"
    TESTED_EARLY = "tested-early"
    TOGETHER = "together"
    NOT_TOGETHER = "not-together"
    CONFLICT_IN_QUEUE = "conflict-in-queue"
    MAY_LAND = "may-land"
    FIRST_CHOICE = "first-choice"
    BEST_CHOICE = "best-choice"
    FORECAST = "forecast"
    SAME_STORY = "same-story"
    CUT_OFF = "cut-off"
    MODEL_CLOSED = "model-closed"
    AGENT_FAILED = "agent-failed"
    TOO_HARD = "too-hard"

    BUDGET = "budget"
    UNPRICED = "unpriced"
    MAX_PARALLEL = "max-parallel"
    AUTO = "auto"
    GOODPUT_OFF = "goodput-off"
    NO_RESULTS = "no-results"
    DID_BEST = "did-best"
    DID_BEST_ELSEWHERE = "did-best-elsewhere"
    AS_LEARNED = "as-learned"
    PAYS = "pays"
    DOES_NOT_PAY = "does-not-pay"
    GOODPUT = "goodput"
    HOST_BUSY = "host-busy"
    MEMORY_LOW = "memory-low"
    DISK_LOW = "disk-low"
    STALLED = "stalled"
    MEMORY_FOR = "memory-for"
    HOST_CALM = "host-calm"
    NOTHING_KNOWN = "nothing-known"
    WENT_WELL = "went-well"
    NO_FASTER = "no-faster"
    REFUSED = "refused"
    BROKE = "broke"
    REACHED = "reached"
    QUIET_HOURS = "quiet-hours"
    QUOTA_BACK = "quota-back"

    DECLARED = "declared"
    FROM_PATHS = "from-paths"
    FROM_WORD = "from-word"
    KIND_UNKNOWN = "kind-unknown"
    TASK_SAYS = "task-says"
    GOAL_NAMES = "goal-names"
    CHANGES_WITH = "changes-with"
    EDITED_BEFORE = "edited-before"

    AT_MOST = "at-most"
    DID_WORSE = "did-worse"
    OPENS_AFTER = "opens-after"
    OPENS_NEXT = "opens-next"

    AT_REST = "at-rest"
    RUN_STOPPED = "run-stopped"
    UNKNOWN_FACT = "unknown-fact"
    MAIN_FOUND = "main-found"
    UPSTREAM_MERGED = "upstream-merged"
    TASK_LANDED = "task-landed"

    SCOPE_HELD = "scope-held"
    SCOPE_RESERVED = "scope-reserved"
    SCOPE_EXPECTED = "scope-expected"
    SCOPE_SHARED = "scope-shared"
    SCOPE_FREE = "scope-free"

    CHECK_GONE = "check-gone"
    NO_FIX_SEEN = "no-fix-seen"
    MISLEADS = "misleads"
    NO_HELP = "no-help"
    CROWDED_OUT = "crowded-out"
    RETIRED_BY = "retired-by"


LEASES = (Why.LEASE, Why.KEPT_FREE, Why.HELD_ALONE)
"""Codes of a task that waits for what another one holds: `lease_timeout` limits that time."""

MISSING = "missing"
NOT_SELECTED = "not-selected"
"""The `fate` of a need that is not over, and for which a task waits in vain."""

Value: TypeAlias = "str | int | float | bool | tuple[str, ...] | Reason"


@dataclass(frozen=True, slots=True)
class Reason:
    """One cause."""

    code: str
    """A `Why`, or the code of a newer version."""
    fields: Mapping[str, Value] = field(default_factory=dict)

    @property
    def tasks(self) -> tuple[TaskId, ...]:
        return tuple(map(TaskId, self.names("tasks")))

    @property
    def until(self) -> float | None:
        """Database time at which it ends by itself."""
        return self.number("until") if "until" in self.fields else None

    @property
    def cause(self) -> "Reason | None":
        found = self.fields.get("cause")
        return found if isinstance(found, Reason) else None

    def text(self, name: str) -> str:
        found = self.fields.get(name, "")
        return "" if isinstance(found, (Reason, tuple)) else str(found)

    def number(self, name: str) -> float:
        found = self.fields.get(name, 0)
        return bounded(found) if isinstance(found, (int, float)) else 0

    def names(self, name: str) -> tuple[str, ...]:
        found = self.fields.get(name, ())
        return found if isinstance(found, tuple) else ()

    def map_text(self, change: Callable[[str], str]) -> "Reason":
        """Return it with each text changed, also those of the reasons behind it."""
        fields: dict[str, Value] = {}
        for name, value in self.fields.items():
            if isinstance(value, Reason):
                fields[name] = value.map_text(change)
            else:
                fields[name] = change(value) if isinstance(value, str) else value
        return Reason(self.code, fields)


def said(text: str) -> Reason:
    return Reason(Why.SAID, {"text": text})
