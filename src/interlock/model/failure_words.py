"""Words for the reasons of failed phases. The next agent reads them in its prompt, and failures are compared
by them, so they are made here and not in `ui/words`, which shows people the same."""

from collections.abc import Callable, Mapping

from interlock.model.durations import precisely
from interlock.model.obstacle import Obstacle
from interlock.model.reason import Reason, Why
from interlock.model.suite import Unable

DEPTH = 8
"""A log may hold reasons behind reasons without end."""


def failure_text(why: Reason | None, depth: int = 1) -> str:
    """Return the sentence for the reason of a failure; '' if there is none."""
    if why is None or depth > DEPTH:
        return ""
    words = _WORDS.get(why.code)
    return words(why, failure_text(why.cause, depth + 1)) if words else why.text("text")


def check_ending(why: Reason) -> str:
    """Return how a red check ended, as the rest of a sentence about its command."""
    unable, how, flaw = why.text("unable"), _how(why), _after(why.text("flaw"))
    if edited := why.names("edited"):
        return f"passed only because it changed {', '.join(edited)} itself"
    if unable == Unable.NO_TESTS:
        return f"does not show that any test ran{flaw}" if flaw else "ran no tests"
    if why.fields.get("timed_out"):
        return how
    if unable == Unable.SETUP:
        return f"was not started: the set-up `{why.text('about')}` {how}"
    if unable:
        return f"cannot run any more ({how})"
    fewer, half = int(why.number("fewer_passed")), int(why.number("main_passed"))
    more = 0 if why.names("newly_failing") else int(why.number("newly_failing_count"))
    is_counted = fewer and not why.names("newly_failing") and not why.names("vanished")
    parts = [
        _listed("fails tests that do not fail on main", why, "newly_failing"),
        f"prints {more} more failed test{'s' if more > 1 else ''} than on main" if more else "",
        _listed("did not pass tests that pass on main", why, "vanished"),
        f"passed {fewer} fewer tests than main" if is_counted else "",
        f"keeps fewer than half of the {half} tests of main{flaw}" if half else "",
        f"failed for another reason than on main{_after(why.text('other_reason'))}"
        if why.fields.get("unlike_main")
        else "",
    ]
    return " and ".join(part for part in parts if part) or how


def _how(why: Reason) -> str:
    if usual := why.number("usual_seconds"):
        return f"was stopped after {precisely(why.number('seconds'))} (usually {precisely(usual)})"
    return "timed out" if why.fields.get("timed_out") else f"exited {why.text('exit_code')}"


def _listed(what: str, why: Reason, name: str) -> str:
    names = why.names(name)
    left = int(why.number(f"{name}_count")) - len(names)
    return f"{what} ({', '.join(names)}{f' and {left} more' if left > 0 else ''})" if names else ""


def _check_failed(why: Reason, cause: str) -> str:
    others = int(why.number("others"))
    more = f" (and {others} more)" if others else ""
    return f"`{why.text('command')}` {check_ending(why)} on the change merged onto main{more}{_then(cause)}"


def _fails_together(why: Reason, _: str) -> str:
    """Say which tasks a change fails with, if its check passes without them, or which it may fail with."""
    named = ", ".join(why.tasks)
    if not why.fields.get("is_known"):
        return f"{named} landed meanwhile and edited the same files or what the check reads"
    both = "both" if len(why.tasks) == 1 else "all of them"
    command, own = why.text("command"), why.text("task")
    return f"`{command}` passes without {named} and without {own}, and fails with {both}"


def _secret(why: Reason, _: str) -> str:
    places = why.names("places")
    more = int(why.number("count")) - len(places)
    where = ", ".join(places) + (f" and {more} more" if more > 0 else "")
    return (
        f"it would put a secret on main: {where}; read it from the environment or a file that git ignores. "
        "A person can allow a file with land_files"
    )


def _unchanged(why: Reason, because: str) -> str:
    what = "its change is already on main" if why.fields.get("on_main") else "the agent changed nothing"
    return f"{what}, and {because}"


def _noted(why: Reason, because: str) -> str:
    note = why.fields.get("note")
    return f"{because}; {failure_text(note, DEPTH) if isinstance(note, Reason) else ''}"


def _exited(why: Reason, _: str) -> str:
    signal, said = int(why.number("signal")), why.text("text")
    by = f"was killed by signal {signal}" if signal else f"exited with status {why.text('exit_code')}"
    return f"the agent {by}" + (f': "{said}"' if said else "")


def _check_program(why: Reason, _: str) -> str:
    if why.text("use"):
        return f"install {why.text('use')}"
    committed = ", and that the program is committed: a workspace holds what git knows"
    relative = committed if why.fields.get("relative") else ""
    return f"check agents.{why.text('agent')}.run in task-graph.yaml{relative}"


def _not_imported(why: Reason, _: str) -> str:
    what = "" if why.fields.get("refused") else "its work cannot be imported: "
    return f"{what}{why.text('text')}; its workspace is kept at {why.text('path')}"


def _get_key(why: Reason, _: str) -> str:
    if variable := why.text("variable"):
        return f"set {variable} to a valid key"
    return f"name its key in agents.{why.text('agent')}.key_env"


def _budget(why: Reason, _: str) -> str:
    in_money = why.text("unit") == "usd"
    limit, left, wanted = (
        f"${why.number(name):.2f}" if in_money else f"{why.number(name):.0f}"
        for name in ("limit", "left", "wanted")
    )
    more = f", and a call may use {wanted}" if why.number("left") and why.number("wanted") else ""
    what = "" if in_money else " tokens"
    return f"the budget of the {why.text('budget')} is used up: {left} of {limit}{what} left{more}"


