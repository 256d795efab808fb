"""What is there to see in vaults: their runs, and the releases that wait for a person."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crowdcover.flows.advice import format_approve_command, format_sign_command
from crowdcover.kinds import words_of
from crowdcover.reports.verdict import judge_manifest
from crowdcover.storage.approval.approval import PAGE
from crowdcover.storage.approval.statement import Rules
from crowdcover.storage.upkeep.run_states import Seen, list_run_states
from crowdcover.storage.vault.vault import Vault


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
    # ISO times of one offset: their order as texts is their order in time.
    return sorted(entries, key=lambda entry: (entry["until"], entry["run"]))


def list_reopenable_releases(found: Sequence[Vault]) -> list[dict[str, Any]]:
    """The releases that were rejected or not decided in time; `reopen` asks about them again."""
    return [
        {
            "run": each.run.path.name,
            "vault": str(vault.path),
            "name": each.name,
            "rows": each.rows,
            "state": each.state.words,
            "since": each.state.since,
        }
        for vault in found
        for each in list_run_states(vault)
        if each.request is not None
        and (
            each.state.word == "late"
            or (
                each.state.word == "refused"
                and each.request.decision is not None
                and not each.request.decision.approved
            )
        )
    ]


def _describe_waiting_release(vault: Vault, each: Seen) -> dict[str, Any]:
    request = each.request
    assert request is not None
    signed, manifest = bool(Rules.of(request.rules).approvers), request.question.manifest
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
        "approved_by": [each.by for each in request.agreed],
        "report": str(each.run.path / PAGE),
        "decide": format_approve_command(each.run.path.name, vault.path, signed=signed),
        "copy": request.copy,
        "sign": format_sign_command(Path(request.copy)) if request.copy else "",
    }
