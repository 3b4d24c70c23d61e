"""Change the source in small wrong ways, one at a time, and see whether a test fails: `make mutants`.

1. The working tree is never changed. Each of the two workers has a copy of it, and children that tests start
   import the copy too (PYTHONPATH).
2. A mutant runs against the tests nearest to it first (by imports, names, folders and rare names near the
   change), in each file the quick ones first, until a test fails or the time is up: then it is undecided.
3. A failing or hanging test counts only if it passes on the unchanged copy. Otherwise it is left out.
"""

import argparse
import difflib
import itertools
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from scripts.mutations import Mutant, is_python, mutants_of

ROOT = Path(__file__).resolve().parent.parent
SOURCE = "src/interlock"
LEFT_OUT = ("demo_files/", "/templates/")
WHOLE_RUNS = ("tests/engine/", "tests/ui/", "tests/crash/", "tests/sim/")
NEAR = 10
"""Files whose slow tests run before the quick tests of all others."""
NEVER = "not night and not agents and not projects"
HANGS_AFTER_SECONDS = 120
AROUND_LINES = 8
"""How far from a change the names are taken that tests may have, too."""

_MTIMES = itertools.count(1_000_000_000)
_NAME = re.compile(r"\b(?:[A-Z]\w{4,}|[a-z]+_\w+)")
"""Of a class, or one made of several words: other words say too little."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The end of one mutant."""

    mutant: Mutant
    killed_by: str
    """The test; empty if it survived."""
    ran: str
    seconds: float
    is_decided: bool = True
    """No: the time was up before all tests had run."""


