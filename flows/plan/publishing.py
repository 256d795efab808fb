"""[publish] of the plan: folders of the release and its secrets, formats, approval."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from flows.plan.durations import duration
from kinds.section import PlanError, Section, Unshown
from tasks.places.credentials import with_password
from tasks.places.place import is_remote


class PublishSection(Section):
    """[publish]."""

    path: str = "releases"
    vault: str = "vault"
    formats: Annotated[list[Literal["parquet", "csv"]], Field(min_length=1)] = ["parquet", "csv"]
    allow_second_release: bool = False
    ledger: Unshown[str | None] = None
    ledger_credentials: str | None = None
    approval: Literal["none", "required"] = "none"
    approval_timeout: str = "7d"

    def check(self) -> None:
        """Refuse other ledgers, and a release folder and a vault that contain each other.

        Symbolic links are followed: a copy of the releases must never include the secrets.
        """
        if self.ledger is not None and not self.ledger.startswith(("postgresql://", "postgres://")):
            raise PlanError(
                "publish.ledger must start with postgresql://; "
                "leave it out to keep the ledger in the vault"
            )
        if is_remote(self.vault):
            raise PlanError(
                "publish.vault must be a local folder: it needs renames, locks and modes that "
                "object storage lacks; name a folder of this machine or of a shared file system. "
                "Only publish.path may be in object storage"
            )
        if is_remote(self.path):
            self._check_timeout()
            return
        path, vault = Path(os.path.realpath(self.path)), Path(os.path.realpath(self.vault))
        if path.is_relative_to(vault) or vault.is_relative_to(path):
            overlap = "are the same folder" if path == vault else "are nested"
            raise PlanError(
                f"publish.path and publish.vault {overlap}: a copy of one may include the "
                "other, and the vault holds secrets; name two separate folders"
            )
        self._check_timeout()

    def _check_timeout(self) -> None:
        if self.approval == "none" and "approval_timeout" in self.model_fields_set:
            raise PlanError("publish.approval_timeout belongs to approval = 'required'")
        _ = self.time_to_approve

    @property
    def ledger_uri(self) -> str | None:
        """The address of the shared ledger, with the password that its credentials name."""
        return None if self.ledger is None else with_password(self.ledger, self.ledger_credentials)

    @property
    def time_to_approve(self) -> timedelta | None:
        """How long a person has to approve; None if the plan asks for no approval."""
        if self.approval == "none":
            return None
        if (given := duration(self.approval_timeout)) is None:
            raise PlanError("publish.approval_timeout must be like '7d', '36h' or '1d12h'")
        return given
