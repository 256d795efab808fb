"""The vault that a person names, by its folder or by a plan, or a refusal."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.section import PlanError
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.vault import Vault


def find_named_vault(options: argparse.Namespace) -> tuple[ReleasePlan | None, Vault]:
    """The plan of --plan, if it is given, and its vault or the one of --vault."""
    if (options.vault is None) == (options.plan is None):
        raise PlanError("give either --vault FOLDER or --plan PLAN.toml")
    _refuse_settings_alone(options)
    if options.plan is None:
        return None, Vault(Path(os.path.abspath(options.vault)))
    plan = ReleasePlan.load(options.plan, options.overrides)
    return plan, Vault(Path(plan.publish.vault))


def list_named_vaults(options: argparse.Namespace) -> list[Vault]:
    """The vaults that several --vault and --plan name, each once, in the order given."""
    if not options.vault and not options.plan:
        raise PlanError("give --vault FOLDER or --plan PLAN.toml")
    _refuse_settings_alone(options)
    plans = (ReleasePlan.load(path, options.overrides) for path in options.plan or ())
    folders = [*(options.vault or ()), *(Path(plan.publish.vault) for plan in plans)]
    # Resolved: two plans may name one vault by different paths.
    vaults = [Vault(path) for path in dict.fromkeys(folder.resolve() for folder in folders)]
    for vault in vaults:
        _require_vault(vault)
    return vaults


@contextmanager
def refuse_unreadable_vault(vault: Vault) -> Iterator[None]:
    """Refuse the vault of another account, once the work inside cannot read it."""
    try:
        yield
    except PermissionError:
        raise FolderError(
            f"the vault {vault.path} cannot be read by this account; run the command as its owner"
        ) from None


def _refuse_settings_alone(options: argparse.Namespace) -> None:
    if options.overrides and not options.plan:
        raise PlanError("--set changes a plan; give --plan PLAN.toml with it")


def _require_vault(vault: Vault) -> None:
    """Refuse a folder that is no vault, or one of another account."""
    with refuse_unreadable_vault(vault):
        # `is_dir` below would raise a bare PermissionError in the vault of another account.
        if vault.path.is_dir() and not os.access(vault.path, os.R_OK | os.X_OK):
            raise PermissionError
    if not vault.path.exists():
        raise FolderError(
            f"there is no vault {vault.path}: the first release makes it; correct publish.vault or "
            "--vault if there were releases"
        )
    if not vault.runs.is_dir():
        raise FolderError(f"{vault.path} is no vault; name the folder of publish.vault")
