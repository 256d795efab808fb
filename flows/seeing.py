"""What is there to see in vaults: their runs, and the releases that wait for a person."""

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flows.plan.plan import ReleasePlan
from kinds import words_of
from kinds.section import PlanError
from reports.verdict import judge_manifest
from storage.approval.approval import PAGE
from storage.approval.statement import Rules
from storage.upkeep.run_states import Seen, list_run_states
from storage.vault.refusals import FolderError
from storage.vault.vault import Vault


def list_vaults(options: argparse.Namespace) -> list[Vault]:
    """The vaults that --vault and --plan name, each once, in the order given."""
    folders: Sequence[Path] = options.vault or []
    plans: Sequence[Path] = options.plan or []
    if not folders and not plans:
        raise PlanError("give --vault FOLDER or --plan PLAN.toml")
    if options.overrides and not plans:
        raise PlanError("--set changes a plan; give --plan PLAN.toml with it")
    paths = [folder.resolve() for folder in folders]
    orders = (ReleasePlan.load(plan, options.overrides) for plan in plans)
    paths += [Path(order.publish.vault).resolve() for order in orders]
    found = [Vault(path) for path in dict.fromkeys(paths)]
    for vault in found:
        _require_readable(vault)
    return found


def _require_readable(vault: Vault) -> None:
    """Refuse a folder that is no vault, or one of another account."""
    if vault.path.is_dir() and not os.access(vault.path, os.R_OK | os.X_OK):
        raise FolderError(
            f"the vault {vault.path} cannot be read by this account; run the command as its owner"
        )
    if not vault.path.exists():
        raise FolderError(
            f"there is no vault {vault.path}: the first release makes it; correct publish.vault or "
            "--vault if there were releases"
        )
    if not vault.runs.is_dir():
        raise FolderError(f"{vault.path} is no vault; name the folder of publish.vault")


def list_vault_runs(found: Sequence[Vault]) -> list[dict[str, Any]]:
    """Every run of these vaults, the one that changed last first."""
    return [
        {
            "run": each.run.path.name,
            "vault": str(vault.path),
            "name": each.name,
            "kind": each.kind,
            "state": each.state.word,
            "words": each.state.words,
            "stage": each.state.stage,
            "reason": each.state.reason,
            "rows": each.rows,
            "since": each.state.since,
        }
        for vault in found
        for each in list_run_states(vault)
    ]


def list_waiting_releases(found: Sequence[Vault]) -> list[dict[str, Any]]:
    """The releases that wait for a person's decision, the one that ends first first."""
    entries = [
        _describe_waiting_release(vault, each)
        for vault in found
        for each in list_run_states(vault)
        if each.state.word == "waits"
    ]
    return sorted(entries, key=lambda entry: (entry["until"], entry["run"]))


def _describe_waiting_release(vault: Vault, each: Seen) -> dict[str, Any]:
    request = each.request
    assert request is not None
    who = "--key KEY" if Rules.of(request.rules).approvers else "--by NAME"
    vault_path, manifest = shlex.quote(str(vault.path)), request.question.manifest
    return {
        "run": each.run.path.name,
        "vault": str(vault.path),
        "name": each.name,
        "kind": each.kind,
        "rows": each.rows,
        "verdict": judge_manifest(manifest, words_of(manifest)).heading,
        "asked": request.asked,
        "until": request.until,
        "requested_by": request.asker,
        "report": str(each.run.path / PAGE),
        "decide": f"crowdcover approve {each.run.path.name} --vault {vault_path} {who}",
        "copy": request.copy,
        "sign": f"crowdcover sign {shlex.quote(request.copy)} --decision approve --key KEY"
        if request.copy
        else "",
    }
