"""Records what the brakes of providers find out: the schedule uses these facts, and so does the next run."""

from collections.abc import Iterable

from interlock.engine.env import Env
from interlock.engine.ledger import Ledger
from interlock.events.facts import ProviderBraked
from interlock.events.state import State
from interlock.events.state_parts import Provider
from interlock.model.claim import Claim
from interlock.model.provider import own_server, provider_of
from interlock.model.reason import Reason, Why
from interlock.proxy.brake import CallVerdict, ProviderBrake, ProviderNews


async def pass_on_news(env: Env, brakes: ProviderBrake, ledger: Ledger, claim: Claim) -> None:
    """Record every change of a brake, until cancelled."""
    for name in _in_use(ledger.state):
        known = ledger.state.limits.brakes.get(name)
        brakes.look(name, known.limit if known and known.refused else 0.0)
    while True:
        await ledger.append(await _facts(env, await brakes.wait(), ledger.state), claim)


async def found_servers(env: Env, state: State) -> list[ProviderBraked]:
    """Find the model servers of the user that are down, before any agent starts."""
    agents = [agent for task in state.tasks.values() if not task.is_over for agent in task.spec.candidates]
    servers = {provider_of(agent): url for agent in agents if (url := own_server(agent))}
    if env.reach:
        await env.reach.check(servers)
    facts = [*await last_news(env, state), *await _allowed(env, state)]
    now, told = await env.store.now(), {fact.provider for fact in facts}
    back = [
        ProviderBraked(name, state.limits.brakes[name].limit, Reason(Why.REACHED))
        for name in servers.keys() & state.limits.brakes.keys() - told
        if state.limits.brakes[name].until > now
    ]
    return [*facts, *back]


async def last_news(env: Env, state: State) -> list[ProviderBraked]:
    """Return what is still to be recorded."""
    return await _facts(env, env.brakes.rest() if env.brakes else (), state)


async def _facts(env: Env, news: Iterable[ProviderNews], state: State) -> list[ProviderBraked]:
    """Turn news into facts, with times on the log's own clock."""
    now = await env.store.now()
    return [_fact(env, one, state, now) for one in news]


def _fact(env: Env, one: ProviderNews, state: State, now: float) -> ProviderBraked:
    why, until = one.why.map_text(env.clean), now + one.closed_seconds if one.closed_seconds > 0 else 0.0
    known = state.limits.brakes.get(one.provider)
    held = env.held_seconds(until) if until and one.closed_by is CallVerdict.QUOTA else 0.0
    if held:
        until, why = until + held, Reason(Why.QUIET_HOURS, {"cause": why})
    elif not until and known and known.until > now and _is_quiet(known):
        until, why = known.until, known.why or why  # the quota is back, and its work still waits
    return ProviderBraked(one.provider, one.limit, why, until, one.calls, one.refused)


async def _allowed(env: Env, state: State) -> list[ProviderBraked]:
    """Open what is closed for quiet hours only, if they do not count any more."""
    now = await env.store.now()
    return [
        ProviderBraked(name, known.limit, Reason(Why.QUOTA_BACK))
        for name, known in state.limits.brakes.items()
        if _is_quiet(known) and known.until > now and not env.held_seconds(now)
    ]


def _is_quiet(known: Provider) -> bool:
    return known.why is not None and known.why.code == Why.QUIET_HOURS


def _in_use(state: State) -> list[str]:
    """List the providers that the remaining tasks may call."""
    agents = [agent for task in state.tasks.values() if not task.is_over for agent in task.spec.candidates]
    return sorted({provider_of(agent) for agent in agents} - {""})
