"""What follows what: from private data to a published release, for every kind of data.

A plain call. The flow in flows/release.py lets Prefect run it, with each stage as a task. Nothing
here imports Prefect, which takes as long as a small release.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

from anon_core.anonymizers import NOTICES
from crowdcover.flows.loading import load_as_planned
from crowdcover.flows.outcome import Ended
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.runs.approval import refuse_rejected, require_approval
from crowdcover.flows.runs.known_plan import (
    apply_series_form,
    find_approved_run,
    is_first_run,
    recognise_source,
    take_up_decisions,
)
from crowdcover.flows.runs.lineage import trace_release
from crowdcover.flows.runs.next_version import NextVersion, prepare_next_version
from crowdcover.flows.runs.partitions import read_plan_source
from crowdcover.flows.runs.targets import find_standing_release
from crowdcover.storage.ledger.admission import admit_plan
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.places.outages import wait_out_outages
from crowdcover.storage.places.place import place_of
from crowdcover.storage.series.retractions import refuse_unfinished
from crowdcover.storage.series.series import Series
from crowdcover.storage.source.reading import Absent, GoneError, Reading
from crowdcover.storage.vault.endings import begin_attempt
from crowdcover.storage.vault.failures import keep_failures
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.compute.engines import Compute, require_ready_engine
from crowdcover.tasks.orchestration.gates import close_gates
from crowdcover.tasks.orchestration.stage import log_line, warn_person
from crowdcover.tasks.stages.anonymize import anonymize
from crowdcover.tasks.stages.check import check
from crowdcover.tasks.stages.compare import compare, drift_claims, last_release
from crowdcover.tasks.stages.encode import encode
from crowdcover.tasks.stages.identify import identify
from crowdcover.tasks.stages.ingest import ingest
from crowdcover.tasks.stages.manifest import Destination
from crowdcover.tasks.stages.publish import beside_others, find_published_folder, publish
from crowdcover.tasks.stages.validate import validate


def release_plan(plan: ReleasePlan) -> Ended:
    """Release the data of a plan: a plain call outside of a flow run."""
    vault = Vault(Path(plan.publish.vault)).open()
    with keep_failures(vault.runs, "release"), wait_out_outages(log_line):
        with trace_release(plan) as folders:
            ended = _release_source(plan, vault)
            folders.append(place_of(ended.folder))
        # Whether it was published now or stands: a run may have stopped between both.
        if sentence := load_as_planned(plan, folders[0]):
            log_line(sentence)
    return ended


def _release_source(plan: ReleasePlan, vault: Vault) -> Ended:
    """Admit the plan and its source; a release that stands already is returned as it is."""
    plan.check_machine()
    take_up_decisions(plan, vault)
    # After `take_up_decisions`: a decision in an officer's copy may be the approval.
    if (run := find_approved_run(plan, vault)) is not None:
        log_line(f"run {run.path.name} was approved: it is published as it is, no source is read")
        # A stage of another build, or a damaged one, is made again from rows that `Absent` lacks.
        with suppress(GoneError):
            return _admit_source(plan, vault, Absent(plan.data.source, run.source_sha256))
        log_line("its stages must be made again: the source is read as it is now")
    plan = apply_series_form(plan, vault)
    reading = read_plan_source(plan)
    if plan.series is None:
        return _admit_source(plan, vault, reading)
    # Two processes would give one number to two versions.
    with Series(vault, plan.name).open().hold_lock():
        return _release_next_version(plan, vault, reading)


def _release_next_version(plan: ReleasePlan, vault: Vault, source: Reading) -> Ended:
    """The next version of a series; the last one where nothing has changed since."""
    try:
        reading = source
        # A failed round lets chains of its batch wait, so no later batch of this version has them.
        # The source has finitely many, so the rounds end: at the latest with an empty batch.
        while isinstance(version := prepare_next_version(plan, vault, reading), NextVersion):
            if (ended := _admit_source(plan, vault, version.batch, version)).folder:
                return ended
            reading = source.again()
    finally:
        source.end()
    parent = plan.releases
    folder = find_published_folder(
        version.run, parent, plan.limits.release_limits, plan.about.claims
    )
    if folder is None:
        raise FolderError(
            f"version {version.number} of the series does not stand in {parent} as it was "
            "published; restore it from a copy"
        )
    log_line(f"nothing changed since version {version.number}: {folder.name}")
    return Ended(str(folder), published=False)


def _admit_source(
    plan: ReleasePlan, vault: Vault, reading: Reading, version: NextVersion | None = None
) -> Ended:
    """Admit what was read, under the plan as the vault knows it; see `_run_stages`."""
    kind = plan.kind
    plan, reading = recognise_source(plan, vault, reading)
    second = plan.publish.allow_second_release
    # Versions of one series are checked together, so they are no second releases of its people.
    kin = frozenset[str]() if version is None else version.kin
    ledger = Ledger(vault, kind.remade, plan.publish.ledger_uri, kin)
    run = admit_plan(ledger, reading.sha256, plan.sha256, second, kind.name)
    if version is not None:
        # Before any stage: a later attempt with another batch then knows which run it gives up.
        version.begin(run)
    formats, key = plan.publish.formats, plan.publish.signing_key
    to = Destination(kind, plan.releases, formats, ledger, second, key)
    with run.hold_lock():
        refuse_unfinished(run)
        begin_attempt(run, plan.name)
        # Before the work. `publish` looks again, since the folder may change meanwhile.
        if (folder := find_standing_release(plan, run, ledger)) is not None:
            log_line(f"published before and unchanged since: {folder.name}")
            return Ended(str(folder), published=False)
        try:
            return Ended(_run_stages(plan, run, reading, to, version), published=True)
        finally:
            reading.end()


def _run_stages(
    plan: ReleasePlan, run: Run, reading: Reading, to: Destination, version: NextVersion | None
) -> str:
    """The stages in the order of the data. What is finished is not done again.

    The folder is empty where a version must be made again, of another batch.
    """
    kind, data, anonymizer = plan.kind, plan.data, plan.build_anonymizer()
    notice = NOTICES.get(plan.anonymizer_settings["name"], "")
    if notice and is_first_run(plan, to.ledger.vault, run):
        warn_person(notice)
    compute = _build_compute(plan)
    require_ready_engine(run, compute)
    close_gates(run)
    limits = plan.limits.drift_limits
    last = (
        last_release(to.ledger.vault, run, kind, to.parent, limits)
        if version is None
        else version.last_release()
    )
    ingested = ingest(run, kind, data, reading, to.ledger)
    # Drift and the manifest compare whole sources; a version ingests its batch only.
    whole = ingested if version is None else version.split
    changes = None if last is None else compare(run, kind, data, last, whole)
    validate(run, kind, data, kind.checked[0], ingested)
    encoded = encode(run, kind, data, ingested)
    validate(run, kind, data, kind.checked[1], encoded)
    # A second release of the same people is refused here, before the anonymizer's long work.
    identify(run, kind, to.ledger, ingested, encoded, to.allow_second_release)
    split = None if version is None else version.split
    rows = anonymize(run, kind, data, (ingested, encoded), anonymizer, compute, split)
    checked = check(
        run, kind, data, (anonymizer.promise, plan.limits.release_limits), rows, to.formats, reading
    )
    if version is not None:
        whole_version = version.whole(run, to.ledger, encoded, checked)
        if whole_version is None:
            return ""
        checked = whole_version
    # The order counts: `drift_claims` and `beside_others` are gates and may refuse.
    claims: dict[str, Any] = {
        **_describe_source(plan, whole),
        "checks": plan.limits.release_limits.list_claims(checked.sections),
        "anonymizer": plan.anonymizer_settings,
        **drift_claims(run, kind, last, changes, checked),
        **beside_others(run, checked, to),
    }
    refuse_rejected(run)
    if (terms := plan.publish.terms) is not None:
        # Last, since the question holds all other claims: a person approves the final ones.
        claims["approval"] = require_approval(run, checked, to, claims, terms)
    folder = publish(run, checked, to, claims)
    if version is not None:
        version.end()
    return str(folder)


def _describe_source(plan: ReleasePlan, source: Stored) -> dict[str, Any]:
    """What the manifest says of the plan and of its source."""
    facts = source.facts
    return {
        "plan_sha256": plan.sha256,
        "source": {
            "kind": plan.kind.name,
            "rows": facts.get("source_rows", source.shape[0]),
            "columns": facts["source_columns"],
        },
        **plan.kind.describe_columns(plan.data),
        **plan.about.claims,
    }


def _build_compute(plan: ReleasePlan) -> Compute:
    """[compute] of the plan for the tasks."""
    where = plan.compute
    return Compute(
        engine=where.engine,
        threads=where.threads,
        memory=plan.memory_bytes,
        scheduler=where.scheduler,
        workers=where.workers,
        cluster=where.jobs,
    )