@dataclass(slots=True)
class Room:
    """A copy of the tree for one worker."""

    path: Path
    running: subprocess.Popen[bytes] | None = None
    red: set[str] = field(default_factory=set)
    """Tests that fail on the unchanged copy."""
    green: set[str] = field(default_factory=set)

    def write(self, path: str, text: str) -> None:
        """With a time of its own, so that no compiled file of another mutant is taken for this one's."""
        (self.path / path).write_text(text)
        stamp = next(_MTIMES)
        os.utime(self.path / path, (stamp, stamp))

    def pytest(self, words: Sequence[str], seconds: float) -> tuple[int | None, str]:
        """Run it; the exit code (None: out of time) and what it said."""
        stop = f"faulthandler_timeout={HANGS_AFTER_SECONDS}"
        options = (
            "-v",
            "-x",
            "-rfE",
            "-p",
            "no:cacheprovider",
            "-n",
            "0",
            "--basetemp",
            str(self.path / "t"),
        )
        argv = (
            sys.executable,
            "-m",
            "pytest",
            *options,
            "-o",
            stop,
            "-o",
            "faulthandler_exit_on_timeout=true",
        )
        with tempfile.TemporaryFile("w+") as said:
            process = self.running = subprocess.Popen(
                (*argv, *words),
                cwd=self.path,
                env=self._environment(),
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code: int | None = process.wait(max(1.0, seconds))
            except subprocess.TimeoutExpired:
                code = None
            finally:
                self.end()
            said.seek(0)
            return code, said.read()

    def end(self) -> None:
        """End the tests that run here, and all that they started."""
        if self.running:
            with suppress(ProcessLookupError):
                os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()

    def _environment(self) -> dict[str, str]:
        own = {"PYTHONPATH": str(self.path / "src"), "COLUMNS": "2000", "HYPOTHESIS_STORAGE_DIRECTORY": "h"}
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return kept | own


def all_mutants(root: Path) -> list[Mutant]:
    """Every mutant of the product."""
    files = sorted(path for ending in ("py", "sql") for path in (root / SOURCE).rglob(f"*.{ending}"))
    names = [str(path.relative_to(root)) for path in files]
    return [
        mutant
        for name in names
        if not any(part in name for part in LEFT_OUT)
        for mutant in mutants_of(name, (root / name).read_text())
    ]


def sample(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """One of each package at least, the rest from anywhere; the same for the same seed and tree."""
    dice = random.Random(seed)  # noqa: S311 - a seeded sample, not a secret
    mixed = dice.sample(mutants, len(mutants))
    first = {mutant.path.split("/")[2]: mutant for mutant in reversed(mixed)}
    chosen = [*first.values(), *(mutant for mutant in mixed if mutant not in first.values())][:count]
    return sorted(chosen, key=lambda mutant: (mutant.path, mutant.line))


def near_tests(mutant: Mutant, tests: dict[str, str], source: str = "") -> list[str]:
    """The test files that may notice a mutant, the nearest first. `tests`: path and text of each file;
    `source`: the text of the changed file."""
    shared = _shared_names(mutant, tests, source)
    scores = {path: _nearness(mutant, path, text) + shared[path] for path, text in tests.items()}
    return sorted((path for path, score in scores.items() if score), key=lambda path: (-scores[path], path))


def _shared_names(mutant: Mutant, tests: dict[str, str], source: str) -> dict[str, float]:
    """How much the names around a change say about each test file: those that few of the files have."""
    around = source.splitlines()[max(0, mutant.line - AROUND_LINES) : mutant.line + AROUND_LINES]
    names = set(_NAME.findall("\n".join(around)))
    having = {path: names.intersection(_NAME.findall(text)) for path, text in tests.items()}
    counts = Counter(name for found in having.values() for name in found)
    worth = {name: math.log(len(tests) / count) for name, count in counts.items() if count * 10 <= len(tests)}
    return {path: sum(worth.get(name, 0.0) for name in found) for path, found in having.items()}


def _nearness(mutant: Mutant, path: str, text: str) -> int:
    parts = [part.strip("_") for part in Path(mutant.path).with_suffix("").parts[2:]]
    module = ".".join(("interlock", *Path(mutant.path).with_suffix("").parts[2:])).removesuffix(".__init__")
    package = module.rpartition(".")[0]
    named = [name.strip("_") for name in mutant.scope.split() if len(name.strip("_")) > 4]
    folder = Path(path).parent.name
    score = 8 * (re.search(rf"{re.escape(module)}\b", text) is not None)
    score += 6 * any(re.search(rf"\b{re.escape(name)}\b", text) is not None for name in named)
    score += 5 * (parts[-1] in Path(path).stem)
    score += 3 * (re.search(rf"{re.escape(package)} import", text) is not None)
    score += 3 * (folder in parts or (folder == "builtin" and "builtin_agent" in parts))
    score += parts[0] in ("run", "process") and folder in ("run", "engine")
    return score + path.startswith(WHOLE_RUNS)


def judge(room: Room, mutant: Mutant, tests: dict[str, str], limit_seconds: float) -> Verdict:
    """Run the tests against a mutant until one fails that passes without it."""
    original = (room.path / mutant.path).read_text()
    if mutant.path.endswith(".py") and not is_python(mutant.applied_to(original)):
        return Verdict(mutant, "the compiler: this change is no Python", "", 0.0)
    files = near_tests(mutant, tests, original)
    began, passed, ran = time.monotonic(), 0, ""
    groups = (
        (files[:NEAR], "not slow"),
        (files[:NEAR], "slow"),
        (files[NEAR:], "not slow"),
        (files[NEAR:], "slow"),
    )
    for group, marker in groups:
        while left_in := [file for file in group if file not in room.red]:
            room.write(mutant.path, mutant.applied_to(original))
            left = limit_seconds - (time.monotonic() - began)
            words = [word for test in sorted(room.red) for word in ("--deselect", test)]
            try:
                code, said = room.pytest((*left_in, "-m", f"{marker} and {NEVER}", *words), left)
            finally:
                room.write(mutant.path, original)
            passed += said.count(" PASSED ")
            ran = f"{len(files)} files, {passed} tests passed"
            if code is None:
                return Verdict(mutant, "", ran, time.monotonic() - began, is_decided=False)
            if code in (0, 5):
                break
            failed = _failed(said)
            if failed in room.red:  # left out, and yet it failed: more tries will not help
                break
            if failed is None or _passes_unchanged(room, failed):
                return Verdict(mutant, failed or _last_line(said), ran, time.monotonic() - began)
    return Verdict(mutant, "", ran, time.monotonic() - began)


def _failed(said: str) -> str | None:
    """The test that failed, could not be collected, or hung."""
    if found := re.search(r"^(?:FAILED|ERROR) (\S+?(?:\[.*?\])?)(?: - .*)?$", said, re.MULTILINE):
        return found[1]
    started = re.findall(r"^(tests/\S+::.*?) (?!PASSED|SKIPPED)", said, re.MULTILINE)
    return started[-1] if started else None


def _last_line(said: str) -> str:
    return (said.strip().splitlines() or ["pytest said nothing"])[-1][:200]


def _passes_unchanged(room: Room, test: str) -> bool:
    if test not in room.green | room.red:
        code, _ = room.pytest((test,), 4 * HANGS_AFTER_SECONDS)
        (room.green if code == 0 else room.red).add(test)
    return test in room.green


def copied(root: Path, to: Path) -> Room:
    """A room with every file of the tree that git knows or would add."""
    listed = subprocess.run(
        ("git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        check=True,
        capture_output=True,
    ).stdout.decode()
    for name in (name for name in listed.split("\0") if name and (root / name).is_file()):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, to / name)
    return Room(to)


def shown(verdict: Verdict, root: Path) -> str:
    """One line for a killed mutant, the change and its tests for one that survived."""
    mutant = verdict.mutant
    where = f"{mutant.path}:{mutant.line} {mutant.kind}"
    if verdict.killed_by:
        return f"killed    {where}, by {verdict.killed_by} ({verdict.seconds:.0f} s)"
    old = (root / mutant.path).read_text()
    lines = difflib.unified_diff(old.splitlines(), mutant.applied_to(old).splitlines(), n=1, lineterm="")
    change = "\n".join(f"    {line}" for line in itertools.islice(lines, 3, None))
    end = "SURVIVED " if verdict.is_decided else "undecided"
    return f"{end} {where}, {verdict.ran} ({verdict.seconds:.0f} s)\n{change}"


def run(root: Path, mutants: Sequence[Mutant], workers: int, limit_seconds: float) -> list[Verdict]:
    """Judge them all, printing each as it is known."""
    tests = {
        str(path.relative_to(root)): path.read_text()
        for path in sorted((root / "tests").rglob("test_*.py"))
        if path.parent.name not in ("agents", "projects")
    }
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        rooms = [copied(root, Path(scratch, str(number))) for number in range(workers)]
        free = list(rooms)

        def one(mutant: Mutant) -> Verdict:
            room = free.pop()
            try:
                return judge(room, mutant, tests, limit_seconds)
            finally:
                free.append(room)

        pool, verdicts = ThreadPoolExecutor(workers), list[Verdict]()
        try:
            for verdict in pool.map(one, mutants):
                verdicts.append(verdict)
                print(f"{len(verdicts)}/{len(mutants)} {shown(verdict, root)}", flush=True)
        finally:  # when interrupted, no test goes on
            pool.shutdown(wait=False, cancel_futures=True)
            for room in rooms:
                room.end()
            pool.shutdown()
    return verdicts


def main(words: Iterable[str] | None = None) -> int:
    """Print each mutant and the kill rate. Ends with 0 whatever the rate: a survivor may be equivalent."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--limit-seconds", type=float, default=400.0, help="for each mutant")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="PATH or PATH:LINE: all mutants there instead of a sample")
    asked = parser.parse_args(None if words is None else list(words))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    mutants = all_mutants(ROOT)
    if asked.only:
        path, _, line = asked.only.partition(":")
        chosen = [one for one in mutants if one.path == path and line in ("", str(one.line))]
    else:
        chosen = sample(mutants, asked.count, asked.seed)
    print(f"{len(chosen)} of {len(mutants)} mutants, seed {asked.seed}", flush=True)
    verdicts = run(ROOT, chosen, asked.workers, asked.limit_seconds)
    killed = sum(bool(verdict.killed_by) for verdict in verdicts)
    decided = sum(verdict.is_decided for verdict in verdicts)
    rate = f"killed {killed} of {decided} ({100 * killed / max(1, decided):.0f} %)"
    print(f"{rate}, {len(verdicts) - decided} undecided: the time was up")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
