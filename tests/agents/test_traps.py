"""What is known to go wrong with the real programs: each trap is a test, and all are on one page."""

from collections.abc import Callable

import pytest

from scripts.docs import traps
from tests.agents.programs import DRIVEN

pytestmark = [pytest.mark.agents]


def test_every_program_that_interlock_understands_has_its_traps_tested(figure: Callable[[str], None]) -> None:
    by_program = traps()
    assert {name for name, program in DRIVEN.items() if program.tells} <= set(by_program)
    counts = ", ".join(f"{name} {len(rows)}" for name, rows in by_program.items())
    total = sum(map(len, by_program.values()))
    figure(f"traps tested: {total} (docs/reference/agent-traps.md): {counts}")