def _no_progress(why: Reason, _: str) -> str:
    count = f"{why.number('count'):.0f}"
    how = {
        "calls": f"{count} tool calls in a row brought nothing new (the last: {why.text('call')})",
        "words": f"{count} messages in a row said nothing new",
        "tokens": f"it used {count} tokens without a new edit, far more than such work takes",
    }
    price = f", ${why.number('cost_usd'):.2f}" if "cost_usd" in why.fields else ""
    cost = f"; until then {why.number('tokens'):.0f} tokens{price}" if why.number("tokens") else ""
    return f"stopped: it went round in circles: {how.get(why.text('what'), '')}{cost}"


def _unresolved(why: Reason) -> str:
    """The command that was to resolve a conflict, and what was wrong with its result."""
    path = why.text("path")
    wrong = {
        Obstacle.FAILED: check_ending(why),
        Obstacle.UNCHANGED: f"left {path} as main has it",
        Obstacle.UNUSABLE: f"left no usable {path}",
        Obstacle.LEAK: f"put a secret into {path}",
    }
    return f"; `{why.text('command')}` {wrong[Obstacle(why.text('obstacle'))]}" if why.text("command") else ""


def _then(text: str) -> str:
    return f"; {text}" if text else ""


def _after(text: str) -> str:
    return f": {text}" if text else ""


Words = Callable[[Reason, str], str]
_WORDS: Mapping[str, Words] = {
    Why.CHECK_FAILED: _check_failed,
    Why.FAILS_TOGETHER: _fails_together,
    Why.CONFLICT: lambda why, _: (
        f"conflicts with changes that landed meanwhile in {', '.join(why.names('paths'))}{_unresolved(why)}"
    ),
    Why.UNCHANGED: _unchanged,
    Why.NO_RESULT: lambda why, _: f"no result after {why.number('seconds'):.0f} s",
    Why.LEAK: _secret,
    Why.NONE_LANDS: lambda why, _: f"none of its changes may land: {', '.join(why.names('files'))}",
    Why.RESERVED: lambda why, _: (
        f"it changed {', '.join(why.names('paths'))}, which controls what agents may do or what your machine "
        "runs; only a person may change that"
    ),
    Why.SUBMODULE: lambda why, _: (
        f"it moved the submodule {', '.join(why.names('paths'))}; only a person may do that, "
        "because an agent cannot publish commits of a submodule"
    ),
    Why.LANDED_AGAIN: lambda why, _: (
        f"{', '.join(why.tasks)} landed again after this was begun: "
        "it would bring the first change back on top of the second"
    ),
    Why.EXITED: _exited,
    Why.ENDED_SILENTLY: lambda why, _: f"{_exited(why, '')} without saying how it went",
    Why.ENDED_BADLY: lambda why, _: f"{_exited(why, '')} with an error",
    Why.EXIT_DISAGREES: lambda why, _: (
        f"it said that all went well, and exited with status {why.text('exit_code')}"
    ),
    Why.TOOK_TOO_LONG: lambda why, _: f"stopped: it took longer than {why.number('seconds'):g} s",
    Why.WROTE_NOTHING: lambda why, _: f"stopped: it wrote nothing for {why.number('seconds'):g} s",
    Why.NO_PROGRESS: _no_progress,
    Why.TOO_MUCH_OUTPUT: lambda why, _: (
        f"stopped: it wrote more than {why.number('bytes') / 1024**2:g} MiB of output"
    ),
    Why.MEMORY_LIMIT: lambda _, __: "killed: it took more memory than memory_limit_bytes allows",
    Why.DISK_LIMIT: lambda _, __: "stopped: it has more on the disk than disk_limit_bytes allows",
    Why.DISK_FULL: lambda _, because: f"the disk is full: {because}; free some disk space",
    Why.LEASE_ENDED: lambda _, __: "stopped: its lease was not renewed in time",
    Why.MODEL_SILENT: lambda why, because: f"{because}{_after(why.text('text'))}",
    Why.NO_CHANGE: lambda why, _: (
        "the agent ended well but changed nothing" + (f': "{why.text("text")}"' if why.text("text") else "")
    ),
    Why.NOT_ALLOWED: lambda why, _: f"it was not allowed to {why.text('text')}",
    Why.HOOK_OBJECTED: lambda why, _: f"a hook of yours kept it from starting: {why.text('text')}",
    Why.NOT_RUN: lambda why, _: f'agent "{why.text("agent")}": {why.text("text")}',
    Why.CHECK_PROGRAM: _check_program,
    Why.NOT_IMPORTED: _not_imported,
    Why.NOT_REMOVED: lambda why, _: (
        f"its workspace {why.text('path')} could not be removed: {why.text('text')}"
    ),
    Why.NOT_TORN_DOWN: lambda why, _: (
        f"its teardown `{why.text('command')}` {why.text('how')}{_after(why.text('text'))}"
    ),
    Why.LOG_IN: lambda why, _: f"log in with {why.text('use')} again, as the user who runs Interlock",
    Why.GET_KEY: _get_key,
    Why.COUNTS_DIFFER: lambda why, _: (
        f"it counted {why.text('input')}/{why.text('output')} tokens, "
        f"the proxy {why.text('seen_input')}/{why.text('seen_output')}"
    ),
    Why.NOTED: _noted,
    Why.BUDGET: _budget,
    Why.UNPRICED: lambda why, _: (
        f"the price of {why.text('model') or 'its model'} is not known, so no money budget can limit it; "
        "give it a price in the setting `prices`, or limit tokens too"
    ),
    Why.REJECTED: lambda why, _: f"{why.text('actor')} rejected the change{_after(why.text('text'))}",
    Why.CHANGES_REQUESTED: lambda why, _: (
        f"{why.text('author')} asks for changes of pull request #{why.text('number')}"
    ),
}
FAILURES = tuple(_WORDS)
