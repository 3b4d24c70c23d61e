"""`interlock config`: the settings, and where each comes from."""

import re
import tomllib
from dataclasses import fields

import click

from interlock.engine.settings import FILE, LISTING, Settings, check, key_of, load
from interlock.git.files import read_regular
from interlock.model.durations import time_text
from interlock.model.errors import UsageError
from interlock.model.nearest import suggest
from interlock.ui.cli.app import CommandGroup
from interlock.ui.cli.output import Invocation, note, say_listing
from interlock.ui.cli.session import repository_root
from interlock.ui.cli.writing import write

SECRET = re.compile(r"(?<=://)([^/@:]+):[^@/]+@")


@click.group("config", cls=CommandGroup)
def config_command() -> None:
    """Show or change settings.

    For example: interlock config show --origin
    """


@config_command.command("show")
@click.option("--origin", is_flag=True, help="Show the source of each value.")
@click.pass_obj
def show(invocation: Invocation, origin: bool) -> None:
    """Show every setting with its value.

    For example: interlock config show --origin
    """
    loaded = load(repository_root(invocation), {})
    rows = {key_of(field): shown(loaded.settings, field.name) for field in fields(Settings)}
    width = max(map(len, rows))
    say_listing(
        invocation,
        lambda: {key: {"value": value, "origin": loaded.origins[key]} for key, value in rows.items()},
        (
            f"{key:{width}} = {_toml(value)}" + (f"   # {loaded.origins[key]}" if origin else "")
            for key, value in rows.items()
        ),
    )


@config_command.command("get")
@click.argument("key")
@click.pass_obj
def get(invocation: Invocation, key: str) -> None:
    """Print the value of one setting.

    For example: interlock config get max_parallel
    """
    value = shown(load(repository_root(invocation), {}).settings, _field_name(key))
    text = str(value).lower() if value in (True, False) else str(value)
    say_listing(invocation, lambda: value, [" ".join(value) if isinstance(value, tuple) else text])


@config_command.command("set")
@click.argument("key")
@click.argument("value")
@click.pass_obj
def set_(invocation: Invocation, key: str, value: str) -> None:
    """Write one setting into interlock.toml, keeping the rest of the file as it is.

    A list is written with commas or as TOML: interlock config set land_files "docs/**,*.lock"
    For example: interlock config set max_parallel 5
    """
    root = repository_root(invocation)
    path = root / FILE
    checked = check(key, _plain(value), f"config set {key}")
    text = read_regular(path).decode() if path.exists() else ""
    said = value if _field_name(key).endswith("_seconds") else checked
    write(path, _with(text, key, _toml(said)))
    loaded = load(root, {})
    loaded.trust.agree(value for value in loaded.asked if value.key == key)  # the user says it right here
    loaded = load(root, {})
    note(f"set {key} in {path}")
    if not loaded.origins[key].startswith(str(path)):
        winner = _toml(shown(loaded.settings, _field_name(key)))
        note(f"but {loaded.origins[key]} overrides it: {winner}")


@config_command.command("path")
@click.pass_obj
def path_(invocation: Invocation) -> None:
    """List the files that settings are read from, strongest first.

    For example: interlock config path
    """
    paths = load(repository_root(invocation), {}).files
    say_listing(
        invocation,
        lambda: [{"path": str(path), "exists": path.exists()} for path in paths],
        (f"{path}{'' if path.exists() else '  (does not exist)'}" for path in paths),
    )


def shown(settings: Settings, name: str) -> object:
    """A value as people write it, without the password that an address may hold."""
    value = getattr(settings, name)
    if name.endswith("_seconds"):
        return time_text(value)
    return SECRET.sub(r"\1:***@", value) if isinstance(value, str) else value


def _field_name(key: str) -> str:
    names = {key_of(field): field.name for field in fields(Settings)}
    if key not in names:
        raise UsageError(f"unknown setting `{key}`", suggest(key, names, LISTING))
    return names[key]


def _plain(value: str) -> str:
    """A list in TOML's form in the form with commas; else the text as it is."""
    listed = _read(f"value = {value}").get("value") if value.lstrip().startswith("[") else None
    return ",".join(map(str, listed)) if isinstance(listed, list) else value


def _read(text: str) -> dict[str, object]:
    """TOML; nothing if it is none."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def _toml(value: object) -> str:
    """A value as TOML writes it; JSON's form of these types is TOML's too."""
    import msgspec

    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + "}"
    return msgspec.json.encode(value).decode()


def _with(text: str, key: str, value: str) -> str:
    """The file with this key set: its line replaced, or a new one before the first table."""
    line = f"{key} = {value}"
    if found := re.search(rf"^[ \t]*{re.escape(key)}[ \t]*=", text, re.MULTILINE):
        ends = [match.start() for match in re.finditer(r"\n|\Z", text) if match.start() > found.start()]
        # A list may go on over several lines.
        end = next((end for end in ends if _read(text[found.start() : end])), ends[0])
        return text[: found.start()] + line + text[end:]
    table = re.search(r"^\s*\[", text, re.MULTILINE)
    at = table.start() if table else len(text)
    before = text[:at] + ("" if not text[:at] or text[:at].endswith("\n") else "\n")
    return f"{before}{line}\n{text[at:]}"
