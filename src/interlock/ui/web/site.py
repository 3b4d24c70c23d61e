"""What one server shows: its projects, its keys, and how much at once."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count

from interlock.run.attempt_token import PREFIX
from interlock.ui.opening import ProjectLog
from interlock.ui.web.feed import Feed
from interlock.ui.web.guard import Guard
from interlock.ui.web.keys import Keys, load_keys
from interlock.ui.web.project import Served
from interlock.ui.web.scopes import Caller, NotThere, Scope, TooMany

MOST_STREAMS = 256
"""Open streams and terminals at once, over all projects."""
MOST_OF_AGENTS = 32
"""Those of them that agents have."""


@dataclass(slots=True)
class Site:
    """One for the server."""

    keys: Keys
    guard: Guard
    feeds: dict[str, Feed]
    """By the name of the project; the first one is meant where none is named."""
    streams: int = field(default=0)
    streams_of_agents: int = field(default=0)

    def feed(self, name: str) -> Feed:
        if not name:
            return next(iter(self.feeds.values()))
        if name not in self.feeds:
            raise NotThere(f"this server has no project `{name[:100]}`", f"it has {', '.join(self.feeds)}")
        return self.feeds[name]

    @contextmanager
    def streaming(self, caller: Caller) -> Iterator[None]:
        """Count a stream while the block runs."""
        of_agents = caller.scope is Scope.OWN
        if self.streams >= MOST_STREAMS or (of_agents and self.streams_of_agents >= MOST_OF_AGENTS):
            raise TooMany(f"{self.streams} streams are open", "close another page")
        self.streams += 1
        self.streams_of_agents += of_agents
        try:
            yield
        finally:
            self.streams -= 1
            self.streams_of_agents -= of_agents

    def project(self, name: str) -> Served:
        return self.feed(name).served


async def open_site(logs: Sequence[ProjectLog], hosts: Sequence[str], scheme: str) -> Site:
    """The site of these projects. The secret of the first one opens all of them."""
    feeds: dict[str, Feed] = {}
    for log in logs:
        name = _name_for(log.root.name, feeds)
        feeds[name] = Feed(await Served.load(name, log))
    keys = load_keys(logs[0].state_dir)
    guard = Guard(keys, hosts, scheme, partial(_agent_of, feeds))
    return Site(keys, guard, feeds)


def _agent_of(feeds: Mapping[str, Feed], token: str) -> Caller | None:
    """The attempt at work whose program has this token."""
    if not token.startswith(PREFIX):
        return None
    for name, feed in feeds.items():
        served = feed.served
        for task in (served.state.tasks[each] for each in served.state.index.running):
            if task.has_agent and served.keys.is_of_attempt(token, task.spec.id, task.attempt):
                return Caller(Scope.OWN, name, task.spec.id, task.attempt)
    return None


def _name_for(name: str, taken: Collection[str]) -> str:
    """The folder's name, with a number if two are called the same."""
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(each for each in names if each not in taken)
