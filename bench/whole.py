"""The real train on a real repository: many agents, hot files, planted conflicts, flaky checks, kills.

`python -m bench.whole --repository FOLDER --check "python -m pytest -q"` clones the repository, adds tasks,
runs `interlock run` with `lane_depth` 1 and then with `--depth`, and checks every commit of main again in a
clean clone. With `--kills N` it ends the command with SIGKILL at N random moments of one run.

What each agent does follows from the number of its task:
1. It adds a file of its own, and of every third task a line to one hot file.
2. Every tenth task belongs to a pair: each of the two is green alone, and both together are red. The one that
   comes second leaves its half out when it tries again.
3. Every twentieth task is wrong at its first attempt.
The check fails by chance in 3 % of its runs, besides the repository's own check.

With `--area FOLDER=CHECK`, several times, each task adds a file to one of these folders instead. Each task
has the checks of all areas, and in the second run each check declares its folder as `inputs`.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.scratch import IDENTITY

AGENT = """\
set -e
number=${INTERLOCK_TASK_ID#task-}
mkdir -p train/own train/pairs
echo "$INTERLOCK_TASK_ID" > "train/own/$number.txt"
if test $((number % 3)) = 0; then sed -i "s/^slot $number\\$/slot $number: taken/" train/hot.txt; fi
if test $((number % 20)) = 7 && test "$INTERLOCK_ATTEMPT" = 1; then echo wrong > train/own/$number.txt; fi
half() { if ! test -e "train/pairs/$1-$3"; then touch "train/pairs/$1-$2"; fi; }
case $((number % 20)) in
  4) half $((number / 20)) a b;;
  14) half $((number / 20)) b a;;
