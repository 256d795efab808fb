"""What a person signs about a release, and what a plan says of who may sign.

The statement names the question (a hash of files, numbers and folder), the files, who asked, the
decision, the person, the note and the time. It is signed as canonical JSON. A reader of a release
who has the plan's keys can check it against the manifest. Hash, statement and signature are
published: nothing in them depends on what only the vault knows.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdcover.storage.approval import identity
from crowdcover.storage.approval.request import (
    LONGEST_NAME,
    LONGEST_NOTE,
    Decision,
    DecisionError,
    Question,
    Request,
    one_line,
)
from crowdcover.storage.approval.signing_keys import public_of, sign_content

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

WHAT = "crowdcover decision 1"
LONGEST_SIGNED = 65_536  # characters of a signed decision
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
    approvals : int
        How many different people must approve.
    deputies : mapping of str to Deputy
        Who else may sign, in whose place.
    valid : timedelta, optional
        How old an approval may be when the release is published.
    sign_in : str
        Public key of the server that vouches for who answered Prefect's form; empty: nobody does.
    """

    given: timedelta
    approvers: Mapping[str, str] = field(default_factory=dict)
    requester_may_approve: bool = True
    reports: Path | None = None
    approvals: int = 1
    deputies: Mapping[str, "Deputy"] = field(default_factory=dict)
    valid: timedelta | None = None
    sign_in: str = ""

    @property
    def rules(self) -> dict[str, Any]:
        """Who may decide, as requests and copies state it."""
        younger = {
            "approvals": self.approvals if self.approvals > 1 else None,
            "deputies": {name: asdict(each) for name, each in self.deputies.items()},
            "valid": None if self.valid is None else self.valid.total_seconds(),
            "sign_in": self.sign_in,
        }
        return {
            "approvers": dict(self.approvers),
            "requester_may_approve": self.requester_may_approve,
            # Left out where the plan does not state them: older requests stay as they are.
            **{key: value for key, value in younger.items() if value},
        }


@dataclass(frozen=True)
class Deputy:
    """A person who may sign in the place of another one, with a key of their own."""

    place_of: str
    key: str


@dataclass(frozen=True)
class Rules:
    """Who may decide."""

    approvers: Mapping[str, str]
    requester_may_approve: bool
    approvals: int = 1
    deputies: Mapping[str, Deputy] = field(default_factory=dict)
    valid: timedelta | None = None
    sign_in: str = ""

    @classmethod
    def of(cls, stated: Mapping[str, Any] | None) -> "Rules":
        """As a request states them; requests of older versions state none."""
        known = stated or {}
        seconds = known.get("valid")
        return cls(
            dict(known.get("approvers", {})),
            bool(known.get("requester_may_approve", True)),
            int(known.get("approvals", 1)),
            {name: Deputy(**each) for name, each in known.get("deputies", {}).items()},
            None if seconds is None else timedelta(seconds=seconds),
            str(known.get("sign_in", "")),
        )

    @property
    def need_no_requester(self) -> bool:
        """Whether no rule is about who asked."""
        return not self.approvers and self.requester_may_approve

    @property
    def ask_nothing(self) -> bool:
        """Whether one person may decide alone, whoever can write in the vault."""
        return self.need_no_requester and self.approvals == 1

    @property
    def keys(self) -> dict[str, str]:
        """Everybody who may sign, deputies too, with their public keys."""
        return {**self.approvers, **{name: each.key for name, each in self.deputies.items()}}

    def find_place(self, name: str) -> str:
        """In whose place a person signs; empty if in their own."""
        return self.deputies[name].place_of if name in self.deputies else ""

    def find_signer(self, key: str) -> str | None:
        """Whose key this is."""
        return next((name for name, known in self.keys.items() if known == key), None)


def build_decision_statement(question: Question, decision: Decision) -> dict[str, Any]:
    """What is signed."""
    place = {"in_place_of": decision.in_place_of} if decision.in_place_of else {}
    return {
        **place,
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


def format_canonical_json(statement: Mapping[str, Any]) -> bytes:
    """The bytes that are signed: JSON with sorted keys, without blanks, in ASCII."""
    return json.dumps(statement, sort_keys=True, separators=(",", ":")).encode("ascii")


def attach_signature(
    request: Request, decision: Decision, key: "Ed25519PrivateKey", rules: Rules
) -> Decision:
    """The decision about a request with the identity of the key's owner and the signature.

    Refused: a key that the plan does not register.
    """
    public = public_of(key)
    name = rules.find_signer(public)
    if name is None:
        raise DecisionError(
            "publish.approvers of the plan does not register this key; add the line that "
            "`crowdcover key show` prints, then run the release again"
        )
    # The identity is the plan's name for the key; `by` is what the person typed.
    made = replace(
        decision,
        by=decision.by or name,
        identity=name,
        in_place_of=rules.find_place(name),
        authenticated=identity.SIGNATURE,
        requested_by=dict(request.asked_by),
        question=request.question.sha256,
        asked=request.asked,
        key=public,
    )
    content = format_canonical_json(build_decision_statement(request.question, made))
    return replace(made, statement=hash_statement(content), signature=sign_content(key, content))


def to_file(question: Question, decision: Decision) -> bytes:
    """A signed decision as a file, for who has no access to the vault."""
    statement = {
        "statement": build_decision_statement(question, decision),
        "key": decision.key,
        "signature": decision.signature,
    }
    return (json.dumps(statement, indent=2, ensure_ascii=True) + "\n").encode("ascii")


def from_file(text: str, request: Request, account: str = "") -> Decision:
    """The decision that a signed text states about this request; it is not verified here.

    Refused: another question, and what is no signed decision.
    """
    try:
        # The length is looked at first: other accounts can write this text.
        document: Any = json.loads(text) if len(text) <= LONGEST_SIGNED else None
        statement, key, signature = document["statement"], document["key"], document["signature"]
        approved = DECISIONS[statement["decision"]]
        decision = Decision(
            approved,
            one_line("the name", statement["by"], 1, LONGEST_NAME),
            one_line("the note", statement["note"], 0, LONGEST_NOTE),
            datetime.fromisoformat(statement["at"]).isoformat(timespec="seconds"),
            identity=one_line("the identity", statement["identity"], 1, LONGEST_NAME),
            in_place_of=one_line("the name", statement.get("in_place_of", ""), 0, LONGEST_NAME),
            authenticated=identity.SIGNATURE,
            # From the request, not from the text: a text that differs is refused below.
            requested_by=dict(request.asked_by),
            account=account,
            question=request.question.sha256,
            asked=request.asked,
            key=str(key),
            signature=str(signature),
        )
        aware = datetime.fromisoformat(decision.at).tzinfo is not None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        aware, statement, decision = False, {}, None
    if decision is None or not aware:
        raise DecisionError(
            "the text is no signed decision; give the file that `crowdcover sign` wrote"
        )
    content = build_decision_statement(request.question, decision)
    if statement != content:
        raise DecisionError(
            "the signed decision is about another release or another request; sign the report of "
            "this one"
        )
    return replace(decision, statement=hash_statement(format_canonical_json(content)))


def hash_statement(content: bytes) -> str:
    """Hash of what is signed."""
    return hashlib.sha256(content).hexdigest()
