"""The audit of a published folder, from a plan; no Prefect, so that it starts at once."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from anon_core.errors import InputError
from flows.plan.plan import ReleasePlan
from kinds.table.judge import Audit, Finding, audit_folder, audit_rows
from kinds.table.layout import MANIFEST, MATCHING
from kinds.table.overlap import audit_beside_others
from tasks.people.ledger import Ledger
from tasks.source.sources import fingerprint, header
from tasks.vault.approval import Approval
from tasks.vault.storage import Vault, holds_files, read_json

STATED = (
    "crowdcover",
    "name",
    "version",
    "source",
    "anonymizer",
    "privacy",
    "utility",
)  # what every version has stated


def audit_release(folder: Path, plan_path: Path, overrides: Sequence[str] = ()) -> Audit:
    """Recompute every guarantee of a release from the plan's source and the released bytes."""
    read_manifest(folder)
    plan = ReleasePlan.load(plan_path, overrides)
    source = plan.table_source
    plan.check_header(header(source))
    vault = Vault(Path(plan.publish.vault))
    run = vault.find(plan.sha256, fingerprint(source))
    if run is None or not run.has("anonymize"):
        raise InputError(
            "the vault knows no release of this plan and this source; audit with the plan, the source and the vault "
            "that the release was made with (--set publish.vault=...)"
        )
    matching = run.path / "anonymize" / MATCHING
    audit = audit_rows(
        folder,
        plan.publish.formats,
        source,
        plan.table_columns,
        plan.demand,
        matching,
        plan.maker.promise,
    )
    if audit.measured is not None and audit.rows is not None:
        audit = audit.also(
            *audit_beside_others(run, Ledger(vault, plan.publish.ledger), audit.rows)
        )
    remembered = any(holds_files(folder, release.files) for release in run.ever_visible())
    words = f"compared with what the vault's runs/{run.path.name} remembers"
    audit = audit_folder(
        folder, audit.also(Finding("manifest as published", remembered, words)), plan.checks.floors
    )
    if plan.publish.approval == "none":
        return audit
    missing = Approval.of(run).unapproved(folder)
    return audit.also(
        Finding(
            "approved as the plan requires",
            not missing,
            missing or "these bytes, by the person that is named",
        )
    )


def read_manifest(folder: Path, stated: Collection[str] = ()) -> dict[str, Any]:
    """The manifest of a release folder; other programs have a file of that name, too, so ask for what it must state."""
    try:
        manifest = read_json(folder / MANIFEST)
    except (OSError, ValueError, TypeError):
        manifest = None
    if manifest is None or not set(stated) <= manifest.keys():
        raise InputError(
            f"{folder} holds no readable {MANIFEST}; give the folder that `crowdcover release` printed"
        )
    return manifest
