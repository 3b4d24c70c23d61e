"""The SQL of a dialect: named statements from `sql/`, each with a line that says what it is for."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

Text = TypeVar("Text", str, bytes)

# Not `importlib.resources`: loading that takes longer than opening the database.
SCHEMA = 3
"""Version of the tables, in both dialects. The statements `to_N_` turn schema N-1 into schema N."""

_FOLDER = Path(__file__).with_name("sql")
_NAME = re.compile(r"^-- name: (\w+) — .+$", re.MULTILINE)


def statements(dialect: str) -> dict[str, str]:
    """All statements of a dialect, by name."""
    text = (_FOLDER / f"{dialect}.sql").read_text(encoding="utf-8")
    parts = _NAME.split(text)[1:]
    return {name: sql.strip() for name, sql in zip(parts[::2], parts[1::2], strict=True)}


def steps_to(version: int, sql: Mapping[str, Text]) -> list[Text]:
    """The statements that make this schema of the one before it; of nothing, for the first."""
    prefix = "create_" if version == 1 else f"to_{version}_"
    return [text for name, text in sql.items() if name.startswith(prefix)]
