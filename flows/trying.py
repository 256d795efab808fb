"""`crowdcover try`: what releases would keep and risk under several settings; nothing is published.

Each setting is anonymized and audited in a vault of its own, which is removed. Its secrets follow
from `--seed`, so the same command shows the same numbers. A release draws its own: even in the
vault that a killed `try` left behind, no release finds the run.
"""

import hashlib
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_core.errors import AnonymityError, GuaranteeError
from crowdcover.flows.outcome import exit_code
from crowdcover.flows.plan.document import read_document
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.runs.partitions import read_plan_source
from crowdcover.kinds import words_called
from crowdcover.kinds.section import PlanError
from crowdcover.reports.comparison import Compared, as_json
from crowdcover.storage.encryption.plain_copies import discard_plain_copies
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.source.partitions import Picked
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.dry_run_vault import KEPT, private_folder
from crowdcover.storage.vault.files import write_private
from crowdcover.storage.vault.run import Run
from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.compute.engines import Compute
from crowdcover.tasks.stages.anonymize import anonymize

_FORMAT = "parquet"


@dataclass(frozen=True)
class Outcome:
    """What one setting gives: numbers, or the refusal and its exit code.

    Attributes
    ----------
    label : str
        The setting, such as `k = 5, weights = bits`.
    stated : mapping
        The settings that are tried.
    numbers : tuple of Compared
        Empty where the setting is refused.
    refusal_text : str
        The refusal, or the limits of [checks] that the numbers miss.
    code : int
        The exit code that a release with this setting would have.
    seconds : float
    measured : mapping
        The auditor's numbers by section; empty where the setting is refused.
    """

    label: str
    stated: Mapping[str, Any]
    numbers: tuple[Compared, ...]
    refusal_text: str
    code: int
    seconds: float
    measured: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The setting, its numbers or refusal, the exit code and the seconds, for programs.

        Numbers stand by their keys and, as people read them, by their headings. Of a table also the
        loss of each column, and how many records of the source are unique.
        """
        unique = self.measured.get("protection", {}).get("unique_records")
        return {
            **self.stated,
            "numbers": as_json(self.numbers),
            "shown": {each.heading: each.shown for each in self.numbers},
            "per_column": self.measured.get("utility", {}).get("per_column", {}),
            "unique_records": unique,
            "refused": self.refusal_text or None,
            "exit_code": self.code,
            "seconds": round(self.seconds, 1),
        }


def list_settings(levels: Sequence[int], weights: Sequence[str]) -> list[dict[str, Any]]:
    """Every level of k with every way to weigh; what is not given stays as the plan states it."""
    return [
        {**({} if k is None else {"k": k}), **({} if weight is None else {"weights": weight})}
        for weight in (weights or [None])  # type: ignore[list-item]
        for k in (levels or [None])  # type: ignore[list-item]
    ]


def build_setting_plans(
    path: Path, overrides: Sequence[str], each: Sequence[Mapping[str, Any]]
) -> list[ReleasePlan]:
    """The plan under each setting; refused as the plan would be."""
    document = read_document(path, overrides)
    plans = []
    for stated in each:
        changed = dict(document)
        for section, key, name in (("privacy", "k", "k"), ("anonymizer", "weights", "weights")):
            table = changed.get(section, {})
            # A section that is no table stays, so that the plan is refused.
            if name in stated and isinstance(table, dict):
                changed[section] = {**table, key: stated[name]}
        plans.append(ReleasePlan.of(changed))
    return plans


def try_settings(
    plans: Sequence[ReleasePlan],
    each: Sequence[Mapping[str, Any]],
    sample: int | None,
    seed: int,
) -> Iterator[tuple[int, Outcome]]:
    """Yield for each setting the number of records that were read, and what it gives."""
    with private_folder() as folder:
        # One reading for all settings: neither k nor weights change what is read.
        reading = _read_sample(plans[0], sample, seed)
        reading.keep(folder)
        try:
            for number, (plan, stated) in enumerate(zip(plans, each, strict=True)):
                vault = Vault(folder / str(number))
                yield _try_setting(plan, stated, reading, vault, seed)
                # So the disk holds the stages of one setting at a time.
                discard_plain_copies(vault.path)
                shutil.rmtree(vault.path, ignore_errors=True)
        finally:
            reading.end()


def _read_sample(plan: ReleasePlan, sample: int | None, seed: int) -> Reading:
    """The source, or random rows of it."""
    reading = read_plan_source(plan)
    if sample is None:
        return reading
    try:
        rows = plan.kind.sampled(plan.data, reading, sample, seed)
    finally:
        reading.end()
    return Picked(plan.data.source, rows)


def _try_setting(
    plan: ReleasePlan, stated: Mapping[str, Any], reading: Reading, vault: Vault, seed: int
) -> tuple[int, Outcome]:
    """Anonymize and audit one setting."""
    label = ", ".join(f"{key} = {value}" for key, value in stated.items()) or "as the plan states"
    start = time.perf_counter()

    def outcome(numbers: Sequence[Compared], refusal_text: str, code: int) -> Outcome:
        seconds = time.perf_counter() - start
        return Outcome(label, stated, tuple(numbers), refusal_text, code, seconds, sections)

    rows = 0
    sections: Mapping[str, Any] = {}
    try:
        # Not the plan's own hash: no release may find a run whose seed anybody can compute.
        tried_only = hashlib.sha256(f"try {plan.sha256}".encode()).hexdigest()
        run = vault.run(tried_only, reading.sha256, plan.kind.name)
        write_private(run.path / "seed", hashlib.sha256(f"try {seed}".encode()).digest())
        rows, sections = _measure_setting(plan, run, reading, vault)
        numbers = words_called(plan.kind.name).compared(sections)
        short = plan.limits.release_limits.list_shortfalls(sections)
        refusal_text = "".join(f"would be refused: {each.shortfall}" for each in short[:1])
        refusal_text += "".join(f"; {each.shortfall}" for each in short[1:])
        # 4: the code of the GuaranteeError that a release would raise.
        return rows, outcome(numbers, refusal_text, 4 if short else 0)
    # A wrong plan ends the command. Any other refusal is what this setting gives.
    except PlanError:
        raise
    except AnonymityError as refusal:
        refusal_text = f"refused: {KEPT.sub('', str(refusal))}"
        return rows, outcome((), refusal_text, exit_code(refusal))


def _measure_setting(
    plan: ReleasePlan, run: Run, reading: Reading, vault: Vault
) -> tuple[int, Mapping[str, Any]]:
    """Records, and the numbers of the auditor; refused where a guarantee does not hold."""
    kind, data, anonymizer = plan.kind, plan.data, plan.build_anonymizer()
    ledger, source = Ledger(vault, kind.remade), reading.again()

    ingested = run.once("ingest", [], lambda folder: kind.ingest(data, source, ledger, folder))
    encoded = run.once(kind.encoded, [ingested], lambda folder: kind.encode(data, ingested, folder))
    compute = Compute(threads=plan.compute.threads, memory=plan.memory_bytes)
    result = anonymize(run, kind, data, (ingested, encoded), anonymizer, compute)
    # The auditor reads the source once more and trusts nothing that `ingest` stored.
    again = reading.again()
    folder = result.folder
    audit = kind.judge(data, anonymizer.promise, (_FORMAT,), again, folder, folder)
    again.end()
    if not audit.passed or audit.measured is None:
        raise GuaranteeError(audit.sentence())
    sections = audit.measured.sections()
    sections["privacy"]["promise"] = list(anonymizer.promise.findings)
    return int(sections["privacy"]["records"]), sections
