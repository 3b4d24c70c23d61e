"""`trace`: a task, its attempts and the calls of models as spans, shown and sent (A19)."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from interlock.events.facts import SessionOpened
from interlock.model.task import TaskId
from tests.ui.conftest import Lab, task

SAID = "the words of a prompt"


class Collector:
    """An OpenTelemetry server on this machine."""

    def __init__(self) -> None:
        self.status = 200
        self.bodies: list[bytes] = []
        self.url = ""

    @property
    def spans(self) -> list[Any]:  # Any: messages of the library, made at run time
        found = []
        for body in self.bodies:
            request = ExportTraceServiceRequest()
            request.ParseFromString(body)
            found += [
                span
                for resource in request.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
            ]
        return found


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(found.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


def landed_with_calls(lab: Lab) -> None:
    """A task whose agent called a model twice, the second time in vain."""
    lab.accept(task("api"))
    lab.land("api", "d" * 40)
    lab.accept(task("db"))
    epoch = lab.start("db").epoch
    lab.write(SessionOpened(TaskId("db"), 1, "implement", epoch, session="s", agent="coder", model="big"))
    call = {"at_seconds": 0.0, "seconds": 0.5, "model": "big", "answer": SAID, "messages": [{"text": SAID}]}
    good = {**call, "status": 200, "usage": {"input_tokens": 1200, "output_tokens": 30}}
    lines = [good, {**call, "status": 529, "usage": {}}]
    logs = lab.root / ".git/interlock/logs/db"
    logs.mkdir(parents=True)
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (logs / "1.model.jsonl").write_text(f"{text}no line of ours\n")


def test_the_spans_of_a_task_are_a_tree_of_attempts_and_calls(lab: Lab) -> None:
    landed_with_calls(lab)
    spans = lab.run("trace", "db", "--json").json["spans"]
    root, phase, *calls = spans
    assert [span["name"] for span in spans] == ["task db", "implement attempt 1", "chat big", "chat big"]
    assert (root["parent"], phase["parent"]) == ("", root["id"])
    assert [(call["parent"], call["ok"]) for call in calls] == [(phase["id"], True), (phase["id"], False)]
    assert {span["trace"] for span in spans} == {root["trace"]}
    assert calls[0]["attributes"]["gen_ai.usage.input_tokens"] == 1200
    assert phase["attributes"]["gen_ai.agent.name"] == "coder"


def test_a_person_sees_the_calls_of_a_phase_in_one_line(lab: Lab) -> None:
    landed_with_calls(lab)
    lines = lab.run("trace").out.splitlines()
    assert [line.split("  ")[0] for line in lines if not line.startswith(" ")] == ["task db", "task api"]
    assert "    chat big  2 calls," in lines[2]
    assert lines[2].endswith(", 1 failed")
    assert [line.split()[-1] for line in lines[4:]] == ["passed", "passed", "landed"]


@pytest.mark.slow
def test_spans_reach_an_opentelemetry_server_without_a_word_of_what_was_said(
    lab: Lab, collector: Collector
) -> None:
    landed_with_calls(lab)
    assert "8 spans sent" in lab.run("trace", "--send", "--endpoint", collector.url).err
    sent = {span.span_id: span for span in collector.spans}
    assert len(sent) == 8
    chat = next(span for span in sent.values() if span.name == "chat big")
    implement = sent[chat.parent_span_id]
    assert (implement.name, sent[implement.parent_span_id].name) == ("implement attempt 1", "task db")
    assert not any(SAID.encode() in body for body in collector.bodies)
    lab.run("trace", "--send", "--endpoint", collector.url)
    assert {span.span_id for span in collector.spans} == sent.keys()


@pytest.mark.slow
def test_a_server_that_refuses_is_an_error_and_so_is_none(
    lab: Lab, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    landed_with_calls(lab)
    collector.status = 400
    refused = lab.run("trace", "--send", "--endpoint", collector.url)
    assert (refused.code, "did not take the spans" in refused.err) == (7, True)
    nowhere = lab.run("trace", "--send")
    assert (nowhere.code, "there is no server to send to" in nowhere.err) == (2, True)


def test_a_project_without_an_attempt_has_no_trace(lab: Lab) -> None:
    assert "no attempt has begun" in lab.run("trace").out
