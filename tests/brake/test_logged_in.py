"""Programs with an account of their own: what they say of refusals holds back who comes next (K7, W11)."""

import asyncio
import json
from pathlib import Path

import pytest

from interlock.model.outcome import ErrorClass
from interlock.proxy.brake import ProviderBrake
from interlock.ui.words.reasons import reason_text
from tests.engine.scratch import Scratch

ACCOUNT = "login:codex"
CODEX = """\
#!/bin/sh
echo '{"type":"thread.started","thread_id":"t"}'
if test "$INTERLOCK_ATTEMPT" = 1; then
  echo '{"type":"error","message":"Reconnecting... 1/5 (last status: 429 Too Many Requests)"}'
  echo '{"type":"turn.failed","error":{"message":"last status: 429 Too Many Requests"}}'
  exit 1
fi
echo done > "$INTERLOCK_TASK_ID.txt"
echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
"""


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_program_that_is_turned_away_brakes_its_account_and_nothing_is_lost(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = scratch.gates / "codex"
    program.write_text(CODEX)
    program.chmod(0o755)
    (tmp_path / "user/.codex").mkdir(parents=True)
    (tmp_path / "user/.codex/auth.json").write_text("{}")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("PATH", str(scratch.gates), prepend=":")
    tasks = "".join(f"  t{number}: {{goal: Do}}\n" for number in range(3))
    agents = "defaults: {agent: mine}\nagents:\n  mine: {use: codex, login: true}\n"
    scratch.write(**{"task-graph__yaml": f"version: 1\n{agents}tasks:\n{tasks}"})
    scratch.commit("work to do")
    scratch.interlock("run", "--max-parallel", "3")
    rows = scratch.facts("Landed", "ProviderBraked", "ClutchDecided")
    assert len([row for row in rows if row["kind"] == "Landed"]) == 3
    braked = [row["fact"] for row in rows if row["kind"] == "ProviderBraked"]
    assert {fact["provider"] for fact in braked} == {ACCOUNT}
    assert sum(fact["refused"] for fact in braked) == 3
    decided = [row["fact"] for row in rows if row["kind"] == "ClutchDecided"]
    limits = [fact for fact in decided if fact["provider"] == ACCOUNT]
    assert limits[0]["brake"] == "provider"
    assert limits[0]["limit"] < 3
    assert "429 Too Many Requests" in str(limits[0]["why"])
    (seen,) = json.loads(scratch.interlock("clutch", "--json"))["providers"]
    assert (seen["provider"], seen["refused"]) == (ACCOUNT, 3)


def braked_by(*said: ErrorClass | None) -> tuple[int, int]:
    """Four attempts at once, of which the first says this; places and refusals afterwards."""
    brake = ProviderBrake()

    async def attempts() -> None:
        brake.look(ACCOUNT, 0.0)
        with (
            brake.attend(ACCOUNT) as first,
            brake.attend(ACCOUNT),
            brake.attend(ACCOUNT),
            brake.attend(ACCOUNT),
        ):
            *heard, end = said
            for error in heard:
                first.hear(error, "words")
            first.ended(end, "words")

    asyncio.run(attempts())
    (news,) = brake.rest()
    return news.limit, news.refused


@pytest.mark.parametrize(
    ("said", "places", "refused"),
    [
        ((None,), 5, 0),
        ((ErrorClass.EXIT,), 4, 0),
        ((ErrorClass.RATE_LIMIT,), 2, 1),
        ((ErrorClass.OVERLOADED,), 2, 1),
        ((ErrorClass.RATE_LIMIT, ErrorClass.RATE_LIMIT, ErrorClass.RATE_LIMIT), 2, 1),
        ((ErrorClass.RATE_LIMIT, None), 2, 1),
        ((ErrorClass.AUTH, ErrorClass.AUTH), 4, 0),
    ],
)
def test_half_of_those_at_work_may_be_once_one_is_turned_away(
    said: tuple[ErrorClass | None, ...], places: int, refused: int
) -> None:
    """However often its program asks again, and however it ends."""
    assert braked_by(*said) == (places, refused)


def test_a_used_up_quota_closes_the_account_for_all() -> None:
    brake = ProviderBrake()

    async def attempt() -> None:
        with brake.attend(ACCOUNT) as only:
            only.ended(ErrorClass.QUOTA, "usage limit reached")

    asyncio.run(attempt())
    (news,) = brake.rest()
    assert news.closed_seconds > 50
    assert "usage limit" in reason_text(news.why)
