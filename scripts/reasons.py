"""Fail when an ignore (noqa, type: ignore, pragma, or a rule switched off in pyproject.toml) has no reason.

In code the reason follows the marker: `except Exception:  # noqa: BLE001 - an agent may raise anything`.
In pyproject.toml it is a comment on the same line, or the line above.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "bench", "scripts")

MARKER = re.compile(
    r"#\s*(?:noqa(?::\s*[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*)?|type:\s*ignore(?:\[[^\]]*\])?|pragma:\s*no\s*cover)"
)
REASON = re.compile(r"^\s*(?:#|-|:)\s*\S+\s+\S+")
SETTING = re.compile(r'^\s*"[A-Z]+\d+",|^(ignore_|disable_|disallow_\w+\s*=\s*false|exhaustive_ignores)')


def code_without_reason(text: str) -> Iterator[int]:
    """Numbers of the lines whose marker is followed by nothing, or by less than two words."""
    for number, line in enumerate(text.splitlines(), start=1):
        markers = list(MARKER.finditer(line))
        if markers and not REASON.match(line[markers[-1].end() :]):
            yield number


def settings_without_reason(text: str) -> Iterator[int]:
    """Numbers of the lines that switch a rule off with no comment there or in the three lines above."""
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        above = lines[max(0, number - 4) : number - 1]
        if SETTING.match(line) and "#" not in line and not any(one.startswith("#") for one in above):
            yield number


def main() -> int:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != Path(__file__).resolve()
        for number in code_without_reason(path.read_text(encoding="utf-8"))
    ]
    settings = ROOT / "pyproject.toml"
    found += [f"pyproject.toml:{n}" for n in settings_without_reason(settings.read_text(encoding="utf-8"))]
    for where in found:
        print(f"{where}: an ignore without a reason; write why after it")
    if not found:
        print("Every ignore has its reason.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
