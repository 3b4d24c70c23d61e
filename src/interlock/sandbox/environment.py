"""The environment of a program that sees other files than we do: nothing in it names what is not there."""

from collections.abc import Mapping

from interlock.model.sandbox import Grant
from interlock.sandbox.confinement import SYSTEM_PATH
from interlock.sandbox.toolchains import SYSTEM, Toolchains, is_below

NO_HOME = "/home/agent"
"""HOME of a program that has none to keep."""
USER = "agent"


def inside(
    env: Mapping[str, str], grant: Grant, toolchains: Toolchains, home: str, temp: str
) -> dict[str, str]:
    """Return the program's environment: paths only if they exist, its own HOME, no person's name."""
    writable = (*grant.changeable, home, temp)
    visible = (*SYSTEM, *toolchains.folders, *grant.seen, *writable)
    kept = {
        name: value
        for name, value in env.items()
        if not (name.startswith("XDG_") and value.startswith("/") and not is_below(value, visible))
    }
    return {
        **toolchains.env,
        **kept,
        "HOME": kept["HOME"] if is_below(kept.get("HOME", ""), writable) else home,
        "TMPDIR": kept["TMPDIR"] if is_below(kept.get("TMPDIR", ""), writable) else temp,
        "PATH": _path(env.get("PATH", ""), visible),
        "USER": USER,
        "LOGNAME": USER,
    }


def _path(path: str, visible: tuple[str, ...]) -> str:
    """The entries that lead somewhere, then the system's own."""
    entries = [entry for entry in path.split(":") if entry.startswith("/") and is_below(entry, visible)]
    return ":".join(dict.fromkeys([*entries, *SYSTEM_PATH.split(":")]))
