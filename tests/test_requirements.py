"""`docs/requirements.md`: each id once; each row that is built names a test that exists and names the id."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from interlock.ui.cli.prove.show import PROOFS

ROOT = Path(__file__).resolve().parent.parent
GROUPS = {"K": 7, "W": 14, "T": 8, "P": 7, "A": 23, "D": 16}
"""How many requirements each letter has."""


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement, as the page has it."""

    id: str
    status: str
    tests: tuple[tuple[str, str], ...]
    note: str


def rows() -> Iterator[Row]:
    text = (ROOT / "docs/requirements.md").read_text(encoding="utf-8")
    for id, status, shown, note in re.findall(
        r"^\| ([A-Z]\d+) \| [^|]+ \| ([^|]+) \| ([^|]*)\| ?([^|]*)\|$", text, re.MULTILINE
    ):
        yield Row(id, status, tuple(re.findall(r"`(\S+?)::(\w+)`", shown)), note.strip())


ROWS = list(rows())
STATUS = {row.id: row.status for row in ROWS}


def test_each_requirement_is_there_once_and_in_order() -> None:
    wanted = [f"{letter}{number}" for letter, most in GROUPS.items() for number in range(1, most + 1)]
    assert [row.id for row in ROWS] == wanted


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.id))
def test_the_test_of_a_row_exists_and_its_file_names_the_id(row: Row) -> None:
    assert row.status in {"works", "partly", "not built"}
    assert bool(row.tests) == (row.status != "not built")
    assert row.note or row.status != "partly", "the note says what is missing"
    for path, name in row.tests:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert f"\ndef {name}(" in text, f"{path} has no {name}"
        assert re.search(rf"\b{row.id}\b", text), f"{path} does not name {row.id}"


def test_the_list_and_doctor_agree_on_what_is_there() -> None:
    assert {STATUS[id] for proof in PROOFS for id in proof.ids.split()} <= {"works", "partly"}
