"""`doctor` runs the checks of the graph on main, and says what each came to."""

import json
from typing import Any

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow


def rows(scratch: Scratch, code: int, *words: str) -> dict[str, list[dict[str, Any]]]:  # Any: parsed JSON
    found: dict[str, list[dict[str, Any]]] = {}
    for row in json.loads(scratch.interlock("doctor", "--json", *words, code=code))["checks"]:
        found.setdefault(row["name"], []).append(row)
    return found


def test_a_green_check_that_notices_a_canary_is_well(scratch: Scratch) -> None:
    scratch.write(shapes__py="def area(side):\n    return side * side\n")
    scratch.write(check__sh="python3 -c 'import shapes; shapes.area(2)'\n", test_it__py="# shapes.area()\n")
    scratch.graph("  a: {goal: a, done_when: test -s a.txt}\n", verify='"sh check.sh"')
    found = rows(scratch, 0)
    verify, promise = found["check"]
    assert verify["text"].startswith("`sh check.sh` passed in ")
    assert "fails in" in promise["text"]
    assert found["canary"][0]["text"].startswith(
        "broke shapes.area on purpose; `sh check.sh` failed as it should, in "
    )
    assert "canary" not in rows(scratch, 0, "--no-canary")
    assert not {"check", "canary"} & rows(scratch, 0, "--no-checks").keys()


def test_a_check_that_cannot_run_must_be_mended(scratch: Scratch) -> None:
    """The shortest way to an open gate: a typo."""
    scratch.graph("  a: {goal: a}\n", verify='"pytset -q"')
    (row,) = rows(scratch, 7)["check"]
    assert "`pytset`: command not found" in row["text"]
    assert row["fix"].startswith("correct the command")
    assert "not found" in "".join(row["detail"])
    assert "| " in scratch.interlock("doctor", code=7)


def test_a_red_check_without_a_report_and_checks_that_notice_nothing_are_told(scratch: Scratch) -> None:
    scratch.write(shapes__py="def area(side):\n    return side * side\n")
    scratch.graph("  a: {goal: a}\n  b: {goal: b, verify: 'python3 -c pass'}\n", verify='"false"')
    found = rows(scratch, 7)
    assert [row["health"] for row in found["check"]] == ["bad", "ok"]
    assert "fails on main (exit 1)" in found["check"][0]["text"]
    assert (found["canary"][0]["health"], "still passed" in found["canary"][0]["text"]) == ("warning", True)


def test_a_graph_without_any_check_is_a_warning(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: a}\n")
    assert "land as observed" in rows(scratch, 0)["checks"][0]["text"]
