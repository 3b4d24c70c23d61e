"""What the providers' brakes find out becomes facts: the schedule goes by them, and so does the next run."""

from collections.abc import Iterable

from interlock.engine.env import Env
from interlock.engine.ledger import Ledger
from interlock.events.facts import ProviderBraked
from interlock.events.state import State
from interlock.model.claim import Claim
from interlock.model.provider import own_server, provider_of
from interlock.proxy.brake import ProviderNews


async def pass_on_news(env: Env, ledger: Ledger, claim: Claim) -> None:
    """For ever: write down whatever changes."""
    for name in _in_use(ledger.state):
        known = ledger.state.providers.get(name)
        env.brakes.look(name, known.limit if known else 0.0)
    while True:
        await ledger.append(await _facts(env, await env.brakes.wait()), claim)


async def found_servers(env: Env, state: State) -> list[ProviderBraked]:
    """Which model servers of the user are down, found out before any agent starts."""
    agents = [agent for task in state.tasks.values() if not task.is_over for agent in task.spec.candidates]
    servers = {provider_of(agent): url for agent in agents if (url := own_server(agent))}
    await env.reach.check(servers)
    facts = await _facts(env, env.brakes.rest())
    now, told = await env.store.now(), {fact.provider for fact in facts}
    for name in servers.keys() & state.providers.keys() - told:
        if state.providers[name].until > now:
            facts.append(ProviderBraked(name, state.providers[name].limit, "it can be reached again"))
    return facts


async def last_news(env: Env) -> list[ProviderBraked]:
    """What has not been written down yet when a run ends."""
    return await _facts(env, env.brakes.rest())


async def _facts(env: Env, news: Iterable[ProviderNews]) -> list[ProviderBraked]:
    """The log has a clock of its own, so times are told as they are from now on."""
    now = await env.store.now()
    return [
        ProviderBraked(
            one.provider,
            one.limit,
            env.clean(one.why),
            now + one.closed_seconds if one.closed_seconds > 0 else 0.0,
            one.calls,
            one.refused,
        )
        for one in news
    ]


def _in_use(state: State) -> list[str]:
    """Whom the tasks that are left may call."""
    agents = [agent for task in state.tasks.values() if not task.is_over for agent in task.spec.candidates]
    return sorted({provider_of(agent) for agent in agents} - {""})
