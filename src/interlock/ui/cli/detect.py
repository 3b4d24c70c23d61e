"""How this repository is tested, as far as its files tell."""

import json
import re
from collections.abc import Callable
from pathlib import Path

Rule = tuple[str, Callable[[Path], bool]]


def test_command(root: Path) -> str:
    """The command that runs the repository's tests, or nothing."""
    return next((command for command, fits in _RULES if fits(root)), "")


def _make(root: Path) -> bool:
    return any(
        re.search(r"^test\s*:", _text(root / name), re.MULTILINE)
        for name in ("Makefile", "makefile", "GNUmakefile")
    )


def _pytest(root: Path) -> bool:
    said = (root / "pytest.ini").exists() or "[tool.pytest" in _text(root / "pyproject.toml")
    return said or any((root / "tests").glob("test_*.py")) or any(root.glob("test_*.py"))


def _npm(root: Path) -> bool:
    try:
        script = json.loads(_text(root / "package.json") or "{}").get("scripts", {}).get("test", "")
    except (ValueError, AttributeError):
        return False  # a broken package.json is for npm to explain
    return bool(script) and "no test specified" not in script


def _cargo(root: Path) -> bool:
    return (root / "Cargo.toml").exists()


def _go(root: Path) -> bool:
    return (root / "go.mod").exists()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


_RULES: tuple[Rule, ...] = (
    ("make test", _make),
    ("python -m pytest -q", _pytest),
    ("npm test", _npm),
    ("cargo test", _cargo),
    ("go test ./...", _go),
)
"""In this order: a Makefile's target is the project's own word for it."""
