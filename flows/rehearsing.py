"""`crowdcover release --dry-run`: all that can refuse a release before the anonymizer starts.

The stages up to the anonymizer run in a shadow of the vault, which is removed. So a rehearsal
refuses what a release would refuse, with the same words, and leaves nothing behind.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anon_core.engines import local
from anon_core.engines.mpi.job import afford_rank
from anon_core.engines.spreading import load_dask_module, load_mpi_module
from crowdcover.flows.estimates import estimate_release
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.runs.known_plan import (
    apply_series_form,
    find_approved_run,
    recognise_source,
    take_up_decisions,
)
from crowdcover.flows.runs.next_version import NextVersion, prepare_next_version
from crowdcover.flows.runs.partitions import read_plan_source
from crowdcover.flows.runs.targets import find_standing_release
from crowdcover.storage.ledger.admission import admit_plan
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.series.retractions import refuse_unfinished
from crowdcover.storage.series.series import Series
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.dry_run_vault import open_shadow
from crowdcover.storage.vault.failures import keep_failures
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.compute import cluster
from crowdcover.tasks.stages.compare import compare, last_release
from crowdcover.tasks.stages.encode import encode
from crowdcover.tasks.stages.identify import identify
from crowdcover.tasks.stages.ingest import ingest
from crowdcover.tasks.stages.validate import validate

MADE = "a release would be made"
STANDS = "the release stands already: a run returns it as it is"
UNCHANGED = "nothing changed since the last version of the series: a run returns that"
APPROVED = "a run of this plan was approved: it is published as it is, no source is read"


@dataclass(frozen=True)
class Rehearsal:
    """What a release would begin with.

    Attributes
    ----------
    outcome : str
        What a run would do.
    columns : mapping
        Role of each column, as the manifest would state it.
    counts : mapping
        Rows, records and sizes of the encoded data; empty where no stage would run.
    memory : mapping
        Bytes that the anonymizer states for this process or a rank, and that the plan allows.
    estimate : mapping or None
        See `estimate_release`.
    notes : tuple of str
        Sentences of the stages.
    """

    outcome: str
    columns: Mapping[str, Any]
    counts: Mapping[str, Any] = field(default_factory=dict)
    memory: Mapping[str, int] = field(default_factory=dict)
    estimate: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()


def rehearse_release(plan: ReleasePlan) -> Rehearsal:
    """Rehearse a release; raises what a release would raise before it anonymizes."""
    plan.check_machine()
    with (
        open_shadow(Vault(Path(plan.publish.vault))) as vault,
        keep_failures(vault.runs, "release"),
    ):
        return _rehearse_source(plan, vault)


def _rehearse_source(plan: ReleasePlan, vault: Vault) -> Rehearsal:
    """Admit the plan and its source."""
    # The copies are real: nothing is noted in them.
    take_up_decisions(plan, vault, closes=False)
    if find_approved_run(plan, vault) is not None:
        return Rehearsal(APPROVED, _list_roles(plan))
    plan = apply_series_form(plan, vault)
    reading = read_plan_source(plan)
    try:
        if plan.series is None:
            return _admit_source(plan, vault, reading)
        # No lock is linked into the shadow, so a release at work refuses no rehearsal.
        with Series(vault, plan.name).open().hold_lock():
            version = prepare_next_version(plan, vault, reading)
            if not isinstance(version, NextVersion):
                return Rehearsal(UNCHANGED, _list_roles(plan))
            return _admit_source(plan, vault, version.batch, version)
    finally:
        reading.end()


def _admit_source(
    plan: ReleasePlan, vault: Vault, reading: Reading, version: NextVersion | None = None
) -> Rehearsal:
    """Admit plan and source as a release does, with a ledger in which nothing stays."""
    kind = plan.kind
    plan, reading = recognise_source(plan, vault, reading)
    second, uri = plan.publish.allow_second_release, plan.publish.ledger_uri
    kin = frozenset[str]() if version is None else version.kin
    # The shadow has a copy of the vault's own ledger. A shared one is real: nothing may stay in it.
    ledger = Ledger(vault, kind.remade, uri, kin, lasting=uri is None)
    run = admit_plan(ledger, reading.sha256, plan.sha256, second, kind.name)
    refuse_unfinished(run)
    if find_standing_release(plan, run, ledger) is not None:
        return Rehearsal(STANDS, _list_roles(plan))
    try:
        return _run_stages(plan, run, reading, ledger, version)
    finally:
        reading.end()


def _run_stages(
    plan: ReleasePlan, run: Run, reading: Reading, ledger: Ledger, version: NextVersion | None
) -> Rehearsal:
    """The stages up to the anonymizer, and what that would need."""
    kind, data, parent = plan.kind, plan.data, plan.releases
    if (jobs := plan.compute.jobs) is not None:
        # The path in the real vault: a job script would have that, and it may have blanks.
        cluster.require_ready_cluster(jobs, Vault(Path(plan.publish.vault)).runs / run.path.name)
    ingested = ingest(run, kind, data, reading, ledger)
    whole = ingested if version is None else version.split
    if version is None:
        last = last_release(ledger.vault, run, kind, parent, plan.limits.drift_limits)
    else:
        last = version.last_release()
    if last is not None:
        compare(run, kind, data, last, whole)
    validate(run, kind, data, kind.checked[0], ingested)
    encoded = encode(run, kind, data, ingested)
    validate(run, kind, data, kind.checked[1], encoded)
    identify(run, kind, ledger, ingested, encoded, plan.publish.allow_second_release)
    counts = {
        "rows": whole.facts.get("source_rows", whole.shape[0]),
        "columns": whole.facts["source_columns"],
    }
    return _measure_need(plan, encoded, counts, (*ingested.notes, *encoded.notes))


def _measure_need(
    plan: ReleasePlan, encoded: Stored, counts: Mapping[str, Any], notes: tuple[str, ...]
) -> Rehearsal:
    """What the anonymizer admits, and the bytes that it states."""
    data: Any = plan.kind.load(encoded)
    need = _compute_memory_need(plan, plan.kind.part(data, np.arange(data.records)).data)
    sizes = dict(plan.kind.sizes(data))
    with local.threads_set(plan.compute.threads) as threads:
        here = plan.compute.engine == "local"
        estimate = estimate_release(plan.anonymizer_settings, sizes, threads) if here else None
    # After the estimate, which needs "k" among the sizes.
    levels = {"k_mean": sizes.pop("k"), "k_min": int(data.k.min()), "k_max": int(data.k.max())}
    memory = {"anonymizer": need, "allowed": plan.memory_bytes}
    return Rehearsal(
        MADE, _list_roles(plan), {**counts, **sizes, **levels}, memory, estimate, notes
    )


def _compute_memory_need(plan: ReleasePlan, data: Any) -> int:
    """The bytes that the engine of the plan would hold; refused where the plan allows less."""
    anonymizer, allowed, jobs = plan.build_anonymizer(), plan.memory_bytes, plan.compute.jobs
    if jobs is not None:
        afford_rank(anonymizer, data, ranks=jobs.ranks, threads=jobs.cores_per_task, memory=allowed)
        spread = load_mpi_module(anonymizer)
        return spread.memory(anonymizer, data, ranks=jobs.ranks, threads=jobs.cores_per_task)
    anonymizer.admit(data)
    with local.threads_set(plan.compute.threads):
        if plan.compute.engine == "dask":
            # As the engine counts: this process and the workers that it starts itself.
            own = 0 if plan.compute.scheduler else plan.compute.workers
            need = load_dask_module(anonymizer).memory(anonymizer, data, workers=own)
        else:
            need = local.compute_memory(anonymizer, data)
        local.check_memory(need, data, allowed)
    return need


def _list_roles(plan: ReleasePlan) -> Mapping[str, Any]:
    """The role of each column of the source."""
    columns: Mapping[str, Any] = plan.kind.describe_columns(plan.data).get("columns", {})
    return columns
