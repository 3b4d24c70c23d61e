"""Every reason is a code with fields, and has one sentence (D9)."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.model.outcome import CheckResult
from interlock.model.reason import Reason, Value, Why, said
from interlock.model.suite import Unable
from interlock.ui.words.checks import mend
from interlock.ui.words.reasons import WORDS, reason_object, reason_text

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "reasons.md"
SAID = said("exit 1")
COMMIT = "0123456789abcdef"


def of(code: Why, **fields: Value) -> Reason:
    return Reason(code, fields)


FORECAST = of(Why.FORECAST, seconds=120.0, success=0.8, cost_usd=0.02)
GOODPUT = of(Why.GOODPUT, agents=1, landed_per_hour=4.0, chance=0.8)
RESULTS = "4.0 landed an hour with 1 agent, 80% of attempts"
FIGURES = "$0.02 and 2m an attempt, 80% of which land"
SENTENCES: list[tuple[Reason, str]] = [
    (said("not wanted"), "not wanted"),
    (of(Why.ANSWER, question="Which port?"), "asks: Which port?"),
    (of(Why.NEEDS, tasks=("a", "b"), states=("running", "waiting")), "waits for a (running), b (waiting)"),
    (
        of(Why.NEEDS_FAILED, tasks=("a",), direct=True, fate="failed", cause=SAID),
        "blocked by a: it failed (exit 1)",
    ),
    (of(Why.NEED_LEAVES, tasks=("a", "undo-a")), "needs a, which undo-a undoes"),
    (of(Why.PAUSED), "a person paused this task"),
    (of(Why.HELD_BACK, task="a", cause=SAID), "held back: exit 1; `interlock unpause a` tries again"),
    (of(Why.ALL_PAUSED, cause=said("lunch")), "a person paused all new starts: lunch"),
    (
        of(Why.BUDGET, budget="day", unit="usd", limit=20.0, left=0.25, wanted=0.5),
        "the budget of the day is used up: $0.25 of $20.00 left, and a call may use $0.50",
    ),
    (
        of(Why.UNPRICED, model="tiny"),
        "the price of tiny is not known, so no money budget can limit it; "
        "give it a price in the setting `prices`, or limit tokens too",
    ),
    (
        of(Why.NO_PROGRESS, what="calls", count=12, call="bash ls", tokens=1500, cost_usd=0.02),
        "stopped: it went round in circles: 12 tool calls in a row brought nothing new "
        "(the last: bash ls); until then 1500 tokens, $0.02",
    ),
    (of(Why.NOT_SELECTED), "it is not among the tasks that this run was told to do"),
    (
        of(Why.MAIN_RED, command="make test", commit=COMMIT),
        "waits until main is green: `make test` fails there since 0123456789ab",
    ),
    (
        of(Why.MAIN_UNTRIED, commit=COMMIT),
        "another hand moved main to 0123456789ab; the checks run there first",
    ),
    (
        of(Why.CHECK, command="make test", exit_code=2),
        "`make test` fails on main, so nothing of it could land",
    ),
    (of(Why.BACKOFF, seconds=30.0, until=90.0, cause=SAID), "tries again in 30s: exit 1"),
    (of(Why.SLOTS, limit=2, tasks=("a", "b")), "all 2 slots are taken, by a, b"),
    (of(Why.ROLE_SLOTS, role="critic", limit=1, tasks=("a",)), "the one slot for a critic is taken, by a"),
    (
        of(Why.CLUTCH, category="docs", brake="goodput", tasks=("a",), cause=said("two conflicts")),
        "one agent works on docs, which is what the clutch allows now (goodput: two conflicts)",
    ),
    (
        of(Why.PROVIDER_CLOSED, providers=("x", "y"), tasks=(), until=90.0, cause=said("quota")),
        "x and y take nothing for now: quota",
    ),
    (of(Why.LEASE, lease="db", kind="uses", tasks=("a",)), "wants db (uses), held by a"),
    (
        of(Why.KEPT_FREE, lease="db", kind="uses", tasks=("a",)),
        "wants db (uses), kept free for the first in order, a",
    ),
    (
        of(Why.HELD_ALONE, tasks=("a",), path="src/db/x.py", glob="src/db/**"),
        "edited src/db/x.py, and a holds src/db/** alone; it lands after that",
    ),
    (
        of(Why.OVERLAP, path="src/x", tasks=("a",)),
        "would edit src/x together with a; waiting costs less than redoing it",
    ),
    (
        of(Why.LANE, place=7, phase="verify", tasks=("c", "d", "e", "f")),
        "place 7 in the lane to main, behind f, e, d, c and 2 more",
    ),
    (of(Why.BUILDS, tasks=("a", "b")), "its checks run early, on top of a, b (queued)"),
    (of(Why.BUILT, tasks=()), "its checks passed, on top of main; it waits for its turn"),
    (of(Why.LOOKED_UP), "its tested change may be on main already; that is being looked up"),
    (of(Why.STOPPING), "the run is stopping and starts nothing new"),
    (of(Why.NO_RUN), "no run is active"),
    (of(Why.READY), "ready"),
    (
        of(Why.RUNNING, phase="implement", attempt=1, seconds=60.0, agent="coder", doing="editing x"),
        "implement by coder, attempt 1, for 1m: editing x",
    ),
    (of(Why.DONE, attempts=1, cause=of(Why.LANDED, commit=COMMIT)), "done: landed as 0123456789ab"),
    (of(Why.FAILED, attempts=3, cause=SAID), "exit 1 (3 attempts)"),
    (of(Why.CANCELLED, attempts=1, cause=said("not wanted")), "not wanted"),
    (of(Why.REMOVED, attempts=0, cause=of(Why.NOT_IN_GRAPH)), "removed: no longer in the task graph"),
    (of(Why.GIVEN_UP), "it failed or was cancelled; `interlock retry TASK` starts it again"),
    (of(Why.CYCLE, tasks=("a", "b")), "its needs form a cycle"),
    (of(Why.NEED_MISSING, tasks=("a",)), "needs a, which is not in the graph"),
    (of(Why.NEED_GIVEN_UP, tasks=("a",)), "needs a, which failed or was cancelled"),
    (of(Why.NEED_NOT_SELECTED, tasks=("a",)), "needs a, which is not selected and has not landed"),
    (
        of(Why.NEED_BLOCKED, tasks=("b",), cause=of(Why.NEED_MISSING, tasks=("a",))),
        "blocked: needs b, which cannot run: needs a, which is not in the graph",
    ),
    (of(Why.QUESTION_ASKED), "its agent asked a question"),
    (of(Why.QUESTION_ANSWERED), "a person answered its question"),
    (
        of(Why.NOTHING_TO_CHANGE, on_main=False, checked=True),
        "nothing to change; its checks pass on main as it is",
    ),
    (of(Why.LANDED, commit=COMMIT), "landed as 0123456789ab"),
    (
        of(Why.LANDING_LOST, commit=COMMIT),
        "its commit 0123456789ab is no longer on main; `interlock cancel TASK` accepts that",
    ),
    (
        of(Why.UNDONE, tasks=("undo-a",), commit=COMMIT),
        "undone by undo-a; its commit 0123456789ab no longer counts",
    ),
    (
        of(Why.REOPENED, tasks=("undo-a",), commit=COMMIT, command="make test"),
        "undone by undo-a: `make test` failed on main since its commit 0123456789ab",
    ),
    (of(Why.LANDING_FOUND, commit=COMMIT), "landed as 0123456789ab, found on main"),
    (of(Why.MAIN_MOVED, commit=COMMIT), "main moved to 0123456789ab after the checks"),
    (of(Why.TOGETHER, tasks=("a", "b"), task="b"), "passed as one with a, to land as one merge"),
    (of(Why.NOT_TOGETHER, tasks=("a", "b"), task="b"), "does not land as one with a; checked without them"),
    (of(Why.RETRYING, cause=SAID), "exit 1; retrying"),
    (of(Why.RETRIED), "retried by a person"),
    (of(Why.RESET), "reset by a person"),
    (of(Why.BY_PERSON), "cancelled by a person"),
    (of(Why.NOT_IN_GRAPH), "no longer in the task graph"),
    (of(Why.HOLDER_GONE, holder="a/b/c/7/e/f"), "its holder (process 7 on a) is gone"),
    (
        of(Why.LOST_OFTEN, phase="implement", times=20, cause=said("killed")),
        "implement was lost 20 times in a row without any result (last: killed)",
    ),
    (of(Why.STOPPED), "stopped on request"),
    (
        of(Why.MAIN_IN_THE_WAY, command="make test", exit_code=2, unable=False),
        "`make test` exits 2 on main itself",
    ),
    (
        of(Why.PULL_REQUEST, number=12, url="https://github.com/o/n/pull/12", standing="approved"),
        "pull request #12 is open, it is approved: https://github.com/o/n/pull/12",
    ),
    (
        of(Why.REVIEW, cause=of(Why.REVIEW_REQUIRED)),
        "waits for review: a person approves its change before it lands",
    ),
    (of(Why.REVIEW_REQUIRED), "a person approves its change before it lands"),
    (of(Why.REVIEW_UNVERIFIED, gap="no-checks"), "its change is not verified, so a person looks at it"),
    (of(Why.REVIEW_LARGE, lines=120, limit=50), "it adds and removes 120 lines, more than 50 (review_lines)"),
    (of(Why.REVIEW_BINARY), "it changes a file that is no text, or is too large to count"),
    (of(Why.REVIEW_FILE, path="src/db/x.sql"), "it changes src/db/x.sql, which review_files names"),
    (of(Why.REVIEW_STEERING, paths=("Makefile",)), "it edits how its checks run: Makefile"),
    (of(Why.APPROVED, actor="grace"), "approved by grace"),
    (
        of(Why.REJECTED, actor="grace", text="keep the old name"),
        "grace rejected the change: keep the old name",
    ),
    (of(Why.PULL_REQUEST_CLOSED, number=12), "pull request #12 was closed unmerged"),
    (
        of(Why.PULL_REQUEST_OUTDATED, number=12, standing="conflicts"),
        "pull request #12 conflicts with main",
    ),
    (
        of(Why.CHANGES_REQUESTED, author="grace", number=12),
        "grace asks for changes of pull request #12",
    ),
    (
        of(Why.CHECKOUT_IN_THE_WAY, text="this change edits a.py; `git stash` lets it land"),
        "this change edits a.py; `git stash` lets it land",
    ),
    (
        of(Why.FORGE_FAILED, command="gh pr create", text="HTTP 401"),
        "`gh pr create` failed: HTTP 401",
    ),
    (
        of(Why.BRANCH_TAKEN, upstream="origin/interlock/a"),
        "origin/interlock/a has commits that Interlock did not push; merge or delete that branch",
    ),
    (
        of(Why.REMOTE_AHEAD, upstream="origin/main", branch="main", text="uncommitted changes"),
        "origin/main has commits that main cannot take (uncommitted changes)",
    ),
    (
        of(Why.NOT_PUSHED, upstream="origin/main", branch="main"),
        "main has commits that origin/main does not have, and nothing untested is pushed; push them yourself",
    ),
    (
        of(Why.PUSH_REFUSED, upstream="origin/main", text="remote: error: protected"),
        "origin/main refuses the push: remote: error: protected",
    ),
    (
        of(Why.REMOTE_UNREACHABLE, upstream="origin/main", text="fatal: timeout"),
        "origin/main cannot be reached: fatal: timeout",
    ),
    (
        of(
            Why.CHECK_FAILED,
            command="make",
            exit_code=2,
            newly_failing=("t1",),
            newly_failing_count=4,
            others=1,
        ),
        "`make` fails tests that do not fail on main (t1 and 3 more) "
        "on the change merged onto main (and 1 more)",
    ),
    (
        of(Why.FAILS_TOGETHER, command="make", task="b", tasks=("a",), commits=("0123",), is_known=True),
        "`make` passes without a and without b, and fails with both",
    ),
    (of(Why.CONFLICT, paths=("a.py", "b.py")), "conflicts with changes that landed meanwhile in a.py, b.py"),
    (of(Why.UNCHANGED, on_main=True, cause=SAID), "its change is already on main, and exit 1"),
    (of(Why.NO_RESULT, seconds=90.0), "no result after 90 s"),
    (
        of(Why.LEAK, places=("a.py:2 (GitHub token)",), count=2),
        "it would put a secret on main: a.py:2 (GitHub token) and 1 more; read it from the environment "
        "or a file that git ignores. A person can allow a file with land_files",
    ),
    (of(Why.NONE_LANDS, files=("a.log (a log)",)), "none of its changes may land: a.log (a log)"),
    (
        of(Why.RESERVED, paths=("interlock.toml",)),
        "it changed interlock.toml, which controls what agents may do or what your machine runs; "
        "only a person may change that",
    ),
    (
        of(Why.SUBMODULE, paths=("libs/a",)),
        "it moved the submodule libs/a; only a person may do that, "
        "because an agent cannot publish commits of a submodule",
    ),
    (
        of(Why.LANDED_AGAIN, tasks=("a",)),
        "a landed again after this was begun: it would bring the first change back on top of the second",
    ),
    (of(Why.EXITED, exit_code=3, text="no"), 'the agent exited with status 3: "no"'),
    (of(Why.ENDED_SILENTLY, signal=9), "the agent was killed by signal 9 without saying how it went"),
    (of(Why.ENDED_BADLY, exit_code=1), "the agent exited with status 1 with an error"),
    (of(Why.EXIT_DISAGREES, exit_code=1), "it said that all went well, and exited with status 1"),
    (of(Why.TOOK_TOO_LONG, seconds=60.0), "stopped: it took longer than 60 s"),
    (of(Why.WROTE_NOTHING, seconds=60.0), "stopped: it wrote nothing for 60 s"),
    (of(Why.TOO_MUCH_OUTPUT, bytes=2097152), "stopped: it wrote more than 2 MiB of output"),
    (of(Why.MEMORY_LIMIT), "killed: it took more memory than memory_limit_bytes allows"),
    (
        of(Why.DISK_FULL, cause=said("the agent exited 2")),
        "the disk is full: the agent exited 2; free some disk space",
    ),
    (of(Why.DISK_LIMIT), "stopped: it has more on the disk than disk_limit_bytes allows"),
    (of(Why.LEASE_ENDED), "stopped: its lease was not renewed in time"),
    (
        of(Why.MODEL_SILENT, text="no answer for 300 s", cause=of(Why.WROTE_NOTHING, seconds=60.0)),
        "stopped: it wrote nothing for 60 s: no answer for 300 s",
    ),
    (of(Why.NO_CHANGE, text="all is well"), 'the agent ended well but changed nothing: "all is well"'),
    (of(Why.NOT_ALLOWED, text="use Bash: make"), "it was not allowed to use Bash: make"),
    (of(Why.HOOK_OBJECTED, text="hands off"), "a hook of yours kept it from starting: hands off"),
    (of(Why.NOT_RUN, agent="bot", text="program not found: bot"), 'agent "bot": program not found: bot'),
    (
        of(Why.CHECK_PROGRAM, agent="bot", relative=True),
        "check agents.bot.run in task-graph.yaml, and that the program is committed: "
        "a workspace holds what git knows",
    ),
    (
        of(Why.NOT_IMPORTED, text="no space left", refused=False, path="/w/a"),
        "its work cannot be imported: no space left; its workspace is kept at /w/a",
    ),
    (of(Why.NOT_REMOVED, path="/w/a", text="busy"), "its workspace /w/a could not be removed: busy"),
    (
        of(Why.NOT_TORN_DOWN, command="make down", how="exited 2", text="no such container"),
        "its teardown `make down` exited 2: no such container",
    ),
    (of(Why.LOG_IN, use="codex"), "log in with codex again, as the user who runs Interlock"),
    (of(Why.GET_KEY, variable="OPENAI_API_KEY", agent="bot"), "set OPENAI_API_KEY to a valid key"),
    (
        of(Why.COUNTS_DIFFER, input=900, output=50, seen_input=1000, seen_output=50),
        "it counted 900/50 tokens, the proxy 1000/50",
    ),
    (
        of(Why.NOTED, cause=SAID, note=of(Why.LOG_IN, use="codex")),
        "exit 1; log in with codex again, as the user who runs Interlock",
    ),
    (
        of(Why.LEASE_TIMEOUT, cause=of(Why.LEASE, lease="db", kind="uses", tasks=("a",))),
        "its lease_timeout is over: wants db (uses), held by a",
    ),
    (of(Why.HOPELESS, cause=SAID), "no attempt can succeed: exit 1"),
    (
        of(Why.MODEL_UNAVAILABLE, times=12, cause=SAID),
        "the model was unavailable 12 times in a row (last: exit 1)",
    ),
    (
        of(Why.SAME_FAILURE, phase="verify", cause=SAID),
        "verify failed twice in a row in the same way: exit 1",
    ),
    (of(Why.RETRIES_USED, times=2, retries=1, cause=SAID), "exit 1 (failed 2 times; 1 retry was allowed)"),
    (
        of(Why.ATTEMPTS_USED, times=24, limit=24, cause=SAID),
        "it has had 24 attempts, however they ended, and may have 24 (last: exit 1)",
    ),
    (
        of(Why.NEXT_IN_ORDER, priority=2, seconds_behind=60.0, tasks=("a",), story="login"),
        "next in order (priority 2, 1m of work behind it), "
        "a little early: a of the same story (login) has just ended",
    ),
    (
        of(
            Why.CHEAP_OVERLAP,
            tasks=("a",),
            rework_seconds=60.0,
            seconds=120.0,
            conflict=0.5,
            rework=1.0,
            theta=0.55,
            overlaps=3,
        ),
        "may overlap with a, but a slot is free and little rework is expected: 1m for 2m of work "
        "(50% chance of a conflict, which costs 1.0 times the work; learned from 3 overlaps)",
    ),
    (of(Why.NEXT_IN_LANE), "next in the lane"),
    (of(Why.TESTED_EARLY, tasks=("a",)), "tested early, on top of a (queued)"),
    (
        of(Why.CONFLICT_IN_QUEUE, paths=("a.py", "b.py")),
        "conflicts with a change before it in the queue in a.py, b.py",
    ),
    (of(Why.MAY_LAND, verified=True), "passed its checks on top of main"),
    (of(Why.FIRST_CHOICE, count=2), "the first choice of 2"),
    (of(Why.BEST_CHOICE, count=2, cause=FORECAST), f"the best of 2 by earlier work: {FIGURES}"),
    (FORECAST, FIGURES),
    (of(Why.SAME_STORY, tasks=("a",)), "it has just worked on a of the same story"),
    (of(Why.CUT_OFF), "its session was cut off, and goes on"),
    (
        of(Why.MODEL_CLOSED, agent="quick", seconds=60.0, cause=said("quota")),
        "the model of quick is closed for another 1m (quota)",
    ),
    (of(Why.AGENT_FAILED, agent="quick", attempt=1, cause=SAID), "quick failed at it in attempt 1 (exit 1)"),
    (
        of(Why.TOO_HARD, agent="quick", complexity="low"),
        "it looks too hard for quick, which takes low complexity at most",
    ),
    (of(Why.MAX_PARALLEL, limit=3, origin="interlock.toml"), "max_parallel is 3 (interlock.toml)"),
    (
        of(Why.AUTO, origin="default", room=8),
        "max_parallel is not set, and earlier runs have landed changes: auto, "
        "the clutch decides for each kind of work, and the machine has room for 8",
    ),
    (
        of(Why.GOODPUT_OFF, cause=of(Why.MAX_PARALLEL, limit=3, origin="interlock.toml")),
        "max_parallel is 3 (interlock.toml); the goodput brake is off",
    ),
    (
        of(Why.NO_RESULTS, agents=3),
        "no results of this kind of work yet: starting with 3 agents, the default of max_parallel",
    ),
    (
        of(Why.DID_BEST, agents=1, landed_per_hour=4.0, chance=0.8),
        f"earlier runs did best with 1 agent: {RESULTS}",
    ),
    (
        of(Why.DID_BEST_ELSEWHERE, agents=8),
        "other projects did best with 8 agents; starting with half of that",
    ),
    (of(Why.AS_LEARNED), "as learned in earlier runs"),
    (
        of(Why.PAYS, landed=2, troubled=0, agents=1, landed_per_hour=4.0, chance=0.8),
        f"2 landed without trouble with 1 agent; {RESULTS}",
    ),
    (
        of(Why.DOES_NOT_PAY, agents=2, landed_per_hour=3.0, chance=0.3, landed=1, troubled=2, cause=GOODPUT),
        "2 of 3 ended in conflicts or red checks; 3.0 landed an hour with 2 agents, 30% of attempts, "
        f"not worth the extra agents: {RESULTS}",
    ),
    (GOODPUT, RESULTS),
    (
        of(Why.HOST_BUSY, cause=of(Why.STALLED, resource="processor", share=0.97, seconds=60)),
        "programs waited for a processor 97% of the last minute: no more at once until that improves",
    ),
    (
        of(Why.DISK_LOW, free_bytes=2**30, reserve_bytes=2**31),
        "only 1.0 GiB of the disk are free (reserve: 2.0 GiB); `interlock gc` makes room",
    ),
    (
        of(Why.MEMORY_LOW, free_bytes=2**30, total_bytes=2**34),
        "only 1.0 GiB of 16.0 GiB of memory are free",
    ),
    (
        of(Why.STALLED, resource="memory", share=0.4, seconds=10),
        "programs waited for memory 40% of the last 10 s",
    ),
    (
        of(Why.MEMORY_FOR, free_bytes=2**32, agents=2),
        "4.0 GiB of memory are free, enough for 2 agents more",
    ),
    (of(Why.HOST_CALM, seconds=10.0), "room for 10 s: one more agent"),
    (of(Why.NOTHING_KNOWN), "nothing is known yet"),
    (of(Why.WENT_WELL, at_once=4), "4 at once went well"),
    (of(Why.NO_FASTER, at_once=4, now_at_once=3), "4 at once brought no more than 3"),
    (
        of(Why.REFUSED, at_once=4, now_at_once=2, cause=said("429 Too Many Requests")),
        "429 Too Many Requests; from 4 at once to 2",
    ),
    (of(Why.BROKE, times=5, cause=said("HTTP 502")), "5 calls in a row broke: HTTP 502"),
    (of(Why.REACHED), "it can be reached again"),
    (of(Why.QUIET_HOURS, cause=said("quota used up")), "quota used up; its work goes on after quiet hours"),
    (of(Why.QUOTA_BACK), "quiet hours do not hold it back any more"),
    (of(Why.DECLARED), "declared"),
    (of(Why.FROM_PATHS, paths=("docs/**", "a.md")), "inferred from docs/**, a.md"),
    (of(Why.FROM_WORD, word="fix"), "inferred from the word `fix` in its goal"),
    (of(Why.KIND_UNKNOWN), "nothing says what kind of work it is"),
    (of(Why.TASK_SAYS), "the task says so"),
    (of(Why.GOAL_NAMES), "the goal names it"),
    (of(Why.CHANGES_WITH, path="a.py", times=3, commits=4), "changes with a.py in 3 of 4 commits"),
    (of(Why.EDITED_BEFORE, attempt=1), "attempt 1 edited it"),
    (of(Why.AT_MOST, agents=4), "does not open further: at most 4 agents may work at once"),
    (
        of(Why.DID_WORSE, agents=5, landed_per_hour=4.0, chance=0.8),
        "5 did worse (4.0 landed an hour, 80% of attempts); tried again when that is long ago",
    ),
    (
        of(Why.OPENS_AFTER, agents=4, landings=2, at_work=3),
        "opens to 4 after 2 more landings without trouble, made with 3 agents at work",
    ),
    (of(Why.OPENS_NEXT, agents=4), "opens to 4 as soon as another task of this kind waits"),
    (of(Why.AT_REST), "at rest"),
    (of(Why.RUN_STOPPED), "stopped"),
    (
        of(Why.UNKNOWN_FACT, seq=7, kind="TaskSplit", needs="0.9.0", version="0.2.0", what=""),
        "fact 7 (TaskSplit) needs Interlock 0.9.0, and this is 0.2.0",
    ),
    (of(Why.MAIN_FOUND), "found there"),
    (of(Why.UPSTREAM_MERGED, upstream="origin/main"), "merged origin/main"),
    (of(Why.TASK_LANDED, tasks=("a",)), "a landed"),
    (
        of(Why.SCOPE_HELD, tasks=("a",), path="src/x"),
        "a holds src/x alone until its change has landed",
    ),
    (
        of(Why.SCOPE_RESERVED, paths=("interlock.toml",)),
        "only a person may change interlock.toml: it controls agents or the machine",
    ),
    (
        of(Why.SCOPE_EXPECTED, tasks=("a",), path="src/x"),
        "a is expected to edit src/x, and this run is strict",
    ),
    (of(Why.SCOPE_SHARED, tasks=("a",)), "a may edit it too, and both changes will be merged"),
    (of(Why.SCOPE_FREE), "no other task works on it"),
    (of(Why.CHECK_GONE), "no check that was red is still one of its checks"),
    (
        of(Why.NO_FIX_SEEN),
        "the change that landed and the one that failed are the same, or one of them is gone",
    ),
    (
        of(Why.MISLEADS, with_landed=0.0, with_tried=3.0, without_landed=2.0, without_tried=2.0, harm=0.93),
        "it misleads: 0 of 3 attempts landed with it, 2 of 2 without, so it does harm with probability 0.93",
    ),
    (
        of(Why.NO_HELP, with_landed=6.0, with_tried=12.0, without_landed=3.0, without_tried=6.0),
        "it makes no difference: 6 of 12 attempts landed with it, 3 of 6 without",
    ),
    (
        of(Why.CROWDED_OUT, limit=200),
        "there are more than 200 lessons, and this is one of the least proven",
    ),
    (of(Why.RETIRED_BY, actor="anna"), "retired by anna"),
]


@pytest.mark.parametrize(("reason", "text"), SENTENCES, ids=lambda each: getattr(each, "code", ""))
def test_the_sentence_of_a_reason_is_made_from_its_fields_and_is_in_the_docs(
    reason: Reason, text: str
) -> None:
    assert reason_text(reason) == text
    fields = ", ".join(f"`{name}`" for name in reason.fields)
    assert f"\n| `{reason.code}` | {fields} | {text} |\n" in PAGE.read_text()


def test_every_code_has_words_and_an_example() -> None:
    assert WORDS.keys() == set(Why) == {reason.code for reason, _ in SENTENCES}
    assert set(re.findall(r"^\| `([\w-]+)`", PAGE.read_text(), re.MULTILINE)) == set(Why)


def values() -> st.SearchStrategy[Value]:
    return st.text(max_size=5) | st.integers() | st.floats() | st.booleans() | st.just(("a", "b"))


NAMES = sorted({name for reason, _ in SENTENCES for name in reason.fields})


@given(
    st.sampled_from([*map(str, Why), "of a newer version"]),
    st.dictionaries(st.sampled_from(NAMES), values(), max_size=5),
    st.integers(0, 30),
)
def test_a_reason_of_a_forged_or_newer_log_never_ends_a_command(
    code: str, fields: dict[str, Value], depth: int
) -> None:
    reason = Reason(code, fields)
    for _ in range(depth):
        reason = Reason(code, {**fields, "cause": reason})
    assert isinstance(reason_text(reason), str)
    assert reason_object(reason)["code"] == code


def test_a_code_that_is_not_known_is_shown_with_its_fields() -> None:
    later = Reason("too-hot", {"degrees": 90, "cause": said("no fan")})
    assert reason_text(later) == "too-hot (degrees=90): no fan"


def test_every_text_of_a_reason_can_be_cleaned() -> None:
    refused = of(Why.REFUSED, at_once=4, now_at_once=2, cause=said("key sk-1 is over its limit"))
    cleaned = refused.map_text(lambda text: text.replace("sk-1", "***"))
    assert reason_text(cleaned) == "key *** is over its limit; from 4 at once to 2"


def test_a_set_up_that_needs_the_network_is_no_fault_of_the_lock_file() -> None:
    failed = CheckResult("pytest", 2, tail="error: dns error: failed to lookup address", unable=Unable.SETUP)
    assert "`setup_hosts`" in mend(failed)
    assert "lock file" in mend(replace(failed, tail="error: the lock file is out of date"))
