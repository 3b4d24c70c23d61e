"""Words for the reasons of the clutch and of the brakes of providers."""

from collections.abc import Mapping

from interlock.model.reason import Reason, Why
from interlock.ui.plain import counted
from interlock.ui.words.causes import Words


def rate(per_hour: float) -> str:
    """A rate for reading: a tenth says something only of small ones."""
    return f"{per_hour:.1f}" if per_hour < 100 else f"{per_hour:.0f}"


def _opens_after(reason: Reason, _: str) -> str:
    more = counted(int(reason.number("landings")), "more landing")
    at_work = counted(int(reason.number("at_work")), "agent")
    return f"opens to {reason.text('agents')} after {more} without trouble, made with {at_work} at work"


def _agents(reason: Reason) -> str:
    return counted(int(reason.number("agents")), "agent")


def _max_parallel(reason: Reason, _: str) -> str:
    origin = reason.text("origin")
    until = ", until a run has landed a change" if origin == "default" else ""
    return f"max_parallel is {reason.text('limit')} ({origin}{until})"


def _auto(reason: Reason, _: str) -> str:
    origin, room = reason.text("origin"), reason.text("room")
    how = f"max_parallel is auto ({origin}):"
    if origin == "default":
        how = "max_parallel is not set, and earlier runs have landed changes: auto,"
    return f"{how} the clutch decides for each kind of work, and the machine has room for {room}"


def _no_results(reason: Reason, _: str) -> str:
    default = "" if reason.number("agents") == 1 else ", the default of max_parallel"
    return f"no results of this kind of work yet: starting with {_agents(reason)}{default}"


def _goodput(reason: Reason, _: str = "") -> str:
    landed = rate(reason.number("landed_per_hour"))
    return f"{landed} landed an hour with {_agents(reason)}, {reason.number('chance'):.0%} of attempts"


def _pays(reason: Reason, _: str) -> str:
    troubled = f", {reason.text('troubled')} troubled" if reason.number("troubled") else " without trouble"
    return f"{reason.text('landed')} landed{troubled} with {_agents(reason)}; {_goodput(reason)}"


def _does_not_pay(reason: Reason, because: str) -> str:
    troubled, landed = int(reason.number("troubled")), int(reason.number("landed"))
    trouble = f"{troubled} of {troubled + landed} ended in conflicts or red checks; " if troubled else ""
    return f"{trouble}{_goodput(reason)}, not worth the extra agents: {because}"


def _gib(reason: Reason, name: str) -> str:
    return f"{reason.number(name) / 2**30:.1f} GiB"


def _stalled(reason: Reason, _: str) -> str:
    resource, seconds = reason.text("resource"), reason.number("seconds")
    what = f"a {resource}" if resource == "processor" else resource
    when = "minute" if seconds == 60 else f"{seconds:.0f} s"
    return f"programs waited for {what} {reason.number('share'):.0%} of the last {when}"


def _host_calm(reason: Reason, _: str) -> str:
    seconds = reason.number("seconds")
    return f"room for {seconds:.0f} s: one more agent" if seconds else "the machine has room again"


BRAKES: Mapping[str, Words] = {
    Why.MAX_PARALLEL: _max_parallel,
    Why.AUTO: _auto,
    Why.GOODPUT_OFF: lambda _, because: f"{f'{because}; ' if because else ''}the goodput brake is off",
    Why.NO_RESULTS: _no_results,
    Why.DID_BEST: lambda reason, _: f"earlier runs did best with {_agents(reason)}: {_goodput(reason)}",
    Why.DID_BEST_ELSEWHERE: lambda reason, _: (
        f"other projects did best with {_agents(reason)}; starting with half of that"
    ),
    Why.AS_LEARNED: lambda _, __: "as learned in earlier runs",
    Why.PAYS: _pays,
    Why.DOES_NOT_PAY: _does_not_pay,
    Why.GOODPUT: _goodput,
    Why.AT_MOST: lambda reason, _: f"does not open further: at most {_agents(reason)} may work at once",
    Why.DID_WORSE: lambda reason, _: (
        f"{reason.text('agents')} did worse ({rate(reason.number('landed_per_hour'))} landed an hour, "
        f"{reason.number('chance'):.0%} of attempts); tried again when that is long ago"
    ),
    Why.OPENS_AFTER: _opens_after,
    Why.OPENS_NEXT: lambda reason, _: (
        f"opens to {reason.text('agents')} as soon as another task of this kind waits"
    ),
    Why.HOST_BUSY: lambda _, because: f"{because}: no more at once until that improves",
    Why.DISK_LOW: lambda reason, _: (
        f"only {_gib(reason, 'free_bytes')} of the disk are free (reserve: {_gib(reason, 'reserve_bytes')}); "
        "`interlock gc` makes room"
    ),
    Why.MEMORY_LOW: lambda reason, _: (
        f"only {_gib(reason, 'free_bytes')} of {_gib(reason, 'total_bytes')} of memory are free"
    ),
    Why.STALLED: _stalled,
    Why.MEMORY_FOR: lambda reason, _: (
        f"{_gib(reason, 'free_bytes')} of memory are free, enough for {_agents(reason)} more"
    ),
    Why.HOST_CALM: _host_calm,
    Why.NOTHING_KNOWN: lambda _, __: "nothing is known yet",
    Why.WENT_WELL: lambda reason, _: f"{reason.text('at_once')} at once went well",
    Why.NO_FASTER: lambda reason, _: (
        f"{reason.text('at_once')} at once brought no more than {reason.text('now_at_once')}"
    ),
    Why.REFUSED: lambda reason, because: (
        f"{because}; from {reason.text('at_once')} at once to {reason.text('now_at_once')}"
    ),
    Why.BROKE: lambda reason, because: f"{reason.text('times')} calls in a row broke: {because}",
    Why.QUIET_HOURS: lambda _, because: f"{because}; its work goes on after quiet hours",
    Why.QUOTA_BACK: lambda _, __: "quiet hours do not hold it back any more",
    Why.REACHED: lambda _, __: "it can be reached again",
}
