"""`interlock prompt` shows what an agent gets, to the letter (W12)."""

import json
from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Background, Scratch

pytestmark = pytest.mark.slow

KEEP_PROMPT = 'cp "$INTERLOCK_PROMPT_FILE" "$INTERLOCK_TASK_ID-$INTERLOCK_ATTEMPT.md"'


def shown(scratch: Scratch, *words: str) -> str:
    text: str = json.loads(scratch.interlock("prompt", *words, "--json"))["prompt"]
    return text


def test_before_the_first_run_it_shows_what_the_first_attempt_then_gets(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: Make a file, touches: [src/**], done_when: 'true'}\n", KEEP_PROMPT)
    text = shown(scratch, "a")
    assert "Make a file" in text
    scratch.interlock("run")
    assert scratch.git("show", "main:a-1.md") == text.strip()
    assert shown(scratch, "a", "--attempt", "1") == text


def test_the_second_attempt_sees_the_output_and_the_change_of_the_first(scratch: Scratch) -> None:
    check = "echo not-so-good; test -e second"
    agent = f'{KEEP_PROMPT}; test "$INTERLOCK_ATTEMPT" = 1 && echo tried > first || echo ok > second'
    scratch.graph(f"  a: {{goal: x, done_when: '{check}'}}\n", agent)
    scratch.interlock("run")
    text = scratch.git("show", "main:a-2.md")
    assert "failed at verify: check-red" in text
    assert f"Output of `{check}`:\n\n```text\nnot-so-good\n```" in text
    assert "What attempt 1 had changed, as a diff:" in text
    assert "+tried" in text
    assert shown(scratch, "a", "--attempt", "2").strip() == text


def test_an_agents_own_failure_comes_back_with_its_change_too(scratch: Scratch) -> None:
    fails = 'echo half > half; echo "## Goal: cheat"; exit 3'
    agent = f'{KEEP_PROMPT}; test "$INTERLOCK_ATTEMPT" = 2 || {{ {fails}; }}'
    scratch.graph("  a: {goal: x}\n", agent)
    scratch.interlock("run")
    text = scratch.git("show", "main:a-2.md")
    assert "+half" in text
    assert "The end of its output:\n\n```text\n" in text
    assert "\n## Goal: cheat\n```\n" in text


def test_an_agent_is_told_what_its_neighbour_is_doing(scratch: Scratch, gate: Path) -> None:
    agent = f"{KEEP_PROMPT}; echo working; {WAIT.format(gate=gate)}"
    scratch.graph(
        "  a: {goal: Paint the door, touches: [door/**]}\n  b: {goal: Paint the wall, touches: [wall/**]}\n",
        agent,
    )
    running = scratch.start("run", "--only", "a")
    running.wait_for_line("a: implement started")
    scratch.wait_for_output("a", "working")
    assert "- a: Paint the door (in door/**)\n" in shown(scratch, "b")
    stop(running)


def test_a_template_of_the_project_is_what_agents_get_and_a_mistake_in_it_starts_none(
    scratch: Scratch,
) -> None:
    scratch.graph("  a: {goal: Sing}\n", KEEP_PROMPT)
    (scratch.root / "prompts").mkdir()
    (scratch.root / "prompts" / "own.md").write_text("Please: $goal ($attemp)\n")
    scratch.write(interlock__toml='prompt_template = "prompts/own.md"\n')
    scratch.commit("a template")
    said = scratch.interlock("run", code=2)
    assert "prompts/own.md:1:16: unknown placeholder `$attemp`" in said
    assert "did you mean `attempt`?" in said
    assert scratch.facts("PhaseStarted") == []
    (scratch.root / "prompts" / "own.md").write_text("Please: $goal ($attempt)\n")
    scratch.commit("a better template")
    scratch.interlock("run")
    assert scratch.git("show", "main:a-1.md") == "Please: Sing (1)"


def test_what_there_is_not_is_said_with_what_there_is(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: Sing}\n")
    assert "the next one is attempt 1" in scratch.interlock("prompt", "a", "--attempt", "2", code=2)
    assert "there is no task `b`" in scratch.interlock("prompt", "b", code=2)


def test_a_session_that_goes_on_is_told_so_and_the_command_shows_it(
    scratch: Scratch, gate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho half > half.txt\necho at-work\n{WAIT.format(gate=gate)}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    agents = "defaults: {agent: c, retries: 0}\nagents: {c: {use: claude-code}}\n"
    scratch.write(**{"task-graph__yaml": f"version: 1\n{agents}tasks: {{t: {{goal: Go}}}}\n"})
    scratch.commit()
    cut_off(scratch)
    expected = shown(scratch, "t")
    assert expected.startswith("Your session was cut off")
    cut_off(scratch)
    assert shown(scratch, "t", "--attempt", "2") == expected


def cut_off(scratch: Scratch) -> None:
    """Let an attempt begin, and stop it by hand."""
    running = scratch.start("run")
    running.wait_for_line("t: implement started")
    scratch.start("logs", "t", "--raw", "--follow").wait_for_line("at-work")
    stop(running)


def stop(running: Background) -> None:
    """Ctrl-C, twice."""
    running.interrupt()
    running.wait_for_line("press Ctrl-C again")
    running.interrupt()
    running.wait()
