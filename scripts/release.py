"""Build the sdist and the wheel into `dist/`, and try the wheel: `make release`. Uploads nothing.

1. The checkout must be committed and CHANGELOG.md as `make changelog` writes it: a release is a commit.
2. The wheel is built from the sdist, so a file that is missing there shows.
3. The wheel is installed into a new environment with the pinned packages, and its own `interlock` must show
   its version and run the demo. Only then the two files are put into `dist/`.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

from interlock import __version__
from scripts.changelog import ROOT, changelog

DIST = ROOT / "dist"
PIP = ("-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check")
ISOLATED = {
    name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "INTERLOCK_"))
}
"""The environment of the smoke test: nothing in it may lead Python back to the checkout."""


def main() -> int:
    """Make the release, or say why there is none."""
    if problem := not_ready():
        print(f"release: {problem}", file=sys.stderr)
        return 1
    with TemporaryDirectory(prefix="interlock-release-") as folder:
        files = build(Path(folder))
        smoke(Path(folder), files[-1])
        DIST.mkdir(exist_ok=True)
        made = [Path(shutil.copy(path, DIST)) for path in files]
    print(f"release: {said('git', 'log', '-1', '--format=%h %s', cwd=ROOT)}")
    for path in made:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        print(f"release: {path.relative_to(ROOT)}  {path.stat().st_size >> 10} KiB  sha256:{digest}")
    print("release: nothing was uploaded")
    return 0


def not_ready() -> str:
    """The reason why no release can be made of this checkout; empty if there is none."""
    if (ROOT / "CHANGELOG.md").read_text(encoding="utf-8") != changelog(ROOT / "changes", __version__):
        return "CHANGELOG.md is out of date: `make changelog`, then commit it"
    changed = said("git", "status", "--porcelain", cwd=ROOT)
    return f"the checkout has changes that are not committed:\n{changed}" if changed else ""


def build(folder: Path) -> list[Path]:
    """The sdist, and the wheel made from it."""
    print("release: building")
    said(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder, cwd=ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    words = ("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder, sdist)
    said(sys.executable, *PIP, *words, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return [sdist, wheel]


def smoke(folder: Path, wheel: Path) -> None:
    """Install the wheel where nothing else is, and use it."""
    print(f"release: installing {wheel.name} into an empty environment")
    home = folder / "env"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    pins = ROOT / "requirements" / "runtime.txt"
    said(python, *PIP, "install", "--require-hashes", "-r", pins, cwd=folder)
    said(python, *PIP, "install", "--no-deps", "--no-index", wheel, cwd=folder)
    said(python, *PIP, "check", cwd=folder)
    command = home / "bin" / "interlock"
    version = said(command, "--version", cwd=folder)
    if version != f"interlock {__version__}":
        raise SystemExit(f"release: the wheel calls itself {version!r}, not {__version__}")
    print(f"release: {version}")
    told = json.loads(said(command, "demo", "--json", "--dir", folder / "demo", cwd=folder))
    print(f"release: its demo landed {told['landed']} tasks, {len(told['commits_red'])} red commits on main")


def said(*words: str | Path, cwd: Path) -> str:
    """What a program printed; one that fails ends the release with its message."""
    done = subprocess.run(words, cwd=cwd, env=ISOLATED, text=True, capture_output=True, check=False)
    if done.returncode:
        line = " ".join(map(str, words))
        raise SystemExit(f"release: `{line}` ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


if __name__ == "__main__":
    raise SystemExit(main())
