"""The transcript: what was said in an attempt, once each, bounded, with nothing secret in it (B16, S6)."""

import asyncio
import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.agents.adapter import Wire
from interlock.model.redact import MARK, Redactor
from interlock.model.session import Usage
from interlock.proxy.transcript import ENTRY_CHARACTERS, TEXT_CHARACTERS, Transcript, TranscriptEntry
from tests.agents.model_server import RunningModel
from tests.proxy.stage import ANTHROPIC, CHAT, KEY, KEY_ENV, LANGUAGES, Setting

HELLO = {"role": "user", "content": "hello"}


def entry(request: object, answer: str = "") -> TranscriptEntry:
    return TranscriptEntry(0.0, 0.0, "POST", "/v1/messages", 200, "m", Usage(calls=1), request, answer, None)


def written(
    folder: Path, *entries: TranscriptEntry, secrets: tuple[str, ...] = ()
) -> list[dict[str, object]]:
    path = folder / "transcript.ndjson"
    transcript = Transcript(path)
    for one in entries:
        transcript.add(one, Redactor(secrets))
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_language_leaves_what_was_asked_and_answered(model: RunningModel, setting: Setting) -> None:
    async def story() -> None:
        for language in LANGUAGES.values():
            async with setting.line(language.wire, model.url("say")) as line:
                await line.ask(language, stream=True)

    asyncio.run(story())
    lines = (setting.folder / "transcript.ndjson").read_text().splitlines()
    assert len(lines) == len(LANGUAGES)
    for line, language in zip(lines, LANGUAGES.values(), strict=True):
        record = json.loads(line)
        assert record["answer"] == "All done."
        assert "Say something." in json.dumps(record["messages"])
        assert record["path"] == language.stream_path.partition("?")[0]
        assert record["status"] == 200
        assert record["model"] in ("claude-x", "gpt-x", "gemini-x", "local-x")
        assert record["usage"]["input_tokens"] == language.usage.input_tokens


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    written(tmp_path, entry({}))
    assert stat.S_IMODE((tmp_path / "transcript.ndjson").stat().st_mode) == 0o600


def test_a_message_is_written_once_however_often_it_is_sent(tmp_path: Path) -> None:
    more = {"role": "user", "content": "and more"}
    first, second = written(tmp_path, entry({"messages": [HELLO]}), entry({"messages": [HELLO, more]}))
    assert (first["messages"], first["messages_before"]) == ([HELLO], 0)
    assert (second["messages"], second["messages_before"]) == ([more], 1)


@pytest.mark.slow
def test_texts_entries_and_answers_are_bounded(tmp_path: Path) -> None:
    many = [{"role": "user", "content": f"{number} " + "x" * 2 * TEXT_CHARACTERS} for number in range(40)]
    (record,) = written(tmp_path, entry({"messages": many}, "y" * 1_000_000))
    assert len(json.dumps(record)) < 2 * ENTRY_CHARACTERS
    assert record["answer"] == "y" * 65_536
    shown = record["messages"]
    assert isinstance(shown, list)
    assert shown[-1]["content"].startswith("39 ")
    assert record["messages_before"] == 40 - len(shown)
    one_more = len(json.dumps(shown)) + len(json.dumps(shown[0]))
    assert len(json.dumps(shown)) <= ENTRY_CHARACTERS < one_more, "only what has no room is left out"


@pytest.mark.slow
def test_a_secret_across_the_edge_of_what_is_kept_is_taken_out_whole(tmp_path: Path) -> None:
    secret = "an-unshaped-secret-value"  # noqa: S105 - planted to be looked for
    for before in range(TEXT_CHARACTERS - len(secret), TEXT_CHARACTERS + 1):
        message = {"role": "user", "content": "x" * before + secret + "y" * TEXT_CHARACTERS}
        (record,) = written(tmp_path, entry({"messages": [message]}), secrets=(secret,))
        assert "secret" not in json.dumps(record)
        (tmp_path / "transcript.ndjson").unlink()


def test_secrets_of_the_machine_are_taken_out_of_questions_and_answers(
    model: RunningModel, setting: Setting
) -> None:
    planted = {"DEPLOY_TOKEN": "deploy-me-987654", "DATABASE_URL": "postgres://me:pass-1234567@db/x"}
    shaped = "ghp_" + "a1B2" * 9
    prompt = f'<<<SCRIPT [{{"op":"say","text":"found deploy-me-987654 {shaped} pass-1234567 {KEY}"}}] >>>'
    body = {**CHAT.body, "stream": True, "messages": [{"role": "user", "content": prompt}]}

    async def story() -> str:
        known = replace(setting, environ={**planted, KEY_ENV: KEY})
        async with known.line(Wire.OPENAI, model.url("say")) as line:
            heard = await line.send("POST", CHAT.path, body=json.dumps(body).encode())
            assert heard.status == 200
            (record,) = line.entries()
            assert record["answer"] == f"found {MARK} {MARK} {MARK} {MARK}"
            return line.transcript.read_text()

    kept = asyncio.run(story())
    assert [word for word in ("deploy-me", shaped, "pass-1234567", KEY) if word in kept] == []


def test_a_failed_call_is_recorded_with_its_error(model: RunningModel, setting: Setting) -> None:
    async def story() -> dict[str, object]:
        async with setting.line(Wire.ANTHROPIC, model.url("f529")) as line:
            await line.ask(ANTHROPIC)
            (record,) = line.entries()
            return record

    record = asyncio.run(story())
    error = record["error"]
    assert record["status"] == 529
    assert isinstance(error, dict)
    assert error["class"] == "overloaded"
