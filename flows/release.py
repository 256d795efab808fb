"""What follows what: from a private table to a published release."""

from pathlib import Path
from typing import Any

from prefect import Flow, State, flow
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.schedules import CronSchedule

from flows.approving import approved, refuse_rejected
from flows.plan.plan import PlanError, ReleasePlan
from tasks.compute.cluster import cancel_jobs_of
from tasks.compute.engines import Compute, ready
from tasks.orchestration.gates import close_gates
from tasks.orchestration.stage import log
from tasks.people.admit import admit
from tasks.people.ledger import Ledger
from tasks.source.sources import header
from tasks.stages.anonymize import anonymize
from tasks.stages.check import check
from tasks.stages.compare import compare, drift_claims, last_release
from tasks.stages.encode import binarize
from tasks.stages.identify import identify
from tasks.stages.ingest import ingest
from tasks.stages.publish import Destination, beside_others, publish, published
from tasks.stages.validate import validate
from tasks.vault.approval import require_approved
from tasks.vault.failures import failures_kept
from tasks.vault.storage import Vault


def cancel_jobs(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ARG001 - Prefect names them
    """Of a flow run that Prefect has cancelled and killed: its batch jobs know nothing of that."""
    order = ReleasePlan.load(Path(flow_run.parameters["plan"]))
    if order.compute.jobs is not None:
        cancel_jobs_of(str(flow_run.id), Vault(Path(order.publish.vault)).runs)


@flow(name="release", persist_result=False, on_cancellation=[cancel_jobs])
def release(plan: str) -> str:
    """Release the table that a plan names; returns the release folder.

    The parameter is the path of a plan, not the plan: Prefect stores parameters, and a plan may name values and passwords.
    """
    order = ReleasePlan.load(Path(plan))
    vault = Vault(Path(order.publish.vault)).open()
    return failures_kept(vault.runs, "release", lambda: _release(order, vault))


def _release(order: ReleasePlan, vault: Vault) -> str:
    source, columns, demand = order.table_source, order.table_columns, order.demand
    order.check_engine()
    order.check_header(header(source))
    second, ledger = order.publish.allow_second_release, Ledger(vault, order.publish.ledger)
    run = admit(ledger, source, order.sha256, second)
    to = Destination(Path(order.publish.path) / order.name, order.publish.formats, ledger, second)
    time_to_approve = order.publish.time_to_approve
    with run.locked():
        if (folder := published(run, to.parent, order.checks.floors)) is not None:
            if time_to_approve is not None:
                require_approved(run, folder)
            log(f"published before and unchanged since: {folder.name}")
            return str(folder)
        where = order.compute
        compute = Compute(
            engine=where.engine,
            threads=where.threads,
            memory=order.memory_bytes,
            scheduler=where.scheduler,
            workers=where.workers,
            cluster=where.jobs,
        )
        ready(run, compute)
        close_gates(run)
        last = last_release(vault, run, to.parent, order.checks.drift_limits)
        table = ingest(run, source, columns, demand)
        changes = None if last is None else compare(run, last, table, columns)
        validate(run, table, "ingested", columns)
        binary = binarize(run, table, columns, demand)
        validate(run, binary, "binarized", columns)
        identify(run, ledger, source, columns, table, binary, second)
        rows = anonymize(run, table, binary, columns, order.maker, compute)
        checked = check(
            run,
            rows,
            source,
            columns,
            demand,
            order.publish.formats,
            order.checks.floors,
            order.maker.promise,
        )
        claims: dict[str, Any] = {
            "plan_sha256": order.sha256,
            "source": {"rows": table.shape[0], "columns": len(columns)},
            "anonymizer": order.maker_settings,
            **drift_claims(run, last, changes, checked),
            **beside_others(run, checked, to),
        }
        refuse_rejected(run)
        if time_to_approve is not None:
            claims["approval"] = approved(run, checked, to, claims, time_to_approve)
        return str(publish(run, checked, to, claims))


def serve(name: str, plan: Path, cron: str | None, *, quiet: bool) -> None:
    """Serve a frozen plan as a deployment until stopped."""
    try:
        _ = cron is None or CronSchedule(cron=cron)
    except ValueError:
        raise PlanError(
            "--cron must be five fields: minute hour day month weekday, e.g. '0 2 1 * *'"
        ) from None
    release.serve(
        name=name,
        cron=cron,
        parameters={"plan": str(plan)},
        limit=1,
        pause_on_shutdown=False,
        print_starting_message=not quiet,
    )
