"""[publish] of the plan: folders of the release and its secrets, formats, approval."""

import os
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from crowdcover.flows.plan.durations import parse_duration
from crowdcover.flows.plan.publish.into import INTO_SCHEMA, Into
from crowdcover.flows.plan.publish.people import (
    MOST_APPROVALS,
    DeputyTable,
    check_people,
    check_registered,
    list_deputies,
)
from crowdcover.kinds.section import PlanError, Section, Unshown, refuse_all, refuse_together
from crowdcover.storage.approval.signing_keys import is_public, key_at
from crowdcover.storage.approval.statement import Deputy, Terms
from crowdcover.storage.places.credentials import FORMS, is_reference, with_password
from crowdcover.storage.places.place import is_remote


class PublishSection(Section):
    """[publish].

    Attributes
    ----------
    path : the release is written to <path>/<name>/v1, v2, ...
    vault : the private folder with the secrets of the release.
    formats : in which formats the data is published.
    allow_second_release : whether the people may be in other releases; all are then compared.
    ledger : a PostgreSQL database that several vaults share as their ledger; else it is in the
        vault.
    ledger_credentials : where the password of the ledger stands: never in the plan.
    approval : whether a person must approve each release before it is published.
    approval_timeout : how long that person has, such as 36h or 7d.
    approvers : who may approve, each with the public key that verifies their signature; if nobody
        is named, whoever can write in the vault may.
    requester_may_approve : whether who runs the release may approve it, too.
    approvals : how many different people must approve.
    deputies : who else may sign, each in the place of one approver, with a public key of their own.
    approval_valid : how old an approval may be when the release is published; else any age.
    sign_in : the public key of the server that states who is signed in, behind a proxy with a
        login; without it, a name that is typed in Prefect is not authenticated.
    signing_key : where the private key lies that signs the release; without it, none is signed.
    into : a database that releases are loaded into once they are published.
    reports : a folder for copies of the report, for people without access to the vault.
    """

    path: str = "releases"
    vault: str = "vault"
    formats: Annotated[list[Literal["parquet", "csv"]], Field(min_length=1)] = ["parquet", "csv"]
    allow_second_release: bool = False
    ledger: Unshown[str | None] = None
    ledger_credentials: str | None = None
    approval: Literal["none", "required"] = "none"
    approval_timeout: str = "7d"
    approvers: dict[str, str] = {}
    requester_may_approve: bool = True
    approvals: Annotated[int, Field(ge=1, le=MOST_APPROVALS)] = 1
    deputies: dict[str, DeputyTable] = {}
    approval_valid: str | None = None
    sign_in: str | None = None
    reports: str | None = None
    signing_key: str | None = None
    into: Unshown[Annotated[dict[str, Any] | None, WithJsonSchema(INTO_SCHEMA)]] = None

    def check(self) -> None:
        """Refuse other ledgers, and a release folder and a vault that contain each other.

        Symbolic links are followed: a copy of the releases must never include the secrets.
        """
        refuse_together((self._check_references, self._check_folders))

    def _check_references(self) -> None:
        if self.ledger is not None and not self.ledger.startswith(("postgresql://", "postgres://")):
            raise PlanError(
                "publish.ledger must start with postgresql://; "
                "leave it out to keep the ledger in the vault"
            )
        _ = self.target  # evaluated for its refusal
        if self.signing_key is not None and not is_reference(self.signing_key):
            raise PlanError(f"publish.signing_key must be {FORMS}: where the private key lies")

    def _check_folders(self) -> None:
        if is_remote(self.vault):
            raise PlanError(
                "publish.vault must be a local folder: it needs renames, locks and modes that "
                "object storage lacks; name a folder of this machine or of a shared file system. "
                "Only publish.path may be in object storage"
            )
        if is_remote(self.path):
            # A bucket contains no local folder: reports can only overlap with the vault.
            self._check_approval({"vault": Path(os.path.realpath(self.vault))})
            return
        path, vault = Path(os.path.realpath(self.path)), Path(os.path.realpath(self.vault))
        if path.is_relative_to(vault) or vault.is_relative_to(path):
            overlap = "are the same folder" if path == vault else "are nested"
            raise PlanError(
                f"publish.path and publish.vault {overlap}: a copy of one may include the "
                "other, and the vault holds secrets; name two separate folders"
            )
        self._check_approval({"path": path, "vault": vault})

    def _check_approval(self, places: Mapping[str, Path]) -> None:
        """Refuse keys about approvals where none is required, and terms that cannot be kept."""
        keys = (
            "approval_timeout", "approvers", "requester_may_approve", "reports", "approvals",
            "deputies", "approval_valid", "sign_in",
        )  # fmt: skip
        # Stated, even with its default: the author expects an approval that no run asks for.
        idle = [key for key in keys if self.approval == "none" and key in self.model_fields_set]
        refuse_all(f"publish.{key} belongs to approval = 'required'" for key in idle)
        refuse_together(
            (
                self._check_approvers,
                lambda: check_people(self.approvers, self.people, self.approvals),
                self._check_sign_in,
                lambda: self.longest_validity,
                partial(self._check_reports, places),
                lambda: self.time_to_approve,
            )
        )

    def _check_approvers(self) -> None:
        """Refuse names that no manifest could show, and what is no public key or is one twice.

        A table without a line is refused, too: it would let anybody approve.
        """
        if "approvers" in self.model_fields_set and not self.approvers:
            raise PlanError(
                "publish.approvers registers nobody; register a person, or leave it out: then "
                "whoever can write in the vault may approve"
            )
        for name, key in self.approvers.items():
            check_registered("publish.approvers", name, key)
        if len(set(self.approvers.values())) < len(self.approvers):
            raise PlanError(
                "publish.approvers: two persons have one key; nobody could tell who decided"
            )

    def _check_sign_in(self) -> None:
        """Refuse what is no public key, and a server beside rules that it cannot serve."""
        if self.sign_in is None:
            return
        if not is_public(self.sign_in):
            raise PlanError(
                "publish.sign_in must be the public key of the server, 'ed25519:...' as "
                "`crowdcover key new` prints it"
            )
        if self.approvers:
            raise PlanError(
                "publish.sign_in and publish.approvers exclude each other: registered people sign "
                "with keys of their own; leave one of them out"
            )
        if not self.requester_may_approve:
            raise PlanError(
                "publish.requester_may_approve = false cannot be kept with publish.sign_in: a run "
                "knows the account that asked, and not the login of that person; leave it out, or "
                "state publish.approvers in place of publish.sign_in"
            )

    def _check_reports(self, places: Mapping[str, Path]) -> None:
        """Refuse a folder for reports inside the vault or the releases, or around them."""
        if self.reports is None:
            return
        if is_remote(self.reports):
            raise PlanError(
                "publish.reports must be a local folder: people write signed decisions there, and "
                "its modes say who may; name a folder of this machine or of a shared file system"
            )
        reports = Path(os.path.realpath(self.reports))
        for key, other in places.items():
            if reports.is_relative_to(other) or other.is_relative_to(reports):
                raise PlanError(
                    f"publish.reports and publish.{key} are the same folder or nested: people "
                    "read reports who may read neither vault nor unpublished releases; name a "
                    "folder of its own"
                )

    def check_key(self) -> None:
        """Refuse a key for signatures that is not there, before any work."""
        if self.signing_key is not None:
            key_at(self.signing_key)

    @property
    def terms(self) -> Terms | None:
        """Who may approve, how long they have, what they read; None without approval."""
        if (given := self.time_to_approve) is None:
            return None
        reports = None if self.reports is None else Path(self.reports)
        return Terms(
            given,
            dict(self.approvers),
            self.requester_may_approve,
            reports,
            self.approvals,
            self.people,
            self.longest_validity,
            self.sign_in or "",
        )

    @property
    def people(self) -> dict[str, Deputy]:
        """The deputies, typed."""
        return list_deputies(self.deputies)

    @property
    def longest_validity(self) -> timedelta | None:
        """How old an approval may be; None: any age."""
        if self.approval_valid is None:
            return None
        if (valid := parse_duration(self.approval_valid)) is None:
            raise PlanError("publish.approval_valid must be like '30d', '36h' or '1d12h'")
        return valid

    @property
    def terms_rules(self) -> dict[str, Any]:
        """Who may approve, as requests state it; of a plan without approval, anyone."""
        return {} if self.terms is None else self.terms.rules

    @property
    def ledger_uri(self) -> str | None:
        """The address of the shared ledger, with the password that its credentials name."""
        return None if self.ledger is None else with_password(self.ledger, self.ledger_credentials)

    @property
    def target(self) -> Into | None:
        """The database that releases are loaded into, if there is one."""
        return None if self.into is None else Into.of(self.into)

    @property
    def time_to_approve(self) -> timedelta | None:
        """How long a person has to approve; None if the plan asks for no approval."""
        if self.approval == "none":
            return None
        if (given := parse_duration(self.approval_timeout)) is None:
            raise PlanError("publish.approval_timeout must be like '7d', '36h' or '1d12h'")
        return given
