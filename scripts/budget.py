"""Print the size of the program and the time of its tests, so that each change shows what it adds.

`python scripts/budget.py [REPORT]`: REPORT is what `pytest --junitxml` wrote.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from xml.etree import ElementTree

from interlock.engine.settings import Settings
from interlock.events.facts import kinds
from interlock.ui.cli.app import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
SLOWEST = 10


def sizes(root: Path = ROOT) -> dict[str, int]:
    """The parts that a reader has to know of, counted."""
    modules = [path.read_text(encoding="utf-8") for path in (root / "src").rglob("*.py")]
    glossary = (root / "docs" / "glossary.md").read_text(encoding="utf-8")
    return {
        "lines of src": sum(len(text.splitlines()) for text in modules),
        "modules": len(modules),
        "kinds of facts": len(kinds()),
        "settings": len(fields(Settings)),
        "commands": len(COMMANDS),
        "glossary words": len(re.findall(r"^\| \*\*", glossary, re.MULTILINE)),
    }


def times(report: str) -> Iterator[str]:
    """The seconds of a whole test run, and its slowest tests."""
    suite = ElementTree.fromstring(report).find("testsuite")  # noqa: S314 - pytest wrote it a moment ago
    if suite is None:
        return
    yield f"{float(suite.get('time', 0)):9.0f}  seconds of make test"
    cases = sorted(suite.iter("testcase"), key=lambda case: -float(case.get("time", 0)))
    for case in cases[:SLOWEST]:
        yield f"{float(case.get('time', 0)):9.1f}  {case.get('classname')}::{case.get('name')}"


def main(words: list[str]) -> int:
    """Print both."""
    print("budget:")
    for name, number in sizes().items():
        print(f"{number:9,}  {name}")
    report = Path(words[0]) if words else None
    if report and report.exists() and report.stat().st_size:
        print("\n".join(times(report.read_text(encoding="utf-8"))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
