"""Runs one agent from its launch to its verdict: opens its connections, starts the program, reads its lines.

A chain of short steps, each with the result of the one before. Everything that is opened is closed when the
program has ended, for any reason.
"""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from interlock.agents import ADAPTERS
from interlock.agents.adapter import Dialogue, Launch, LaunchContext
from interlock.git.protocol import Workspace
from interlock.learn.progress import Progress
from interlock.model.budget import Budgeted
from interlock.model.errors import CannotStart
from interlock.model.kinds import Wire
from interlock.model.outcome import AttemptCallbacks, ErrorClass, Order, ProposedTask, Report
from interlock.model.process import Command, Ended, Exit, Processes
from interlock.model.provider import provider_of
from interlock.model.reason import Reason, Why
from interlock.model.sandbox import Sandbox
from interlock.model.session import Event, EventKind
from interlock.model.usage import Usage
from interlock.proxy.brake import Attendance
from interlock.run.attempt_tools import AttemptTools
from interlock.run.homes import Homes
from interlock.run.hooks import SessionHooks
from interlock.run.hooks.listener import RELAY, relays
from interlock.run.installed import as_installed
from interlock.run.launch_context import (
    AttemptFolders,
    begin_log,
    command,
    environment,
    folders_for,
    host_variables,
    launch_context,
    write_prompt,
)
from interlock.run.network import Way
from interlock.run.options import ExecutorOptions
from interlock.run.outcome import how_it_went
from interlock.run.scope import Ask, Scope, answer_text
from interlock.run.session import SessionRecord

FAREWELL_SECONDS = 5.0
"""Time for a program to end by itself after its last message."""
LEAST_USD = 0.01
"""The smallest limit that a program is given."""
NAMES_MOST = 10
"""Names that a program may give its session; each is a fact in the log."""


