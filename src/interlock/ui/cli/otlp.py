"""Sends spans to an OpenTelemetry server. Only this module knows the library, which takes long to import."""

import logging
from collections.abc import Sequence
from importlib.util import find_spec

from interlock import __version__
from interlock.model.errors import EnvironmentProblem
from interlock.ui.queries.spans import Span

INSTALL = "pip install 'interlock[otel]'"
AT_ONCE = 500
SECONDS = 10.0
PATH = "/v1/traces"


def send_spans(spans: Sequence[Span], service: str, endpoint: str) -> None:
    """Send them all, or raise `EnvironmentProblem`."""
    if find_spec("opentelemetry.exporter") is None or find_spec("opentelemetry.sdk") is None:
        raise EnvironmentProblem("OpenTelemetry is not installed", INSTALL)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExportResult
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    resource = Resource({"service.name": "interlock", "service.namespace": service})
    scope = InstrumentationScope("interlock", __version__)

    def context(trace: str, id: str) -> SpanContext:
        return SpanContext(int(trace, 16), int(id, 16), is_remote=False, trace_flags=TraceFlags(1))

    def readable(span: Span) -> ReadableSpan:
        return ReadableSpan(
            name=span.name,
            context=context(span.trace, span.id),
            parent=context(span.trace, span.parent) if span.parent else None,
            resource=resource,
            attributes=span.attributes,
            kind=SpanKind.CLIENT if span.name.startswith("chat") else SpanKind.INTERNAL,
            instrumentation_scope=scope,
            status=Status(StatusCode.OK) if span.ok else Status(StatusCode.ERROR, span.text),
            start_time=int(span.start * 1e9),
            end_time=int(span.end * 1e9),
        )

    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # we say it ourselves
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}{PATH}", timeout=SECONDS)
    try:
        for begin in range(0, len(spans), AT_ONCE):
            part = [readable(span) for span in spans[begin : begin + AT_ONCE]]
            if exporter.export(part) is not SpanExportResult.SUCCESS:
                raise EnvironmentProblem(
                    f"the server at {endpoint} did not take the spans", "is it an OTLP server over HTTP?"
                )
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call] # the library has no type for it
