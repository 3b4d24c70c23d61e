"""`interlock trust`: what a repository asks for beyond the sandbox, and the user's agreement to it."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from interlock.engine.settings import FILE, Loaded, load
from interlock.engine.trust import Trust, Widening, of_graph, of_include, of_links
from interlock.git.discover import discover
from interlock.git.files import GRAPH_BYTES, read_regular
from interlock.git.include import read_patterns
from interlock.model.errors import Declined, GraphError, UsageError
from interlock.plan import Graph, parse
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, say, say_json, say_listing
from interlock.ui.cli.session import run_async
from interlock.ui.plain import counted
from interlock.ui.queries.findings import Finding, bad, good

FIX = "interlock trust"


@cli_command("trust")
@click.option("--yes", is_flag=True, help="Agree without asking.")
@click.option("--revoke", is_flag=True, help="Revoke every agreement for this repository.")
def trust_command(invocation: Invocation, yes: bool, revoke: bool) -> None:
    """Show the values of this repository that widen the sandbox, and agree to them.

    The agreement is for these values in this repository. It is kept in your own state folder, and a changed
    value needs a new one. For example: interlock trust
    """
    loaded, asked = run_async(widenings(invocation))
    if revoke:
        _revoke(invocation, loaded)
    else:
        _agree(invocation, loaded, asked, yes)


async def widenings(invocation: Invocation, graph: Path | None = None) -> tuple[Loaded, list[Widening]]:
    """The settings of the repository around us, and all its values that widen the sandbox. Opens no log."""
    place = await discover(invocation.project)
    root = place.work_tree or place.common_dir
    loaded = load(root, invocation.settings)
    path = graph.absolute() if graph else root / loaded.settings.graph
    wishes = of_graph(_graph(path), path.name, loaded.settings.key_hosts)
    links = of_links({FILE: FILE, "graph": str(path)}, root)
    found = (*loaded.asked, *links, *wishes, of_include(read_patterns(root)))
    return loaded, [value for value in found if value]


def _graph(graph: Path) -> Graph | None:
    """Read a task graph. One that cannot be read starts no agent either."""
    try:
        return parse(read_regular(graph, GRAPH_BYTES), graph.name)
    except FileNotFoundError:
        return None
    except (OSError, GraphError):
        note(f"{graph.name} cannot be read, so it is left out: see `interlock plan`")
        return None


async def ask_trust(invocation: Invocation, graph: Path | None) -> None:
    """Ask on a terminal for the agreement that a run needs, if any is missing."""
    loaded, asked = await widenings(invocation, graph)
    if missing := loaded.trust.missing(asked):
        _ask(loaded, missing)


def _ask(loaded: Loaded, missing: Sequence[Widening]) -> None:
    note("this repository widens the sandbox:")
    for value in missing:
        note(f"  {value.text}")
    if not click.confirm("Do you agree? Answer no if you do not know who wrote this", err=True):
        raise Declined("no task started; these values stay off", FIX)
    loaded.trust.agree(missing)


def _agree(invocation: Invocation, loaded: Loaded, asked: Sequence[Widening], yes: bool) -> None:
    missing = loaded.trust.missing(asked)
    if missing and yes:
        loaded.trust.agree(missing)
    elif missing and not invocation.wants_json():
        if not sys.stdin.isatty():
            for value in missing:
                say(value.text)
            raise UsageError(f"{counted(len(missing), 'value')} without your agreement", "use --yes to agree")
        _ask(loaded, missing)
    lines = (value.text for value in asked)
    say_listing(invocation, lambda: [_document(loaded, value) for value in asked], lines)
    if not invocation.wants_json():
        note(f"agreed to {counted(len(asked), 'value')}" if asked else "no value here widens the sandbox")


def _document(loaded: Loaded, value: Widening) -> dict[str, object]:
    return {
        "key": value.key,
        "value": value.shown,
        "place": value.place,
        "does": value.does,
        "agreed": loaded.trust.allows(value),
    }


def _revoke(invocation: Invocation, loaded: Loaded) -> None:
    gone = loaded.trust.revoke()
    if invocation.wants_json():
        say_json({"repository": loaded.trust.repository, "revoked": gone})
        return
    note("every agreement for this repository is revoked" if gone else "there was no agreement")
    if loaded.trust.everything:
        note("`trust_folders` in your own settings still names a folder around it")


def trust_finding(trust: Trust, asked: Sequence[Widening]) -> Finding:
    missing = trust.missing(asked)
    if missing:
        names = ", ".join(dict.fromkeys(value.key for value in missing))
        return bad("trust", f"not agreed to, so not in effect: {names}", FIX)
    if not asked:
        return good("trust", "no value in this repository widens the sandbox")
    names = ", ".join(dict.fromkeys(value.key for value in asked))
    why = "by your `trust_folders`" if trust.everything else "by you"
    return good("trust", f"agreed to {why}: {names}")
