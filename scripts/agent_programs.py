"""Install the pinned agent programs that `make test-agents` drives.

1. Each program has a folder of pins beside this file (`agents/<name>/`) and one in the cache, named for those
   pins: a changed pin is a new folder, so a program that runs is never replaced under its feet.
2. Safe to repeat and to run twice at once: the second one waits for the lock and then finds it done.
   The manifest is written last, so what was cut short is installed again.
3. No install script of any package runs. Where a program has a native binary, that is what is started.
4. Where packages come from is the setting of npm and uv; the locks hold checksums and name no address.
"""

import argparse
import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PINS = Path(__file__).resolve().parent / "agents"
_CPUS = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_CPU = _CPUS.get(platform.machine(), "x64")
_INSTALL_SECONDS = 900


class CannotInstall(Exception):
    """A program could not be installed; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Program:
    """One agent program: where its pins are, and how it is started once installed."""

    name: str
    start: tuple[str, ...]
    """Paths inside its folder, with `*` for the platform; a word without a slash is looked up on PATH."""

    @property
    def pins(self) -> Path:
        return PINS / self.name

    @property
    def is_from_npm(self) -> bool:
        return (self.pins / "package.json").exists()


_MODULES = "node_modules"
PROGRAMS = {
    program.name: program
    for program in (
        Program("claude-code", (f"{_MODULES}/@anthropic-ai/claude-code-*-{_CPU}/claude",)),
        Program("codex", (f"{_MODULES}/@openai/codex-*-{_CPU}/vendor/*/bin/codex",)),
        Program("gemini", ("node", f"{_MODULES}/@google/gemini-cli/bundle/gemini.js")),
        # Wants a newer Node than most machines have, so it brings its own.
        Program("qwen", (f"{_MODULES}/node-*-{_CPU}/bin/node", f"{_MODULES}/@qwen-code/qwen-code/cli.js")),
        Program("opencode", (f"{_MODULES}/opencode-*-{_CPU}/bin/opencode",)),
        # Not the npm loader: when that is ended, the program it started lives on.
        Program("copilot", (f"{_MODULES}/@github/copilot-*-{_CPU}/copilot",)),
        Program("aider", ("venv/bin/aider",)),
        Program("mini-swe-agent", ("venv/bin/mini",)),
    )
}


def cache_folder() -> Path:
    return Path(os.environ.get("INTERLOCK_AGENTS_CACHE") or Path.home() / ".cache" / "interlock-agents")


def folder(program: Program, cache: Path) -> Path:
    """Where this program with exactly these pins belongs."""
    return cache / f"{program.name}-{_checksum(program)[:12]}"


def is_installed(program: Program, cache: Path) -> bool:
    return (folder(program, cache) / "manifest.json").exists()


def command(name: str, cache: Path | None = None) -> list[str]:
    """The first words of the program's command line."""
    program = PROGRAMS[name]
    where = folder(program, cache or cache_folder())
    return [_word(word, where) for word in program.start]


def _word(word: str, where: Path) -> str:
    if "/" not in word:
        return shutil.which(word) or word
    found = sorted(where.glob(word))
    if not found:
        raise CannotInstall(f"{where} has no {word}; remove that folder if it is there, and install again")
    return str(found[0])


def _checksum(program: Program) -> str:
    files = [path for path in sorted(program.pins.iterdir()) if path.suffix in (".json", ".txt")]
    parts = [platform.system(), _CPU, *(path.name + path.read_text() for path in files)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def install(program: Program, cache: Path, say: Callable[[str], None]) -> None:
    """Make sure the program is there."""
    if is_installed(program, cache):
        return
    cache.mkdir(parents=True, exist_ok=True)
    with _lock(cache / f".{program.name}.lock", say):
        if is_installed(program, cache):
            return
        where = folder(program, cache)
        shutil.rmtree(where, ignore_errors=True)
        where.mkdir()
        say(f"installing {program.name} into {where}")
        started = time.monotonic()
        (_install_from_npm if program.is_from_npm else _install_from_pypi)(program, where)
        seconds, megabytes = round(time.monotonic() - started, 1), _megabytes(where)
        manifest = {"command": command(program.name, cache), "seconds": seconds, "megabytes": megabytes}
        (where / "manifest.json").write_text(json.dumps(manifest, indent=2))
        say(f"installed {program.name}: {megabytes} MB in {seconds} s")


@contextmanager
def _lock(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    with path.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another process is installing {path.name.strip('.').removesuffix('.lock')}; waiting")
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _install_from_npm(program: Program, where: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise CannotInstall(
            f"npm is needed for {program.name} and is not on PATH; install Node.js 20 or newer"
        )
    for name in ("package.json", "package-lock.json"):
        shutil.copy(program.pins / name, where / name)
    # Not `npm ci`: that refuses a lock without the parts for every other platform.
    quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts", "--loglevel=error"]
    _run([npm, "install", *quiet, "--omit-lockfile-registry-resolved=true"], where)


def _install_from_pypi(program: Program, where: Path) -> None:
    # Neither program runs on a Python newer than this yet; uv finds an older one where there is one.
    _uv(["venv", "--quiet", "--no-python-downloads", "--python", ">=3.11,<3.13", "venv"], where)
    pins = str(program.pins / "requirements.txt")
    # Compiled now: in a sandbox it cannot be, and starting would take half a minute every time.
    how = ("--quiet", "--compile-bytecode", "--require-hashes", "--python", "venv/bin/python")
    _uv(["pip", "install", *how, "-r", pins], where)


def _uv(words: list[str], where: Path) -> None:
    _run([sys.executable, "-m", "uv", *words], where)


def _run(words: list[str], where: Path) -> None:
    try:
        done = subprocess.run(
            words, cwd=where, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise CannotInstall(f"{' '.join(words)}\nnot done after {_INSTALL_SECONDS} s; try again") from late
    if done.returncode != 0:
        last = "\n".join((done.stderr or done.stdout).splitlines()[-15:])
        raise CannotInstall(f"{' '.join(words)}\n{last}")


def _megabytes(where: Path) -> int:
    sizes = (path.lstat().st_size for path in where.rglob("*") if not path.is_dir())
    return round(sum(sizes) / 1e6)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default=",".join(PROGRAMS), help="names, with commas; all without it")
    parser.add_argument("--cache", type=Path, default=cache_folder())
    parser.add_argument("--where", action="store_true", help="print how each is started, and install nothing")
    chosen = parser.parse_args(words)
    names = chosen.only.split(",")
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    try:
        for name in names:
            if not chosen.where:
                install(PROGRAMS[name], chosen.cache, say=_say)
            _say(f"{name}: {' '.join(command(name, chosen.cache))}")
    except CannotInstall as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
