"""A stage outside a flow is a plain call; Prefect's log does not repeat a refusal."""

import logging
import sys

import pytest

from anon_core.errors import InfeasibleError
from crowdcover.storage.vault.failures import StageError
from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.orchestration import spans
from crowdcover.tasks.orchestration import stage as module
from crowdcover.tasks.orchestration.stage import log_line, show_in_prefect, stage

REFUSAL = "90 of 90 records demand k > 90"


@pytest.fixture
def run(tmp_path):
    return Vault(tmp_path / "vault").open().run("0" * 64, "1" * 64)


@pytest.fixture
def unreachable(monkeypatch):
    """Whoever asks a Prefect server fails."""

    def fail(*_, **__):
        raise AssertionError("a plain stage asks no server")

    monkeypatch.setattr("prefect.client.orchestration.get_client", fail)
    monkeypatch.setattr("prefect.task_engine.run_task_sync", fail)


def test_outside_a_flow_a_stage_is_a_plain_call(run, unreachable, caplog):
    @stage("double")
    def double(run, number):
        """Twice the number."""
        log_line(f"{number} doubled")
        return 2 * number

    with caplog.at_level(logging.INFO, "crowdcover"):
        assert double(run, number=3) == 6
    assert (double.__name__, double.__doc__) == ("double", "Twice the number.")
    assert caplog.messages == ["3 doubled"]


def test_a_plain_stage_keeps_its_failures_in_the_vault(run, unreachable):
    @stage("divide")
    def divide(run):
        raise ValueError("cell of Mrs Miller")

    with pytest.raises(StageError, match="stage divide failed with ValueError") as caught:
        divide(run)
    assert "Miller" not in str(caught.value)
    assert "Miller" in (run.path / "failure-divide.txt").read_text()


@pytest.mark.parametrize("logger", ["prefect.flow_runs", "prefect.task_runs"])
@pytest.mark.parametrize(
    "words", ["Task run encountered an exception", "Flow run encountered an exception:"]
)
def test_a_final_state_is_logged_without_the_refusal(logger, words):
    def logged(message, error=None):
        raised = None if error is None else (type(error), error, None)
        record = logging.LogRecord(logger, logging.ERROR, "", 0, message, None, raised)
        return record.getMessage() if logging.getLogger(logger).filter(record) else None

    failed = f'Finished in state Failed("{words} InfeasibleError: {REFUSAL}")'
    assert logged(failed) == "Finished in state Failed(InfeasibleError)"
    assert logged("Encountered exception during execution", InfeasibleError(REFUSAL)) is None
    assert logged("Encountered exception during execution", ValueError()) is not None
    refused = f"Finished in state Refused('{REFUSAL}', type=FAILED)"
    assert logged(refused) == "Finished in state Refused()"
    for name in ("Completed", "Published", "Unchanged"):  # the stage has said what it did
        assert logged(f"Finished in state {name}('of people')") is None
    assert logged("Finished in state Cancelled()") == "Finished in state Cancelled()"


def test_what_prefect_does_not_show_does_not_stop_the_work(monkeypatch):
    told = []

    def fail(**_):
        raise ConnectionError("http://user:secret@server")

    monkeypatch.setattr(module, "find_flow_run", lambda: "a flow run")
    monkeypatch.setattr("prefect.artifacts.create_markdown_artifact", fail)
    monkeypatch.setattr(module, "log_line", told.append)
    show_in_prefect("verdict-people", "# fine", "what was checked")
    assert told == ["Prefect does not show verdict-people: its server failed with ConnectionError"]


@pytest.mark.parametrize("missing", ["opentelemetry.sdk", "opentelemetry.exporter"])
def test_a_stage_runs_where_no_span_can_be_sent(run, unreachable, monkeypatch, missing):
    """The SDK and the exporter are packages of their own; either may be left out."""

    class Missing:
        def find_spec(self, name, *_):
            if name.startswith(missing):
                raise ModuleNotFoundError(name)

    for name in [name for name in sys.modules if name.startswith(missing)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setattr(spans.trace, "get_tracer_provider", spans.trace.ProxyTracerProvider)
    spans._set_up.cache_clear()

    @stage("double")
    def double(run, number):
        return 2 * number

    assert double(run, 3) == 6
    spans._set_up.cache_clear()
