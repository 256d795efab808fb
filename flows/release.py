"""What follows what: from a private table to a published release."""

from pathlib import Path

from prefect import flow

from flows.plan import ReleasePlan
from tasks.admit import admit
from tasks.anonymize import Compute, anonymize
from tasks.binarize import binarize
from tasks.check import check
from tasks.ingest import ingest
from tasks.publish import publish, published
from tasks.sources import header
from tasks.validate import validate


@flow(name="release", persist_result=False)
def release(plan: str) -> str:
    """Release the table that a plan names; returns the release folder.

    The parameter is the path of a plan, not the plan: Prefect stores parameters, and a plan may name values and passwords.
    """
    order = ReleasePlan.load(Path(plan))
    source, columns, demand = order.table_source, order.table_columns, order.demand
    order.check_header(header(source))
    run = admit(Path(order.publish.vault), source, order.sha256, order.publish.allow_second_release)
    with run.locked(), run.failures_kept("release"):
        if (folder := published(run)) is not None:
            return str(folder)
        table = ingest(run, source, columns, demand)
        validate(run, table, "ingested", columns)
        binary = binarize(run, table, columns, demand)
        validate(run, binary, "binarized", columns)
        compute = Compute(threads=order.compute.threads, memory=order.memory_bytes)
        rows = anonymize(run, table, binary, columns, order.maker, compute)
        checked = check(run, rows, source, columns, demand, order.publish.formats, order.checks.min_utility)
        claims = {
            "plan_sha256": order.sha256,
            "source": {"rows": table.shape[0], "columns": len(columns)},
            "anonymizer": order.maker_settings,
        }
        return str(publish(run, checked, order.name, Path(order.publish.path), order.publish.formats, claims))
