"""`interlock serve` and `interlock ui`: the API and the dashboard, on this machine."""

import asyncio
import json
import shlex
import signal
import sys
import urllib.error
import urllib.request
import webbrowser
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from interlock.engine.host import allow_open_files
from interlock.model.errors import UsageError
from interlock.ui.cli.app import SOURCE, cli_command
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import Invocation, note, paint, say, say_line
from interlock.ui.cli.session import AgentsMayNot, person, run_async
from interlock.ui.opening import locate, open_log
from interlock.ui.web.keys import load_keys
from interlock.ui.web.listening import LOOPBACK, Wanted, announced, bound, hosts_of, read_server, tls_of
from interlock.ui.web.scopes import PERSONS, Scope
from interlock.ui.web.static_files import is_built

ASK_SECONDS = 3.0


@cli_command("serve")
@click.option(
    "--project",
    "projects",
    multiple=True,
    metavar="PATH",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Serve the repository in this folder; may be given several times.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Listen on this port.")
@click.option("--host", default=LOOPBACK, help="Listen on this address. Others than this machine's need TLS.")
@click.option(
    "--allow-host", "allow_hosts", multiple=True, metavar="NAME", help="Another name that means this server."
)
@click.option("--tls-cert", "certificate", type=click.Path(path_type=Path, exists=True), help="Certificate.")
@click.option(
    "--tls-key", "key", type=click.Path(path_type=Path, exists=True), help="Key of the certificate."
)
@click.option("--run", "with_run", is_flag=True, help="Also lead the run of the (first) project.")
def serve_command(
    invocation: Invocation, /, projects: tuple[Path, ...], with_run: bool, **address: Any
) -> int:  # Any: what click hands over
    """Serve the API and the dashboard until Ctrl-C. The run needs no server, and no server ends a run.

    The printed address holds a token, and lets anyone who has it do what you can do here.
    For example: interlock serve --project ../shop --project ../blog
    """
    folders = projects or (invocation.project,)
    return run_async(_serve(invocation, folders, Wanted(**address), with_run, scope=rights(None)))


@cli_command("ui")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Listen on this port.")
@click.option("--print-url", is_flag=True, help="Print the address, and open no browser.")
@click.option("--no-open", is_flag=True, help="Open no browser.")
@click.option(
    "--scope",
    type=click.Choice(list(PERSONS)),
    help="Rights of the address: only read, also act, or also decide (default, but not for agents).",
)
def ui_command(invocation: Invocation, port: int, print_url: bool, no_open: bool, scope: str | None) -> int:
    """Open the dashboard in the browser. Starts the server if none runs for this project, until Ctrl-C.

    For example: interlock ui --print-url --scope read
    """
    granted = rights(scope)
    place = run_async(locate(invocation.project))
    url = _running(place.state, granted)
    opens = not (no_open or print_url)
    if url is None:
        wanted = Wanted(port=port)
        return run_async(_serve(invocation, (invocation.project,), wanted, scope=granted, opens=opens))
    if port and f":{port}/" not in url:
        raise UsageError(f"a server of this project runs already: {url.partition('#')[0]}", "interlock ui")
    _warn_without_pages()
    _tell(invocation, url)
    if opens:
        webbrowser.open(url)
    return ExitCode.OK


def rights(scope: str | None) -> Scope:
    """The rights that were asked for. An agent in a shell of its own gets none to decide."""
    if scope == "decide":
        person()
    if scope is not None:
        return PERSONS[scope]
    try:
        person()
    except AgentsMayNot:
        return Scope.ACT
    return Scope.DECIDE


def _running(state_dir: Path, scope: Scope) -> str | None:
    """The address of the server of this project, if one answers."""
    found = read_server(state_dir)
    if found is None or not found.pid or not found.url.startswith(("http://", "https://")):
        return None
    token = load_keys(found.keys).token(scope)
    # Only the address in our own file is asked, with a token that this server gave out.
    request = urllib.request.Request(  # noqa: S310 - the scheme was looked at above
        f"{found.url}/api/session", headers={"Authorization": f"Bearer {token}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=ASK_SECONDS) as answer:  # noqa: S310 - as above
            is_ours = json.loads(answer.read(4096))["scope"] == scope.name.lower()
    except (urllib.error.URLError, OSError, ValueError, KeyError, TypeError):
        return None
    return f"{found.url}/#t={token}" if is_ours else None


def _tell(invocation: Invocation, url: str) -> None:
    if invocation.json:
        address, _, token = url.partition("/#t=")
        say_line({"url": url, "address": address, "token": token})
    else:
        say(url)


async def _serve(
    invocation: Invocation,
    folders: Sequence[Path],
    wanted: Wanted,
    with_run: bool = False,
    scope: Scope = Scope.DECIDE,
    opens: bool = False,
) -> int:
    async with served(invocation, folders, wanted, scope, opens) as interrupted:
        note("Ctrl-C ends the server; runs and agents go on without it")
        async with _run_of(folders[0] if with_run else None):
            await interrupted.wait()
    return ExitCode.OK


@asynccontextmanager
async def served(
    invocation: Invocation,
    folders: Sequence[Path],
    wanted: Wanted,
    scope: Scope = Scope.DECIDE,
    opens: bool = False,
) -> AsyncIterator[asyncio.Event]:
    """Serve these projects while the block runs, and print the address. Gives the event of Ctrl-C."""
    from interlock.ui.web.server import serving
    from interlock.ui.web.site import Site, open_site

    tls = tls_of(wanted)
    allow_open_files()
    async with AsyncExitStack() as stack:
        logs = [
            await stack.enter_async_context(open_log(folder, invocation.settings, note, create=True))
            for folder in folders
        ]
        states = [log.state_dir for log in logs]
        sock = bound(wanted, states[0])
        port = sock.getsockname()[1]
        scheme = "https" if tls else "http"
        site: Site = await open_site(logs, hosts_of(wanted, port), scheme)
        await stack.enter_async_context(serving(site, sock, tls))
        address = f"{scheme}://{hosts_of(wanted, port)[0]}"
        stack.enter_context(announced(states, address))
        interrupted = stack.enter_context(_interruption())
        url = f"{address}/#t={site.keys.token(scope)}"
        _warn_without_pages()
        _tell(invocation, url)
        if opens:
            webbrowser.open(url)
        yield interrupted


def _warn_without_pages() -> None:
    if is_built():
        return
    note(f"{paint('warning:', 'yellow')} the pages of the dashboard are not built")
    command = building() or "install Interlock from a released wheel, which has them"
    note(f"{paint('hint:', 'cyan')} {command}; then load the page again")


def building() -> str:
    """The command that builds the pages of the dashboard, if they are missing and this is a checkout."""
    if is_built() or not (SOURCE / "Makefile").exists():
        return ""
    return f"make -C {shlex.quote(str(SOURCE))} dashboard"


@contextmanager
def _interruption() -> Iterator[asyncio.Event]:
    """Gives an event that is set by Ctrl-C, or when the system ends us."""
    asked, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, asked.set)
    try:
        yield asked
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)


@asynccontextmanager
async def _run_of(folder: Path | None) -> AsyncIterator[None]:
    """`interlock run` of this folder beside the server. When the server ends, the run starts nothing new."""
    if folder is None:
        yield
        return
    words = (sys.executable, "-m", "interlock", "--project", str(folder), "run", "--no-input")
    run: Process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            run.send_signal(signal.SIGINT)
        await run.wait()
