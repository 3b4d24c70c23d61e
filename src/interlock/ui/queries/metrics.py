"""The state of a project as Prometheus reads it: text, version 0.0.4.

Labels are bounded: stages, roles and quantiles are few; of providers the latest are shown.
"""

from collections.abc import Iterable, Iterator, Mapping

from interlock.engine.slots import Slots
from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.model.pool import PoolFigures

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST_LABELS = 50

Labels = Mapping[str, str]
Sample = tuple[Labels, float]


def exposition(state: State, slots: Slots, figures: PoolFigures, is_live: bool) -> str:
    return "".join((*_project(state, is_live), *_slots(slots), *_pool(figures), *_providers(state)))


def _project(state: State, is_live: bool) -> Iterator[str]:
    stages = [({"stage": stage.value}, float(state.index.counts.get(stage, 0))) for stage in Stage]
    yield _gauge("run_live", "1 while a run is active, else 0.", float(is_live))
    yield _family("tasks", "gauge", "Tasks by stage.", stages)
    yield _counter("facts_total", "Facts in the log.", state.seq)
    yield _family(
        "tokens_total",
        "counter",
        "Tokens that agents have used, over all attempts.",
        [
            ({"direction": "input"}, float(state.used.input_tokens)),
            ({"direction": "output"}, float(state.used.output_tokens)),
        ],
    )
    yield _counter("cost_usd_total", "Cost in USD that agents report.", state.used.cost_usd or 0.0)


def _slots(slots: Slots) -> Iterator[str]:
    parts = {"all": slots, **slots.roles}
    for name, text in (
        ("limit", "Agents that may work at once."),
        ("in_use", "Agents at work."),
        ("free", "Free slots for agents."),
    ):
        samples = [({"role": role}, float(getattr(part, name))) for role, part in parts.items()]
        yield _family(f"slots_{name}", "gauge", text, samples)
    yield _gauge("queue_length", "Tasks that are ready and not started.", slots.queue)


def _pool(figures: PoolFigures) -> Iterator[str]:
    waits = [
        ({"quantile": "0.5"}, figures.waiting_p50_seconds),
        ({"quantile": "0.99"}, figures.waiting_p99_seconds),
    ]
    yield _family("waiting_seconds", "gauge", "Time from ready to started, in this run.", waits)
    for name, value, text in (
        (
            "utilization_ratio",
            figures.utilization,
            "Share of the slots' time that agents worked, in this run.",
        ),
        ("idle_ratio", figures.idle_share, "Share of the slots' time idle although a task could have run."),
        ("retry_ratio", figures.retry_rate, "Share of the attempts of this run that were not the first."),
    ):
        yield _gauge(name, text, value)
    for name, count, text in (
        ("attempts_total", figures.attempts, "Attempts begun in this run."),
        ("landed_total", figures.landed, "Tasks landed in this run."),
        ("conflicts_total", figures.conflicts, "Changes of this run that conflicted with what had landed."),
        ("reassignments_total", figures.reassignments, "Attempts of this run given to another agent."),
        ("by_hand_total", figures.by_hand, "Tasks that a person retried or reset in this run."),
    ):
        yield _counter(name, text, count)


def _providers(state: State) -> Iterator[str]:
    newest = sorted(state.limits.brakes.items(), key=lambda item: (-item[1].time, item[0]))[:MOST_LABELS]
    for name, kind, text in (
        ("limit", "gauge", "Concurrent calls that the brake allows a provider."),
        ("calls", "counter", "Calls to a provider."),
        ("refused", "counter", "Calls that a provider refused."),
    ):
        samples = [({"provider": key}, float(getattr(provider, name))) for key, provider in newest]
        yield _family(f"provider_{name}{'_total' if kind == 'counter' else ''}", kind, text, samples)


def _gauge(name: str, text: str, value: float) -> str:
    return _family(name, "gauge", text, [({}, value)])


def _counter(name: str, text: str, value: float) -> str:
    return _family(name, "counter", text, [({}, value)])


def _family(name: str, kind: str, text: str, samples: Iterable[Sample]) -> str:
    """One metric with all its samples; empty if it has none."""
    lines = []
    for labels, value in samples:
        inside = ",".join(f'{label}="{_escaped(said)}"' for label, said in labels.items())
        lines.append(f"interlock_{name}{f'{{{inside}}}' if inside else ''} {value:.10g}\n")
    head = f"# HELP interlock_{name} {text}\n# TYPE interlock_{name} {kind}\n"
    return "".join([head, *lines]) if lines else ""


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
