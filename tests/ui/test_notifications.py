"""Messages to a person who is away: signed, paced, silent at night, and only where that person wants them."""

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.model.errors import UsageError
from interlock.model.quiet_hours import quiet_hours
from interlock.ui.notify.pacing import Pacing
from interlock.ui.words.notices import LINES_MOST, Notice, NoticeKind, body, title
from tests.engine.scratch import Scratch

KEY = "a key of the person"
ASKS = (
    'case "$(cat "$INTERLOCK_PROMPT_FILE")" in *Yes.*) echo x > x.txt;; *) echo "::interlock ask {0}";; esac'
)
MINUTE = 60.0


class Receiver:
    """The person's server on this machine: what it was sent, and what it answers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status = 200
        self.location = ""
        self.got: list[tuple[dict[str, str], bytes, float]] = []

    @property
    def messages(self) -> list[dict[str, Any]]:  # Any: parsed JSON
        return [json.loads(body) for _, body, _ in self.got]


@contextmanager
def receiving() -> Iterator[Receiver]:
    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            found.got.append((dict(self.headers.items()), self.rfile.read(size), time.time()))
            self.send_response(found.status)
            if found.location:
                self.send_header("Location", found.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    found = Receiver(f"http://127.0.0.1:{server.server_port}/hook")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scratch]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PERSONS_HOOK_KEY", KEY)
    made = Scratch(tmp_path / "repository")
    yield made
    made.close()


def own_settings(tmp_path: Path, **values: object) -> None:
    """Write the person's own file."""
    folder = tmp_path / "config/interlock"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(
        "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    )


def to_webhook(tmp_path: Path, receiver: Receiver, **more: object) -> None:
    own_settings(
        tmp_path,
        **{"notify_webhook": receiver.url, "notify_webhook_key": "PERSONS_HOOK_KEY", "notify_every": "0s"}
        | more,
    )


def genuine(headers: dict[str, str], payload: bytes) -> bool:
    """Check a signature as the documentation tells a receiver to."""
    signed = f"{headers['X-Interlock-Timestamp']}.".encode() + payload
    expected = hmac.new(KEY.encode(), signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(headers["X-Interlock-Signature"], f"sha256={expected}")


@pytest.mark.slow
def test_a_question_and_the_end_of_a_run_reach_the_webhook_with_a_signature(
    scratch: Scratch, receiver: Receiver, tmp_path: Path
) -> None:
    to_webhook(tmp_path, receiver)
    scratch.graph("  a: {goal: Say x}\n", ASKS.format("Is it x?"))
    scratch.interlock("run", code=6)
    assert all(genuine(headers, payload) for headers, payload, _ in receiver.got)
    notices = [notice for message in receiver.messages for notice in message["notices"]]
    assert [(notice["kind"], notice["text"]) for notice in notices] == [
        ("needs-you", "a asks: Is it x?"),
        ("done", "the run ended: 1 waiting"),
    ]
    (asked,) = scratch.facts("QuestionAsked")
    assert notices[0]["seq"] == asked["seq"]
    assert receiver.messages[0]["project"] == "repository"


@pytest.mark.slow
def test_a_failed_task_is_told_and_a_secret_in_its_output_is_not(
    scratch: Scratch, receiver: Receiver, tmp_path: Path
) -> None:
    to_webhook(tmp_path, receiver, notify_on=["failed", "needs-you"])
    token = f"ghp_{'a1B2c3D4e5F6' * 3}"
    agent = f'if [ "$INTERLOCK_TASK_ID" = a ]; then exit 3; fi; {ASKS.format(f"Is {token} a token?")}'
    scratch.graph("  a: {goal: A}\n  b: {goal: B}\n", agent, retries="0")
    scratch.interlock("run", code=None)
    texts = [notice["text"] for message in receiver.messages for notice in message["notices"]]
    assert len(texts) == 2
    assert any(text.startswith("a failed: ") for text in texts)
    assert not any(token in text for text in texts)


@pytest.mark.slow
def test_a_receiver_that_redirects_gets_nothing_sent_elsewhere_and_the_run_goes_on(
    scratch: Scratch, receiver: Receiver, tmp_path: Path
) -> None:
    to_webhook(tmp_path, receiver)
    scratch.graph("  a: {goal: A}\n")
    with receiving() as elsewhere:
        receiver.status, receiver.location = 307, elsewhere.url
        said = scratch.interlock("run")
        assert elsewhere.got == []
    assert "a notification was not sent: 127.0.0.1 answered 307" in said
    assert scratch.states() == {"a": "done"}


@pytest.mark.slow
def test_a_service_of_apprise_gets_the_same(scratch: Scratch, receiver: Receiver, tmp_path: Path) -> None:
    own_settings(tmp_path, notify_urls=[receiver.url.replace("http://", "json://")])
    scratch.graph("  a: {goal: A}\n")
    scratch.interlock("run")
    (message,) = receiver.messages
    assert (message["title"], message["message"]) == (
        "Interlock: repository: the run ended: 1 done",
        "the run ended: 1 done",
    )


@pytest.mark.parametrize("key", ["notify_webhook", "notify_webhook_key"])
@pytest.mark.parametrize("file", ["interlock__toml", "pyproject__toml"])
def test_a_repository_cannot_name_an_address(scratch: Scratch, key: str, file: str) -> None:
    table = "[tool.interlock]\n" if file.startswith("pyproject") else ""
    scratch.write(**{file: f'{table}{key} = "http://127.0.0.1:9/steal"\n'})
    scratch.graph("  a: {goal: A}\n")
    said = scratch.interlock("run", code=2)
    assert f"`{key}` sends what agents say to others, which a repository may not set" in said


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"notify_webhook": "http://127.0.0.1:9"}, "`notify_webhook` needs a key to sign with"),
        ({"notify_webhook": "ftp://127.0.0.1"}, "`notify_webhook` is no address"),
        ({"notify_urls": ["nothing://x"]}, "address 1 of `notify_urls` makes no sense"),
        ({"quiet_hours": "at night"}, "`quiet_hours` cannot be 'at night'"),
    ],
    ids=["key", "webhook", "service", "hours"],
)
@pytest.mark.slow
def test_a_setting_that_makes_no_sense_is_said_before_any_agent_starts(
    scratch: Scratch, tmp_path: Path, settings: dict[str, object], why: str
) -> None:
    own_settings(tmp_path, **settings)
    scratch.graph("  a: {goal: A}\n")
    assert why in scratch.interlock("run", code=2)
    assert scratch.facts("SessionOpened") == []