class Conversation:
    """One attempt's agent, while it runs."""

    def __init__(
        self, order: Order, processes: Processes, options: ExecutorOptions, homes: Homes, log: Path
    ) -> None:
        self._order = order
        self._adapter = ADAPTERS[order.agent.use]
        self._processes = processes
        self._options = options
        self._homes = homes
        self._log = log
        self._key = order.key
        self._session: SessionRecord | None = None
        self._dialogue: Dialogue | None = None
        self._is_over = False
        self._running: asyncio.Task[Exit] | None = None
        self._told: list[asyncio.Task[None]] = []
        self._scope: Scope | None = None
        self._progress = Progress(order.circles)
        self._cut: tuple[ErrorClass, Reason] | None = None
        """The reason for which it was stopped from here."""
        self._names = {order.session}
        """Names of the session that were recorded."""

    @property
    def last_line(self) -> str:
        return self._session.last_line if self._session else ""

    @property
    def has_begun(self) -> bool:
        return self._session is not None and self._session.has_begun

    async def hold(
        self,
        report: Report,
        workspace: Workspace,
        lease_left: Callable[[], float],
        news: AttemptCallbacks,
        hooks: SessionHooks,
    ) -> Report:
        order = self._order
        before = order.resume.attempt if order.resume else 0
        place = folders_for(workspace, self._homes.open(order.task, order.attempt, before), self._log)
        prompt = write_prompt(order, place)
        self._scope = Scope(order.expected, place.path, self._clean_ask(news))
        tools = AttemptTools(order, self._scope, self._take, self._ask_person, self._clean_proposal(news))
        hooks.guard = self._scope.objection
        if objection := await hooks.begin(prompt, resumed=bool(order.resume and order.resume.session)):
            return replace(
                report, error=ErrorClass.DENIED, why=Reason(Why.HOOK_OBJECTED, {"text": objection})
            )
        async with AsyncExitStack() as stack:
            stack.callback(hooks.drop)
            way = await self._way_to_model(stack)
            asking = await self._way_to_hooks(stack, hooks)
            calling = await self._way_to_tools(stack, tools)
            leased = await stack.enter_async_context(
                self._options.network.to_databases(self._order.variables)
            )
            native = relays(hooks.native, asking.forwarded_ports)
            context = replace(
                launch_context(order, place, way, prompt),
                most_usd=self._most_usd(stack),
                hooks=native,
                hooked_tools=hooks.tools,
                tools_url=calling.url,
                tools_token=calling.token,
            )
            launch = self._installed(self._adapter.launch(context))
            if context.hooks:
                launch = replace(launch, read=(*launch.read, str(RELAY)))
            stack.callback(self._homes.take_back, order.task, order.attempt)
            self._furnish(place, launch)
            hosts = await stack.enter_async_context(
                self._options.network.to_hosts(str(self._key), launch.hosts)
            )
            ready = self._command(place, launch, (way, hosts, asking, calling, leased))
            session = self._read(context)
            stack.callback(session.close)
            await self._announce(news, session.id)
            session.on_event.append(lambda event: self._note(event, news))
            session.on_event.append(hooks.hear)
            session.on_event.append(self._watch)
            account = self._attended(stack, session)
            self._session = session
            exited = await self._run(replace(ready, lease_seconds=lease_left()), launch.say)
            await self._settle(hooks)
            left = self._homes.left(place.home, launch.leaves)
            verdict = session.verdict(exited, left)
            exited = replace(exited, tail=session.tail or exited.tail)
            report = how_it_went(report, order, exited, verdict, way.seen())
            report = self._as_cut(replace(report, repeats=self._progress.repeats))
            if account:
                account.ended(report.error, report.text)
            return report

    def _read(self, context: LaunchContext) -> SessionRecord:
        reader = self._adapter.reader(context)
        self._dialogue = reader if isinstance(reader, Dialogue) else None
        events = self._log.with_suffix(".events.jsonl")
        clean, session = self._options.clean, self._order.session
        return SessionRecord(reader, events, clean, session, context.workspace, self._priced)

    def _priced(self, usage: Usage, model: str) -> Usage:
        """Put a price on what a program used with its own account, if it names none. The proxy's counts have
        theirs."""
        agent, wire = self._order.agent, self._adapter.wire
        if not agent.login or wire is None or usage.cost_usd is not None:
            return usage
        return self._options.prices.put_on(usage, wire, "", (model, agent.model))

    async def _settle(self, hooks: SessionHooks) -> None:
        await hooks.settle()
        if hooks.untold:
            what = f"{hooks.untold} events of its session did not reach your hooks"
            self._options.tell(f"{self._order.task}: {what}")

    async def _way_to_model(self, stack: AsyncExitStack) -> Way:
        wire = Wire(self._order.agent.wire) if self._order.agent.wire else self._adapter.wire
        if wire is None:
            return Way()
        if self._order.agent.login:
            await asyncio.to_thread(self._options.prices.prepare)
            return Way()
        return await stack.enter_async_context(self._options.network.to_model(self._order, wire))

    def _attended(self, stack: AsyncExitStack, session: SessionRecord) -> Attendance | None:
        """Attend the account of a program that is logged in: only its own reports of its model are known."""
        agent, brake = self._order.agent, self._options.brake
        if brake is None or not agent.login:
            return None
        account = stack.enter_context(brake.attend(provider_of(agent)))
        session.on_event.append(
            lambda event: account.hear(event.error, event.text) if event.kind is EventKind.RETRY else None
        )
        return account

    async def _way_to_hooks(self, stack: AsyncExitStack, hooks: SessionHooks) -> Way:
        if not hooks.native:
            return Way()
        return await stack.enter_async_context(self._options.network.to_hooks(hooks.respond))

    async def _way_to_tools(self, stack: AsyncExitStack, tools: AttemptTools) -> Way:
        serve = self._options.serve_tools
        if serve is None:
            return Way()
        return await stack.enter_async_context(
            self._options.network.to_tools(lambda path, token: serve(tools, path, token))
        )

    def _installed(self, launch: Launch) -> Launch:
        """Put the real program in place of a package manager's loader."""
        path = {**os.environ, **(self._order.agent.env or {})}.get("PATH", "")
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return as_installed(launch, path, cache)

    def _furnish(self, place: AttemptFolders, launch: Launch) -> None:
        if self._order.agent.login:
            self._homes.lend(place.home, launch.account, Path.home())
        self._homes.write(place.home, launch.files)

    def _command(self, place: AttemptFolders, launch: Launch, ways: tuple[Way, ...]) -> Command:
        own_home = self._options.sandbox is not Sandbox.NONE or self._order.agent.use != "command"
        host = host_variables(place, self._options.pass_env, own_home)
        env = environment(self._order, place, launch, ways, host)
        program = launch.argv[0]
        if "/" not in program and shutil.which(program, path=env.get("PATH")) is None:
            raise CannotStart(f"program not found: {program}")
        begin_log(self._order, place, launch)
        return command(
            self._order,
            place,
            launch,
            env,
            tuple(forwarded for way in ways for forwarded in way.forwarded_ports),
        )

    async def _run(self, ready: Command, first: str) -> Exit:
        """Run the program to its end, or to a while after its last message if it does not end by itself."""
        loop, began = asyncio.get_running_loop(), asyncio.get_running_loop().time()
        self._running = running = asyncio.create_task(self._processes.run(ready, self._hear))
        try:
            await asyncio.sleep(0)  # it starts here, and can be spoken to from now on
            self._greet(first)
            await asyncio.wait([running])
            if running.cancelled() and (self._is_over or self._cut):
                return Exit(Ended.EXITED, 0, loop.time() - began, "")
            return running.result()
        except asyncio.CancelledError:
            await _ended(running)
            raise
        finally:
            await asyncio.gather(*self._told)

    def _watch(self, event: Event) -> None:
        """Stop a session that makes no progress, or that has told more than a budget allows."""
        if why := self._progress.hear(event):
            self._cut_short(ErrorClass.CIRCLE, why)
        if event.usage and self._order.agent.login:
            why = self._options.purse.count(self._key, event.usage)
            if why:
                is_own = why.text("budget") == Budgeted.ATTEMPT
                self._cut_short(ErrorClass.BUDGET if is_own else ErrorClass.OUTSIDE, why)

    def _most_usd(self, stack: AsyncExitStack) -> float | None:
        """Return the money that a program with its own login may spend; None: no budget limits it."""
        purse = self._options.purse
        if not self._order.agent.login or not purse.is_limited:
            return None
        purse.open(self._key, self._order.reserved)
        stack.callback(purse.close, self._key)
        left = purse.left(self._key).usd
        return None if left is None else max(LEAST_USD, left)

    def _cut_short(self, error: ErrorClass, why: Reason) -> None:
        if self._cut is None and self._running and not self._is_over:
            self._cut = error, why
            self._running.cancel()

    def _as_cut(self, report: Report) -> Report:
        """Return the report with the reason for which its program was stopped here, and what it had cost."""
        if self._cut is None:
            return report
        error, why = self._cut
        if (used := report.usage) and error is ErrorClass.CIRCLE:
            price = {} if used.cost_usd is None else {"cost_usd": used.cost_usd}
            why = replace(why, fields={**why.fields, "tokens": used.tokens, **price})
        return replace(report, error=error, why=why, asks=None)

    def _hear(self, line: str) -> None:
        if self._session:
            self._session.hear(line)
        self._hear_request(line)
        self._reply()

    def _hear_request(self, line: str) -> None:
        """Pass on a request for scope, which an agent makes in a line of its own."""
        if self._scope and (asked := self._scope.request_in(line)):
            self._told.append(asyncio.ensure_future(self._scope.ask(*asked)))

    def _greet(self, first: str) -> None:
        if first:
            self._processes.send(self._key, first)
            if self._dialogue is None:
                self._processes.hang_up(self._key)
        self._reply()

    def _reply(self) -> bool:
        """Send the replies that the program waits for; after the last one, close its input. False if the
        program does not take them."""
        if self._dialogue is None:
            return False
        taken = [self._processes.send(self._key, line) for line in self._dialogue.replies()]
        if self._dialogue.is_over and not self._is_over:
            self._is_over = True
            self._processes.hang_up(self._key)
            if self._running:
                asyncio.get_running_loop().call_later(FAREWELL_SECONDS, self._running.cancel)
        return all(taken)

    def say(self, text: str) -> bool:
        """Send a person's message; False if the program does not take any now."""
        if self._is_over or self._session is None or self._dialogue is None:
            return False
        self._dialogue.say(text)
        return self._reply()

    def answer(self, call: str, allow: bool) -> bool:
        """Pass on a person's answer to a request of the agent; False if that request is not open."""
        if self._session is None or self._dialogue is None:
            return False
        events = self._dialogue.answer(call, allow)
        self._session.take(events)
        self._reply()
        return bool(events)

    def widen(self, paths: tuple[str, ...], granted: bool, why: str) -> bool:
        """Pass on the answer to a request for scope: to the tool that waits for it, or else to the agent."""
        if self._scope is None:
            return False
        return self._scope.answered(paths, granted, why) or self.say(answer_text(paths, granted, why))

    def _clean_ask(self, news: AttemptCallbacks) -> Ask:
        async def ask(paths: tuple[str, ...], why: str) -> None:
            await news.scope(tuple(map(self._options.clean, paths)), self._options.clean(why))

        return ask

    def _clean_proposal(self, news: AttemptCallbacks) -> Callable[[ProposedTask], Awaitable[None]]:
        clean = self._options.clean

        async def propose(wanted: ProposedTask) -> None:
            lists = (wanted.needs, wanted.touches, wanted.done_when)
            await news.proposed(
                ProposedTask(wanted.id, clean(wanted.goal), *(tuple(map(clean, words)) for words in lists))
            )

        return propose

    def _take(self, events: Sequence[Event]) -> None:
        if self._session:
            self._session.take(events)

    def _ask_person(self, question: str) -> None:
        if self._session:
            self._session.ask(question)

    def _note(self, event: Event, news: AttemptCallbacks) -> None:
        """Record the program's own name for the session, and its requests for permission."""
        if event.kind is EventKind.SESSION and self._is_news(event.session):
            self._names.add(event.session)
            self._told.append(asyncio.ensure_future(self._announce(news, event.session)))
        if event.kind is EventKind.MESSAGE:
            for line in event.text.splitlines():
                self._hear_request(line)
        if event.kind is EventKind.ASKED and not event.ok:
            self._told.append(asyncio.ensure_future(news.asked(event.call, event.tool, event.text)))

    def _is_news(self, name: str) -> bool:
        return bool(name) and name not in self._names and len(self._names) <= NAMES_MOST

    async def _announce(self, news: AttemptCallbacks, session: str) -> None:
        await news.opened(session, self._options.sandbox.value, self._order.base)


async def _ended(running: asyncio.Task[Exit]) -> None:
    """End the program, and wait until nothing of it is left; asked again, at once."""
    running.cancel()
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError:
            running.cancel()
