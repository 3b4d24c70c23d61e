"""The SQL of a dialect: named statements from `sql/`, each with a line that says what it is for."""

import re
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+) — .+$", re.MULTILINE)


def statements(dialect: str) -> dict[str, str]:
    """All statements of a dialect, by name."""
    text = files("interlock.store").joinpath("sql", f"{dialect}.sql").read_text(encoding="utf-8")
    parts = _NAME.split(text)[1:]
    return {name: sql.strip() for name, sql in zip(parts[::2], parts[1::2], strict=True)}
