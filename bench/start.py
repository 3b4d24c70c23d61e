"""How long a command takes before it does anything, what it loads, and what is installed."""

import importlib.metadata
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.scratch import scratch_repository
from bench.table import Row, Watch

TITLE = "start"
ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("aiohttp", "fastapi", "psycopg", "rich", "starlette", "textual", "uvicorn")
"""What `--help` and `status` must not load: web, SQL servers, terminal interfaces."""
INTERLOCK = (sys.executable, "-m", "interlock")


def measure(short: bool) -> list[Row]:
    """Wall time of the shortest of several starts, beside that of Python alone."""
    rounds = 3 if short else 10
    # As `pip install` leaves it. Where bytecode is not written, every start would compile all of it.
    subprocess.run((sys.executable, "-m", "compileall", "-q", ROOT / "src"), check=True)
    with tempfile.TemporaryDirectory() as folder:
        place = scratch_repository(Path(folder), "version: 1\ntasks: {}\n")
        python = _fastest((sys.executable, "-c", "pass"), place, rounds)
        rows = [Row("python -c pass", python, "s")]
        for words in (("--help",), ("status",)):
            seconds = _fastest((*INTERLOCK, *words), place, rounds)
            name = f"interlock {' '.join(words)}"
            rows += [
                Row(name, seconds, "s", target=0.3),
                Row(f"{name}, beside Python", seconds, "s", seconds / python, "python -c pass"),
                Row(f"{name}, heavy libraries loaded", len(_heavy(words, place)), "", target=0),
            ]
    return [*rows, Row("installed size", _installed_bytes() / 2**20, "MiB", target=60.0)]


def _fastest(argv: tuple[str, ...], place: Path, rounds: int) -> float:
    watches = [Watch() for _ in range(rounds)]
    for watch in watches:
        with watch.measure():
            subprocess.run(argv, cwd=place, capture_output=True, check=True)
    return min(watch.seconds for watch in watches)


def _heavy(words: tuple[str, ...], place: Path) -> list[str]:
    argv = (sys.executable, "-X", "importtime", "-m", "interlock", *words)
    loaded = subprocess.run(argv, cwd=place, capture_output=True, check=True, text=True).stderr
    names = set(re.findall(r"\| +([\w.]+)$", loaded, re.MULTILINE))
    return [name for name in HEAVY if name in names]


def _installed_bytes() -> int:
    """Interlock and the pinned packages that come with it."""
    pins = re.findall(r"^([\w.\-]+)==", (ROOT / "requirements/runtime.txt").read_text(), re.MULTILINE)
    own = sum(file.stat().st_size for file in (ROOT / "src").rglob("*") if file.is_file())
    return own + sum(map(_package_bytes, pins))


def _package_bytes(name: str) -> int:
    try:
        files = importlib.metadata.files(name) or []
    except importlib.metadata.PackageNotFoundError:
        return 0  # pinned for another system or Python
    return sum(Path(str(file.locate())).stat().st_size for file in files if Path(str(file.locate())).exists())
