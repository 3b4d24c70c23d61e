"""A log in which every text that agents, programs and graphs can fill is hostile."""

import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from interlock.events import facts as f
from interlock.events.facts import Fact
from interlock.model.outcome import CheckResult, ErrorClass
from interlock.model.reason import Reason, said
from interlock.model.session import Event, EventKind
from interlock.model.task import Agent, Commit, Origin, OriginKind, Task, TaskId, Tree
from interlock.model.usage import Usage
from tests.ui.conftest import Lab, git
from tests.ui.test_serve_hostile import HOSTILE

TEXTS = (
    "https://evil.example/\u202egnp.exe",
    *HOSTILE,
    "<script src=https://evil.example/x.js></script>",
    "<object data=https://evil.example/x></object><embed src=//evil.example>",
    "https://evil.example/\u202egnp.exe javascript:alert(1) vbscript:alert(1)",
    "{{7*7}} <%= 7*7 %> #{7*7} __proto__ constructor",
    '"}],"cursor":"0-0"}\n\nid: 9\nevent: change\ndata: {"tasks":[]}',
    "a\u00adb\u180ec\ufff9d\U000e0041e",
    "\ud800",
    "W" * 3_000,
    "a/" * 800,
    "\U0001f469\u200d\U0001f4bb " * 20,
)
ALL = "\n".join(TEXTS)
KEPT_NAMES = {
    *(
        "phase",
        "holder",
        "run",
        "use",
        "wire",
        "permissions",
        "pipeline",
        "review",
        "red_main",
        "on_red_main",
    ),
    *("id", "mode", "standing", "digest", "role", "complexity", "code", "radar", "brake", "branch"),
}
"""Words of Interlock's own, and names of a run or a claim."""
KEPT_TYPES = (TaskId, Commit, Tree)
USAGE = Usage(calls=3, input_tokens=1_000, output_tokens=200, cost_usd=0.5)


