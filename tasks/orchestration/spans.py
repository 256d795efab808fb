"""OpenTelemetry spans of stages; nothing happens where no SDK is set up.

A span has the names of stage, plan and run, and how it ended. Messages of errors are not recorded.
The SDK is set up as its own variables say (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME, ...).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from opentelemetry import trace

from crowdcover.tasks.orchestration.events import plan_name

_ASKED = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


@contextmanager
def trace_stage(stage: str, run: str) -> Iterator[None]:
    """Trace the work inside as a span of its own."""
    _set_up()
    tracer = trace.get_tracer("crowdcover")
    facts = {"crowdcover.plan": plan_name(), "crowdcover.run": run, "crowdcover.stage": stage}
    with tracer.start_as_current_span(
        f"crowdcover {stage}",
        attributes=facts,
        record_exception=False,
        set_status_on_exception=False,
    ) as current:
        try:
            yield
        except BaseException as error:
            # By type alone: a message may quote cells. An interrupt ends the span in an error, too.
            current.set_status(trace.Status(trace.StatusCode.ERROR, type(error).__name__))
            raise


@cache
def _set_up() -> None:
    """Send spans where the environment says, unless the process has set up the SDK itself."""
    # Cached, since a second processor would send each span twice.
    wanted = any(os.environ.get(name) for name in _ASKED)
    # A proxy stands where nobody has set a provider; one that is set stays.
    if wanted and isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError:  # packages of their own: the SDK and the exporter
            return
        named = os.environ.get("OTEL_SERVICE_NAME", "crowdcover")
        provider = TracerProvider(resource=Resource.create({"service.name": named}))
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(provider)