esac
"""
AREA_AGENT = """\
number=${INTERLOCK_TASK_ID#task-}
set -- FOLDERS
shift $((number % $#))
echo "$INTERLOCK_TASK_ID" > "$1/train-$number.txt"
"""
CHECK = """\
if test -z "$NO_FLAKE" && test "$(od -An -N1 -tu1 /dev/urandom)" -lt 8; then echo "bad luck"; exit 1; fi
if grep -lx wrong train/own/*.txt; then echo "is wrong"; exit 1; fi
for first in train/pairs/*-a; do
  if test -e "$first" && test -e "${first%-a}-b"; then echo "both halves of ${first%-a}"; exit 1; fi
done
"""


@dataclass(frozen=True, slots=True)
class Result:
    """One run to its end."""

    seconds: float
    landed: int
    builds: int
    check_runs: int
    check_seconds: float
    """For each landed change."""
    red: tuple[str, ...]
    """Commits of main whose check fails in a clean clone."""
    left: tuple[str, ...]
    kills: int


def main() -> None:
    """Print one line for each run."""
    parser = argparse.ArgumentParser(prog="python -m bench.whole", description=__doc__)
    parser.add_argument("--repository", required=True)
    parser.add_argument("--check", default="true", help="the repository's own check, in a shell")
    parser.add_argument("--area", action="append", metavar="FOLDER=CHECK", default=[])
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--agents", type=int, default=30)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    depth = options.depth
    runs = [(depth, options.kills, False)] if options.kills else [(1, 0, False), (depth, 0, False)]
    for lane, kills, has_inputs in [(depth, 0, False), (depth, 0, True)] if options.area else runs:
        with tempfile.TemporaryDirectory() as folder:
            result = _run(Path(folder), options, lane, kills, has_inputs=has_inputs)
        print(
            f"lane_depth {lane}, {'inputs, ' * has_inputs}{result.kills} kills: "
            f"{result.landed} of {options.tasks} landed in "
            f"{result.seconds:.1f} s, {result.builds} builds, {result.check_runs} runs of checks, "
            f"{result.check_seconds:.2f} check-seconds for each landed change, "
            f"red commits: {list(result.red)}, left: {list(result.left)}",
            flush=True,
        )


def _run(folder: Path, options: argparse.Namespace, depth: int, kills: int, *, has_inputs: bool) -> Result:
    place = _repository(folder, options, has_inputs=has_inputs)
    start = _git(place, "rev-parse", "main")
    words = ("run", "--no-input", "--max-parallel", str(options.agents))
    environment = {**os.environ, "INTERLOCK_LANE_DEPTH": str(depth)}
    began = time.monotonic()
    done = _with_kills(place, words, environment, kills, random.Random(options.seed))
    _interlock(place, environment, *words)
    seconds = time.monotonic() - began
    facts = [json.loads(line) for line in _interlock(place, environment, "events", "--json").splitlines()]
    tasks = json.loads(_interlock(place, environment, "status", "--json"))["tasks"]
    checks = [check for fact in facts for check in fact["fact"].get("checks") or () if fact["kind"] in ENDS]
    ran = [check for check in checks if not check.get("reused")]
    landed = sum(fact["kind"] == "Landed" for fact in facts)
    return Result(
        seconds,
        landed,
        sum(fact["kind"] == "BuildStarted" for fact in facts),
        len(ran),
        sum(check.get("seconds", 0.0) for check in ran) / max(1, landed),
        _red_commits(folder, place, start),
        tuple(task["id"] for task in tasks if task["state"] != "done"),
        done,
    )


ENDS = ("CandidatePassed", "PhaseFailed", "BuildEnded")


def _with_kills(
    place: Path, words: tuple[str, ...], environment: dict[str, str], kills: int, dice: random.Random
) -> int:
    """Start the command so often, and kill it at a random moment; how often it was still alive."""
    done = 0
    for _ in range(kills):
        argv = (sys.executable, "-m", "interlock", *words)
        run = subprocess.Popen(
            argv, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            run.wait(dice.uniform(0.5, 6.0))
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
            done += 1
    return done


def _repository(folder: Path, options: argparse.Namespace, *, has_inputs: bool) -> Path:
    place = folder / "project"
    subprocess.run(("git", "clone", "-q", options.repository, place), check=True)
    _git(place, "checkout", "-q", "-B", "main")
    _git(place, "remote", "remove", "origin")
    files = place / "train"
    for name in ("own", "pairs"):
        (files / name).mkdir(parents=True)
        (files / name / ".keep").touch()
    areas = [area.partition("=")[::2] for area in options.area]
    folders = " ".join(name for name, _ in areas)
    (files / "agent.sh").write_text(AREA_AGENT.replace("FOLDERS", folders) if areas else AGENT)
    lines = "".join(f"({check}) || exit 1\n" for _, check in areas)
    (files / "check.sh").write_text(lines or f"{CHECK}{options.check}\n")
    verify = [{"run": check, "inputs": [f"{name}/**"]} if has_inputs else check for name, check in areas]
    (files / "hot.txt").write_text("".join(f"slot {number}\n" for number in range(options.tasks)))
    tasks = "".join(
        f"  task-{number}: {{goal: Do {number}, retries: 8}}\n" for number in range(options.tasks)
    )
    (place / "task-graph.yaml").write_text(
        f"version: 1\ndefaults: {{agent: scripted, verify: {json.dumps(verify or 'sh train/check.sh')}}}\n"
        "agents:\n  scripted: {use: command, run: [sh, train/agent.sh]}\n" + f"tasks:\n{tasks}"
    )
    for key, value in (("user.name", "Bench"), ("user.email", "bench@example.com")):
        _git(place, "config", key, value)
    _git(place, "add", "-f", "train", "task-graph.yaml")
    _git(place, *IDENTITY, "commit", "-q", "-m", "train")
    return place


def _red_commits(folder: Path, place: Path, start: str) -> tuple[str, ...]:
    clone = folder / "clone"
    subprocess.run(("git", "clone", "-q", "--no-hardlinks", place, clone), check=True)
    subprocess.run(("git", "fsck", "--strict", "--no-dangling"), cwd=place, check=True, capture_output=True)
    red = []
    for commit in _git(clone, "rev-list", "--first-parent", f"{start}..origin/main").split():
        _git(clone, "checkout", "-q", "--force", commit)
        environment = {**os.environ, "NO_FLAKE": "1"}
        words = ("sh", "train/check.sh")
        if subprocess.run(words, check=False, cwd=clone, env=environment, capture_output=True).returncode:
            red.append(commit[:12])
    return tuple(red)


def _git(place: Path, *words: str) -> str:
    return subprocess.run(
        ("git", *words), cwd=place, check=True, capture_output=True, text=True
    ).stdout.strip()


def _interlock(place: Path, environment: dict[str, str], *words: str) -> str:
    argv = (sys.executable, "-m", "interlock", *words)
    done = subprocess.run(argv, check=False, cwd=place, env=environment, stdout=subprocess.PIPE, text=True)
    return done.stdout


if __name__ == "__main__":
    main()