def hostile(value: Any, hint: Any = None, name: str = "") -> Any:  # Any: a field of any type
    """The value with every free text replaced, also in what is in it."""
    if hint in KEPT_TYPES or name in KEPT_NAMES:
        return value
    if isinstance(value, Reason) or (value is None and name == "why"):
        return said(ALL)
    if type(value) is str:
        return ALL
    if isinstance(value, tuple):
        inner = next((each for each in get_args(hint) if each is not Ellipsis), None)
        if not value:
            return (ALL,) if inner is str else ()
        return tuple(hostile(each, inner) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        hints = get_type_hints(type(value))
        found = {each.name: getattr(value, each.name) for each in fields(value)}
        return type(value)(**{key: hostile(part, hints[key], key) for key, part in found.items()})
    return value


def fill(lab: Lab) -> None:
    """A run with a task in each state, all that is said in it hostile, and files of that kind."""
    base, made = _hostile_change(lab.root)
    for name in (
        "asks",
        "leave",
        "looked",
        "failed",
        "landed",
        "busy",
        "late",
        "waits",
        "ended",
        "other",
        "pulled",
    ):
        agent = Agent("coder", "claude-code", ("./agent.sh",), args=("x",), model="m")
        needs = (TaskId("failed"),) if name == "waits" else ()
        spec = Task(TaskId(name), "goal", agent, needs, done_when=("make",), story="s", category="c")
        _write(lab, f.TaskAccepted(spec, Origin(OriginKind.PERSON, "agent")))
    run = f.RunStarted("r", "h", 1, 9, environment="e", radar="ask", on_red_main="wait")
    lab.take_charge(hostile(run), seconds=3_600)
    _write(lab, f.MainSeen("main", base, Tree("t" * 40), said("x")), f.Paused(None, "why"))
    _asked(lab)
    _changed(lab, base, made)
    _ended(lab, base)
    _around(lab, base)
    for name in ("asks", "leave", "looked", "failed", "landed", "busy"):
        _files(lab.root / ".git/interlock/logs" / name)


def _write(lab: Lab, *facts: Fact) -> None:
    lab.write(*(hostile(fact) for fact in facts))


def _start(lab: Lab, name: str, phase: str = "implement") -> tuple[TaskId, int, str, int]:
    claim = lab.start(name, phase=phase, why=ALL)
    return TaskId(name), 1, phase, claim.epoch


def _asked(lab: Lab) -> None:
    """One asks a question; one asks for permission, for paths, and proposes; people talk to it."""
    _write(lab, f.QuestionAsked(*_start(lab, "asks"), text="q", message="m", usage=USAGE))
    here = _start(lab, "leave")
    _write(
        lab,
        f.SessionOpened(*here, session="s", agent="a", use="claude-code", model="m", sandbox="x"),
        f.PermissionAsked(*here, call="c", tool="Bash", text="rm"),
        f.ScopeRequested(*here, paths=("a",), why="w"),
        f.ScopeAnswered(here[0], 1, ("a",), granted=False, why=said("no")),
        f.TaskProposed(*here, id="more", goal="g", needs=("asks",), touches=("a",), done_when=("make",)),
        f.MessageSaid(here[0], "hello"),
    )


def _changed(lab: Lab, base: Commit, made: Commit) -> None:
    """One waits for review, one has landed, and one has a change on its way."""
    # Any: fields of several types.
    for name in ("looked", "landed", "pulled", "late"):
        here = _start(lab, name)
        work: dict[str, Any] = {
            "base": base,
            "commit": made,
            "touched": ("a",),
            "summary": "s",
            "usage": USAGE,
        }
        _write(lab, f.WorkFinished(*here, seconds=2.0, **work), f.NotesSaved(here[0], 1, "r", "s", "p"))
        lab.release(f"task:{name}")
        if name == "late":
            break
        here, checks = _start(lab, name, "verify"), (CheckResult("make", 0, 1.5, tail="t", log="l"),)
        passed = f.CandidatePassed(*here, base, made, Tree("t" * 40), made, checks, digest="d" * 40)
        _write(lab, passed)
        lab.release(f"task:{name}")
        here = _start(lab, name, "land")
        if name == "looked":
            _write(lab, f.ReviewOpened(*here, digest="d" * 40, work=made, base=base, commit=made))
            _write(lab, f.ReviewCommented(TaskId(name), "d" * 40, made, "c", "p", 1, "around"))
        elif name == "pulled":
            _write(lab, f.PullRequestOpened(*here, number=7, url="u", branch="b", base=base, commit=made))
        else:
            lab.write(f.Landed(*here, base, made, Tree("t" * 40)))
        lab.release(f"task:{name}")


def _ended(lab: Lab, base: Commit) -> None:
    """Tasks that failed, were cancelled and were paused."""
    check = CheckResult("make", 1, 1.0, tail="t", log="l", newly_failing=("a",), vanished=("b",))
    # Any: fields of several types.
    for name in ("failed", "other"):
        here = _start(lab, name)
        bad: dict[str, Any] = {
            "feedback": "f",
            "log": "l",
            "checks": (check,),
            "session": "s",
            "usage": USAGE,
        }
        failed = f.PhaseFailed(*here, ErrorClass.EXIT, said("x"), "p", base=base, **bad)
        _write(lab, failed, f.TaskFailed(here[0], 1, said("x")))
        lab.release(f"task:{name}")
    _write(lab, f.TaskCancelled(TaskId("ended"), "why"), f.Paused(TaskId("waits"), "why"))


def _around(lab: Lab, base: Commit) -> None:
    """What is known beside the tasks: overlaps, main that is red, brakes, lessons."""
    busy = _start(lab, "busy")
    result = CheckResult("make", 1, 1.0, tail="t", log="l")
    _write(
        lab,
        f.OverlapSeen(busy[0], 1, TaskId("leave"), 1, ("a",), 1),
        f.ClutchDecided(3, "provider", said("x"), category="c", provider="p"),
        f.ProviderBraked("p", 1.0, said("x"), refused=3),
        f.BaseChecked(Tree("t" * 40), "make", 1, "t", result),
        f.MainJudged(base, Tree("t" * 40), ("make",)),
        f.CulpritFound(base, "make", base, "author", "subject"),
        f.CheckFlaked(TaskId("landed"), 1, "make", red_log="l", log="l"),
        f.StatementsDelayed(2, said("x")),
    )


def _files(folder: Path) -> None:
    """What the program of an attempt printed, its session, and its prompt."""
    folder.mkdir(parents=True)
    events = [hostile(Event(kind, call="c", error=ErrorClass.EXIT)) for kind in EventKind]
    lines = [json.dumps(msgspec.to_builtins(event)) for event in events]
    (folder / "1.events.jsonl").write_text("\n".join(lines) + "\n")
    for name in ("1.log", "1.prompt.md", "1.model.jsonl"):
        (folder / name).write_bytes(ALL.encode(errors="surrogatepass") + b"\xff\xfe\n")


def _hostile_change(root: Path) -> tuple[Commit, Commit]:
    """Two commits; the second one adds hostile files under hostile names, with a hostile message."""
    base = Commit(git(root, "rev-parse", "HEAD"))
    text = ALL.replace("\x00", "").encode(errors="replace")  # else git calls it binary
    for number, each in enumerate(TEXTS):
        name = each.replace("/", "_").replace("\x00", "0")[:60].encode(errors="replace")
        Path(str(root), f"{number}-{name.decode()}.txt").write_bytes(text)
    (root / "script.html").write_bytes(text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", re.sub("[\x00\ud800]", "", ALL))
    return base, Commit(git(root, "rev-parse", "HEAD"))
