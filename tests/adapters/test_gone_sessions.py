"""What programs say when the session that they are to resume is gone, as they really said it (W13).

None of it speaks of a model, and none of it is taken for trouble of the provider: the executor then starts
the program afresh in the same attempt.
"""

import pytest

from interlock.agents import ADAPTERS
from interlock.model.outcome import ErrorClass
from interlock.model.session import EventKind
from tests.adapters.replayed import SESSION, play

CLAUDE = (
    f"No conversation found with session ID: {SESSION}",
    '{"type":"result","subtype":"error_during_execution","duration_ms":0,"is_error":true,"num_turns":0,'
    f'"session_id":"{SESSION}","total_cost_usd":0,"usage":{{"input_tokens":0,"output_tokens":0}},'
    f'"errors":["No conversation found with session ID: {SESSION}"]}}',
)
CODEX = (
    f"Error: thread/resume: thread/resume failed: no rollout found for thread id {SESSION} (code -32600)",
)
COPILOT = (
    f"Error: No session, task, or name matched '{SESSION}'",
    "To resume by session or task ID:  copilot --resume=<id>",
)


@pytest.mark.parametrize(
    ("use", "lines"),
    [("claude-code", CLAUDE), ("codex", CODEX), ("copilot", COPILOT)],
    ids=["claude-code", "codex", "copilot"],
)
def test_a_session_that_is_gone_is_a_plain_exit_without_a_word_of_the_model(
    use: str, lines: tuple[str, ...]
) -> None:
    found = play(ADAPTERS[use], lines, code=1, resume=SESSION)
    assert found.verdict.error is ErrorClass.EXIT
    assert not found.of(EventKind.MESSAGE)
    assert not found.of(EventKind.TOOL)
