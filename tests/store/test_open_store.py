"""Which log an address opens, and what it costs to ask (T2)."""

import subprocess
import sys
from pathlib import Path

import pytest

from interlock.model.errors import UsageError
from interlock.store import open_store
from interlock.store.postgres import PostgresStore
from interlock.store.sqlite import SqliteStore
from interlock.store.statements import statements

ROOT = Path(__file__).parents[2]


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    argv = [sys.executable, "-c", code]
    return subprocess.run(
        argv, env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=True
    ).stdout


def test_a_path_opens_a_file_and_a_url_opens_postgres() -> None:
    assert isinstance(open_store("some/log.db", "p"), SqliteStore)
    for scheme in ("postgres", "postgresql"):
        assert isinstance(open_store(f"{scheme}://host/db", "p"), PostgresStore)


@pytest.mark.parametrize("url", ["postgress://person:secret@host/db", "sqlite:///log.db"])
def test_another_kind_of_address_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(UsageError, match="`store` cannot be a") as refused:
        open_store(url, "p")
    assert "secret" not in str(refused.value)


def test_opening_a_file_does_not_import_the_postgres_driver() -> None:
    code = """
import sys
from interlock.store import open_store
open_store("x", "p")
print("psycopg" in sys.modules)
"""
    assert python(code) == "False\n"


def test_without_the_driver_a_postgres_url_says_what_to_install() -> None:
    code = """
import sys
sys.modules["psycopg"] = None
from interlock.store import open_store
try:
    open_store("postgresql://host/db", "p")
except Exception as error:
    print(type(error).__name__, error.hint)
"""
    assert python(code) == "EnvironmentProblem run `pip install 'interlock[postgres]'`\n"


def test_both_dialects_claim_in_one_statement() -> None:
    for dialect in ("sqlite", "postgres"):
        claim = statements(dialect)["claim"]
        assert claim.startswith("INSERT")
        assert "ON CONFLICT" in claim
        assert claim.endswith("RETURNING epoch")
        assert ";" not in claim
