"""The SQL of a dialect: named statements from `sql/`, each with a line that says what it is for."""

import re
from pathlib import Path

# Not `importlib.resources`: loading that takes longer than opening the database.
_FOLDER = Path(__file__).with_name("sql")
_NAME = re.compile(r"^-- name: (\w+) — .+$", re.MULTILINE)


def statements(dialect: str) -> dict[str, str]:
    """All statements of a dialect, by name."""
    text = (_FOLDER / f"{dialect}.sql").read_text(encoding="utf-8")
    parts = _NAME.split(text)[1:]
    return {name: sql.strip() for name, sql in zip(parts[::2], parts[1::2], strict=True)}
