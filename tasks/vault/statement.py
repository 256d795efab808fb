"""What a person signs about a release, and whether a decision counts under the plan's terms.

The statement names the question (a hash of files, numbers, verdict and folder), the files, who
asked, the decision, the person, the note and the time. It is signed as canonical JSON. A reader of
a release who has the plan's keys can check it against the manifest.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_core.errors import GuaranteeError
from tasks.places.place import Place
from tasks.shelf.content import read_document
from tasks.shelf.layout import MANIFEST
from tasks.vault import identity
from tasks.vault.approval import (
    LONGEST_NAME,
    LONGEST_NOTE,
    Approval,
    Decision,
    DecisionError,
    Question,
    Request,
    one_line,
)
from tasks.vault.signing import public_of, sign, verifies
from tasks.vault.storage import Run

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

WHAT = "crowdcover decision 1"
LONGEST_SIGNED = 65_536  # characters of a signed decision
STATED = (
    "by", "note", "at", "identity", "authenticated", "question", "asked", "statement", "key",
    "signature",
)  # fmt: skip
DECISIONS = {"approve": True, "reject": False}


@dataclass(frozen=True)
class Terms:
    """What [publish] of a plan says about approvals.

    Attributes
    ----------
    given : timedelta
        How long a person has.
    approvers : mapping of str to str
        Who may decide, with the public key that verifies their signature. Empty: whoever can write
        in the vault.
    requester_may_approve : bool
    reports : Path, optional
        Folder of the copies that people read who have no access to the vault.
    """

    given: timedelta
    approvers: Mapping[str, str] = field(default_factory=dict)
    requester_may_approve: bool = True
    reports: Path | None = None

    @property
    def rules(self) -> dict[str, Any]:
        """Who may decide, as requests and copies state it."""
        return {
            "approvers": dict(self.approvers),
            "requester_may_approve": self.requester_may_approve,
        }


@dataclass(frozen=True)
class Rules:
    """Who may decide."""

    approvers: Mapping[str, str]
    requester_may_approve: bool

    @classmethod
    def of(cls, stated: Mapping[str, Any] | None) -> "Rules":
        """As a request states them; requests of older versions state none."""
        known = stated or {}
        return cls(dict(known.get("approvers", {})), bool(known.get("requester_may_approve", True)))

    @property
    def ask_nothing(self) -> bool:
        """Whether anyone may decide who can write in the vault."""
        return not self.approvers and self.requester_may_approve

    def registered(self, key: str) -> str | None:
        """Whose key this is."""
        return next((name for name, known in self.approvers.items() if known == key), None)


def statement(question: Question, decision: Decision) -> dict[str, Any]:
    """What is signed."""
    return {
        "what": WHAT,
        "release": question.manifest.get("name"),
        "question": question.sha256,
        "files": dict(question.files),
        "asked": decision.asked,
        "requested_by": dict(decision.requested_by),
        "decision": "approve" if decision.approved else "reject",
        "identity": decision.identity,
        "by": decision.by,
        "note": decision.note,
        "at": decision.at,
    }


def canonical(told: Mapping[str, Any]) -> bytes:
    """The bytes that are signed: JSON with sorted keys, without blanks, in ASCII."""
    return json.dumps(told, sort_keys=True, separators=(",", ":")).encode("ascii")


def signed(
    request: Request, decision: Decision, key: "Ed25519PrivateKey", rules: Rules
) -> Decision:
    """The decision about a request with the identity of the key's owner and the signature.

    Refused: a key that the plan does not register.
    """
    public = public_of(key)
    name = rules.registered(public)
    if name is None:
        raise DecisionError(
            "publish.approvers of the plan does not register this key; add the line that "
            "`crowdcover key show` prints, then run the release again"
        )
    made = replace(
        decision,
        by=decision.by or name,
        identity=name,
        authenticated=identity.SIGNATURE,
        requested_by=dict(request.asked_by),
        question=request.question.sha256,
        asked=request.asked,
        key=public,
    )
    content = canonical(statement(request.question, made))
    return replace(made, statement=_sha256(content), signature=sign(key, content))


def objection(
    question: Question, decision: Decision, asked_by: Mapping[str, str], rules: Rules
) -> str:
    """Why a decision does not count; empty if it does."""
    if rules.approvers and (reason := unsigned(question, decision, rules)):
        return reason
    if rules.requester_may_approve or not decision.approved:
        return ""
    if decision.authenticated == identity.NOBODY or not decision.identity:
        return (
            "nobody authenticated who decided, and publish.requester_may_approve = false needs "
            "to know"
        )
    if not asked_by:
        return "it is not recorded who asked; use crowdcover reopen to ask again"
    if identity.among(decision.identity, asked_by.values()) or (
        decision.account and decision.account in asked_by.values()
    ):
        return (
            "the person who asked for the release decided about it, and "
            "publish.requester_may_approve = false wants another one"
        )
    return ""


def unsigned(question: Question, decision: Decision, rules: Rules) -> str:
    """Why a decision does not count as signed by a registered approver; empty if it does."""
    if not decision.signature:
        return "it is not signed, and publish.approvers requires a signature"
    known = rules.approvers.get(decision.identity)
    if known is None:
        return "it names a person whom publish.approvers does not register"
    if known != decision.key:
        return "it is signed with another key than publish.approvers registers for that person"
    content = canonical(statement(question, decision))
    if decision.statement != _sha256(content) or not verifies(known, decision.signature, content):
        return (
            "the signature is not of this decision about this release: name, note, time, files, "
            "numbers or who asked differ"
        )
    return ""


# ---------------------------------------------------------------- as a file


def to_file(question: Question, decision: Decision) -> bytes:
    """A signed decision as a file, for who has no access to the vault."""
    told = {
        "statement": statement(question, decision),
        "key": decision.key,
        "signature": decision.signature,
    }
    return (json.dumps(told, indent=2, ensure_ascii=True) + "\n").encode("ascii")


def from_file(text: str, request: Request, account: str = "") -> Decision:
    """The decision that a signed text states about this request; it is not verified here.

    Refused: another question, and what is no signed decision.
    """
    try:
        document: Any = json.loads(text) if len(text) <= LONGEST_SIGNED else None
        told, key, signature = document["statement"], document["key"], document["signature"]
        approved = DECISIONS[told["decision"]]
        decision = Decision(
            approved,
            one_line("the name", told["by"], 1, LONGEST_NAME),
            one_line("the note", told["note"], 0, LONGEST_NOTE),
            datetime.fromisoformat(told["at"]).isoformat(timespec="seconds"),
            identity=one_line("the identity", told["identity"], 1, LONGEST_NAME),
            authenticated=identity.SIGNATURE,
            requested_by=dict(request.asked_by),
            account=account,
            question=request.question.sha256,
            asked=request.asked,
            key=str(key),
            signature=str(signature),
        )
        aware = datetime.fromisoformat(decision.at).tzinfo is not None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        aware, told, decision = False, {}, None
    if decision is None or not aware:
        raise DecisionError(
            "the text is no signed decision; give the file that `crowdcover sign` wrote"
        )
    content = statement(request.question, decision)
    if told != content:
        raise DecisionError(
            "the signed decision is about another release or another request; sign the report of "
            "this one"
        )
    return replace(decision, statement=_sha256(canonical(content)))


# ---------------------------------------------------------------- a published folder


def unapproved(run: Run, folder: Place, rules: Rules) -> str:
    """Why a published folder does not count as approved under these rules; empty if it does."""
    return Approval.of(run).unapproved(folder) or unverified(run, folder, rules)


def unverified(run: Run, folder: Place, rules: Rules) -> str:
    """Why the approval that a manifest states does not count; empty if it does.

    The manifest's own words are checked, against the question that the vault holds about these
    files: who changes both manifest and vault has no signature for it.
    """
    if rules.ask_nothing:
        return ""
    manifest = read_document(folder / MANIFEST)
    stated = manifest.get("approval")
    if not isinstance(stated, Mapping):
        return "the manifest names no person who approved it"
    about = [
        request
        for request in Approval.of(run).requests
        if request.question.is_about(manifest, folder)
    ]
    if not about:
        return "the vault holds no request about these files and numbers"
    reasons = [
        objection(request.question, _stated(stated, request), request.asked_by, rules)
        for request in about
    ]
    return "" if "" in reasons else reasons[-1]


def _stated(stated: Mapping[str, Any], request: Request) -> Decision:
    """The approval as a manifest states it."""
    texts = {name: str(stated.get(name) or "") for name in STATED}
    asked_by = stated.get("requested_by", {})
    known = request.decision
    return Decision(
        approved=True,
        **texts,
        requested_by=dict(asked_by) if isinstance(asked_by, Mapping) else {},
        account="" if known is None else known.account,
    )


def require_approved(run: Run, folder: Place, rules: Rules) -> None:
    """Refuse an earlier published folder that nobody approved, or nobody who may."""
    if reason := unapproved(run, folder, rules):
        raise GuaranteeError(
            f"{folder.name} was published before and stays as it is; {reason}, "
            "and publish.approval = 'required' requires an approval. "
            "Set it to 'none' to keep the release as it is, or remove the folder and run again"
        )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
