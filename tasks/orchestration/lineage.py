"""OpenLineage events of a release, sent as OpenLineage's own variables say; else nothing happens.

    OPENLINEAGE_URL, OPENLINEAGE_CONFIG, OPENLINEAGE__TRANSPORT__TYPE, ...    the transport
    OPENLINEAGE_NAMESPACE    of the job; default crowdcover
    OPENLINEAGE_DISABLED     nothing is sent

Events name the source, its columns, the release, its columns and counts; none holds a value, a
password or a query. An event that cannot be sent stops no release.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from crowdcover.storage.places.credentials import without_password
from crowdcover.storage.source.drivers import split_file_address
from crowdcover.storage.source.sources import Source
from crowdcover.storage.vault.build import CODE_VERSION
from crowdcover.tasks.orchestration.events import find_flow_run
from crowdcover.tasks.orchestration.stage import log_line

_ASKED = ("OPENLINEAGE_URL", "OPENLINEAGE_CONFIG")
SECTION = "OPENLINEAGE__"
PRODUCER = f"urn:crowdcover:{CODE_VERSION}"
_SCHEMES = {"postgresql": "postgres"}  # as OpenLineage names them
How = Literal["START", "COMPLETE", "FAIL", "ABORT"]


class Name(NamedTuple):
    """A dataset as OpenLineage names it."""

    namespace: str
    name: str


class Column(NamedTuple):
    """A column of a release: its type, how to read it, and the column of the source it is of.

    `masked`: whether the release shows other values than the source.
    """

    name: str
    type: str
    about: str
    source: str = ""
    masked: bool = False


@dataclass(frozen=True)
class Written:
    """A release as an event tells of it."""

    name: Name
    version: str
    columns: tuple[Column, ...]
    rows: int
    source_rows: int
    files: int


@dataclass(frozen=True)
class Lineage:
    """The events of one run of a job."""

    job: str
    source: Name
    columns: Mapping[str, str]
    run: str
    client: Any = field(repr=False)

    def emit_event(self, how: How, written: Written | None = None, refusal: str = "") -> None:
        """Send an event; one that cannot be sent is logged by the kind of its error."""
        try:
            self.client.emit(self._event(how, written, refusal))
            if how != "START":
                self.client.close()  # the last event: send what still waits
        except Exception as error:
            # By type alone: a transport's message may quote its address and key.
            log_line(f"no OpenLineage event {how} was sent ({type(error).__name__})")

    def _event(self, how: How, written: Written | None, refusal: str) -> Any:
        from openlineage.client import event_v2 as events
        from openlineage.client import facet_v2 as facets

        about_run: dict[str, Any] = {
            "processing_engine": facets.processing_engine_run.ProcessingEngineRunFacet(
                version=CODE_VERSION, name="crowdcover"
            )
        }
        if refusal:
            about_run["errorMessage"] = facets.error_message_run.ErrorMessageRunFacet(
                message=refusal, programmingLanguage="python"
            )
        about_job: dict[str, Any] = {
            "jobType": facets.job_type_job.JobTypeJobFacet(
                processingType="BATCH", integration="CROWDCOVER", jobType="RELEASE"
            )
        }
        return events.RunEvent(
            eventTime=datetime.now(UTC).isoformat(),
            eventType=events.RunState[how],
            run=events.Run(runId=self.run, facets=about_run),
            job=events.Job(
                namespace=os.environ.get("OPENLINEAGE_NAMESPACE") or "crowdcover",
                name=self.job,
                facets=about_job,
            ),
            inputs=[self._input(written)],
            outputs=[] if written is None else [self._output(written)],
            producer=PRODUCER,
        )

    def _input(self, written: Written | None) -> Any:
        from openlineage.client import event_v2 as events
        from openlineage.client import facet_v2 as facets

        schema = facets.schema_dataset
        counted = facets.data_quality_metrics_input_dataset
        rows = None if written is None else written.source_rows
        measured: dict[str, Any] = (
            {}
            if rows is None
            else {
                "dataQualityMetrics": counted.DataQualityMetricsInputDatasetFacet(
                    columnMetrics={}, rowCount=rows
                )
            }
        )
        fields = [
            schema.SchemaDatasetFacetFields(name=name, description=role or None)
            for name, role in self.columns.items()
        ]
        return events.InputDataset(
            *self.source,
            facets={"schema": schema.SchemaDatasetFacet(fields=fields)} if fields else {},
            inputFacets=measured,
        )

    def _output(self, written: Written) -> Any:
        from openlineage.client import event_v2 as events
        from openlineage.client import facet_v2 as facets

        schema = facets.schema_dataset
        fields = [
            schema.SchemaDatasetFacetFields(name=each.name, type=each.type, description=each.about)
            for each in written.columns
        ]
        return events.OutputDataset(
            *written.name,
            facets={
                "schema": schema.SchemaDatasetFacet(fields=fields),
                "version": facets.dataset_version_dataset.DatasetVersionDatasetFacet(
                    datasetVersion=written.version
                ),
                "columnLineage": self._came_from(written.columns),
            },
            outputFacets={
                "outputStatistics": (
                    facets.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
                        rowCount=written.rows, fileCount=written.files
                    )
                )
            },
        )

    def _came_from(self, columns: Iterable[Column]) -> Any:
        """Which column of the source each column is of; OpenLineage knows what is masked."""
        from openlineage.client.facet_v2 import column_lineage_dataset as lineage

        def came(column: Column) -> Any:
            how = lineage.Transformation(
                type="DIRECT",
                subtype="TRANSFORMATION" if column.masked else "IDENTITY",
                masking=column.masked,
            )
            return lineage.Fields(
                inputFields=[
                    lineage.InputField(*self.source, field=column.source, transformations=[how])
                ]
            )

        return lineage.ColumnLineageDatasetFacet(
            fields={each.name: came(each) for each in columns if each.source}
        )


def build_lineage(job: str, source: Source, columns: Mapping[str, str]) -> Lineage | None:
    """The events of this run; None where nothing is configured, or the client is not installed."""
    if not _is_configured():
        return None
    if find_spec("openlineage") is None:
        log_line(
            "OpenLineage is configured and its client is not installed, so no events are sent: "
            "pip install 'crowdcover[lineage]'"
        )
        return None
    from openlineage.client import OpenLineageClient
    from openlineage.client.uuid import generate_new_uuid

    try:
        client = OpenLineageClient()
    except Exception as error:
        log_line(
            f"no OpenLineage events are sent: the client cannot be set up ({type(error).__name__})"
        )
        return None
    flow_run = find_flow_run()
    # The id of the flow run, so that a lineage tool and Prefect name one run.
    run = generate_new_uuid() if flow_run is None else flow_run.id
    return Lineage(job, name_source(source), dict(columns), str(run), client)


def _is_configured() -> bool:
    """Whether the environment names a transport and does not switch OpenLineage off."""
    if os.environ.get("OPENLINEAGE_DISABLED", "").lower() in ("true", "1"):
        return False
    return any(
        value and (name in _ASKED or name.startswith(SECTION)) for name, value in os.environ.items()
    )


def name_source(source: Source) -> Name:
    """A source: a file, an object, a database. A query is not told: it may hold values."""
    if source.path is not None:
        return place_name(str(source.path))
    uri = without_password(source.uri or "")
    parts = urlsplit(uri)
    if split_file_address(uri) is not None:
        return Name("file", parts.path)
    scheme = _SCHEMES.get(parts.scheme, parts.scheme)
    # Not netloc, which also has the user.
    host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    return Name(f"{scheme}://{host}", parts.path.strip("/") or "query")


def place_name(text: str) -> Name:
    """A local path or a place in object storage."""
    if "://" not in text:
        return Name("file", str(Path(text).absolute()))
    scheme, _, rest = text.partition("://")
    bucket, _, key = rest.partition("/")
    return Name(f"{scheme}://{bucket}", key or "/")