@pytest.mark.slow
def test_the_report_begins_with_the_decisions_and_can_send_itself(
    scratch: Scratch, receiver: Receiver, tmp_path: Path
) -> None:
    agent = f'if [ "$INTERLOCK_TASK_ID" = a ]; then echo x > a.txt; else {ASKS.format("Is it x?")}; fi'
    scratch.graph("  a: {goal: Write x}\n  b: {goal: Ask}\n", agent)
    scratch.interlock("run", code=6)
    to_webhook(tmp_path, receiver)
    told = scratch.interlock("report", "--send").splitlines()
    assert told[0] == "1 decision, 1 done in 16h"
    assert [line.split()[0] for line in told[1:5]] == ["b", "interlock", "done", told[4].split()[0]]
    assert "a  landed (unverified)  Write x" in told[4]
    (message,) = receiver.messages
    assert message["title"] == "1 decision, 1 done in 16h"
    assert 'interlock answer b "..."' in message["text"]
    document = json.loads(scratch.read("report", "--json", "--since", "1s"))
    assert [item["kind"] for item in document["decide"]] == ["question"]


def at(number: int) -> Notice:
    return Notice(NoticeKind.NEEDS_YOU, f"task {number} asks", seq=number)


def test_the_first_notice_goes_at_once_and_a_storm_after_it_is_one_message() -> None:
    pacing = Pacing(MINUTE, None, lambda _: 0.0)
    pacing.add(at(0))
    assert pacing.take(0.0) == [at(0)]
    for number in range(1, 51):
        pacing.add(at(number))
        assert pacing.take(float(number)) == []
    assert pacing.wait_seconds(50.0) == 10.0
    told = pacing.take(60.0)
    assert title(told) == "50 requests for you"
    assert body(told).splitlines()[LINES_MOST:] == ["and 40 more: interlock inbox"]


def test_the_night_is_silent_and_the_morning_tells_all_of_it_in_one_message() -> None:
    pacing = Pacing(MINUTE, quiet_hours("22:00-07:00"), lambda seconds: seconds / 60 % 1440)
    pacing.add(at(1))
    assert pacing.wait_seconds(23 * 60 * MINUTE) == 8 * 60 * MINUTE
    assert pacing.take(23 * 60 * MINUTE) == pacing.take_last(23 * 60 * MINUTE) == []
    pacing.add(at(2))
    assert pacing.take((24 + 7) * 60 * MINUTE) == [at(1), at(2)]


@pytest.mark.parametrize("text", ["22-7", "25:00-07:00", "22:00-07:60", "22:00"])
def test_hours_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="quiet_hours"):
        quiet_hours(text)


@pytest.mark.property
@given(st.lists(st.floats(0, 600), min_size=1, max_size=60), st.floats(1, 120))
def test_every_notice_is_told_once_and_messages_keep_their_distance(times: list[float], every: float) -> None:
    pacing, sent = Pacing(every, None, lambda _: 0.0), list[tuple[float, list[Notice]]]()
    moments = sorted([*times, *(float(second) for second in range(0, 1200, 7))])
    for number, moment in enumerate(moments):
        if moment in times:
            pacing.add(at(number))
        if message := pacing.take(moment):
            sent.append((moment, message))
    told = [notice.seq for _, message in sent for notice in message]
    assert told == sorted(set(told))
    assert len(told) == sum(moment in times for moment in moments)
    assert all(later >= earlier + every for (earlier, _), (later, _) in pairwise(sent))
