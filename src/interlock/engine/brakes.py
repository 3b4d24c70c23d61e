"""Records what the brakes of providers find out: the schedule uses these facts, and so does the next run."""

from collections.abc import Iterable

from interlock.engine.env import Env
from interlock.engine.ledger import Ledger
from interlock.events.facts import ProviderBraked
from interlock.events.state import State
from interlock.model.claim import Claim
from interlock.model.provider import own_server, provider_of
from interlock.model.reason import Reason, Why
from interlock.proxy.brake import ProviderBrake, ProviderNews


async def pass_on_news(env: Env, brakes: ProviderBrake, ledger: Ledger, claim: Claim) -> None:
    """Record every change of a brake, until cancelled."""
    for name in _in_use(ledger.state):
        known = ledger.state.limits.brakes.get(name)
        brakes.look(name, known.limit if known and known.refused else 0.0)
    while True:
        await ledger.append(await _facts(env, await brakes.wait()), claim)


async def found_servers(env: Env, state: State) -> list[ProviderBraked]:
    """Find the model servers of the user that are down, before any agent starts."""
    agents = [agent for task in state.tasks.values() if not task.is_over for agent in task.spec.candidates]
    servers = {provider_of(agent): url for agent in agents if (url := own_server(agent))}
    if env.reach:
        await env.reach.check(servers)
    facts = await last_news(env)
    now, told = await env.store.now(), {fact.provider for fact in facts}
    for name in servers.keys() & state.limits.brakes.keys() - told:
        if state.limits.brakes[name].until > now:
            facts.append(ProviderBraked(name, state.limits.brakes[name].limit, Reason(Why.REACHED)))
    return facts


async def last_news(env: Env) -> list[ProviderBraked]:
    """Return what is still to be recorded."""
    return await _facts(env, env.brakes.rest() if env.brakes else ())


async def _facts(env: Env, news: Iterable[ProviderNews]) -> list[ProviderBraked]:
    """Turn news into facts, with times on the log's own clock."""
    now = await env.store.now()
    return [
        ProviderBraked(
            one.provider,
            one.limit,
            one.why.map_text(env.clean),
            now + one.closed_seconds if one.closed_seconds > 0 else 0.0,
            one.calls,
            one.refused,
        )
        for one in news
    ]


def _in_use(state: State) -> list[str]:
    """List the providers that the remaining tasks may call."""
    agents = [agent for task in state.tasks.values() if not task.is_over for agent in task.spec.candidates]
    return sorted({provider_of(agent) for agent in agents} - {""})
