"""Whether a decision counts: under the rules of a plan, and for a release that was published."""

from collections.abc import Mapping, Sequence
from typing import Any

from anon_core.errors import GuaranteeError
from crowdcover.storage.approval import identity
from crowdcover.storage.approval.approval import Approval
from crowdcover.storage.approval.request import (
    Decision,
    Question,
    Request,
    format_duration,
)
from crowdcover.storage.approval.signing_keys import is_valid_signature
from crowdcover.storage.approval.statement import (
    Rules,
    build_decision_statement,
    format_canonical_json,
    hash_statement,
)
from crowdcover.storage.places.place import Place
from crowdcover.storage.shelf.content import read_document
from crowdcover.storage.shelf.layout import MANIFEST
from crowdcover.storage.vault.run import Run

_STATED = (
    "by", "note", "at", "identity", "authenticated", "question", "asked", "statement", "key",
    "signature", "in_place_of",
)  # fmt: skip


def find_decision_objection(
    question: Question,
    decision: Decision,
    asked_by: Mapping[str, str],
    rules: Rules,
    earlier: Sequence[Decision] = (),
) -> str:
    """Why a decision does not count; empty if it does.

    `earlier` are the approvals before it: each of a plan that wants several is of another person.
    """
    if rules.approvers:
        reason = find_signature_objection(question, decision, rules)
        # The signature covers `requested_by`, which must also be the person of this very request.
        if not reason and dict(decision.requested_by) != dict(asked_by):
            reason = "it was signed for another request: it names others who asked"
    # A signature that nobody can verify must not pass as an unsigned decision.
    elif decision.signature or decision.authenticated == identity.SIGNATURE:
        reason = "publish.approvers registers nobody, so no signature can be verified"
    else:
        reason = _find_sign_in_objection(decision, rules)
    # A person may reject a release that the same person asked for: that publishes nothing.
    if reason or not decision.approved:
        return reason
    if rules.approvals > 1 and not _is_authenticated(decision):
        return (
            f"nobody authenticated who decided, and publish.approvals = {rules.approvals} needs to "
            "know; decide in a terminal, or state publish.approvers or publish.sign_in"
        )
    # An account of a machine and a login may be of one person under two names.
    if rules.approvals > 1 and rules.sign_in and decision.authenticated != identity.PROXY:
        return (
            f"an account of the machine vouches for it, and publish.approvals = {rules.approvals} "
            "counts only people whom publish.sign_in vouches for: one person may have both; "
            "approve in Prefect's form"
        )
    if any(is_of_same_person(decision, each) for each in earlier):
        return (
            "this person approved already, by name, account or key, and publish.approvals = "
            f"{rules.approvals} wants another one"
        )
    return "" if rules.requester_may_approve else _of_one_person(decision, asked_by)


def is_of_same_person(one: Decision, other: Decision) -> bool:
    """Whether two decisions may be of one person: by a name that is typed or known, or by key.

    A deputy counts as the person in whose place the deputy decides, too. So do two signed files of
    one account: whoever holds two keys has signed both.
    """
    if (one.key and one.key == other.key) or (one.account and one.account == other.account):
        return True
    names = [
        {name for name in (each.by, each.identity, each.in_place_of) if name}
        for each in (one, other)
    ]
    return any(identity.is_among_persons(name, names[1]) for name in names[0])


def require_several(request: Request, rules: Rules) -> None:
    """Refuse approvals of fewer people than the plan wants, and such as are too old."""
    approvals = request.approvals
    if request.decision is not None and len(approvals) < rules.approvals:
        raise GuaranteeError(
            f"publication refused: {len(approvals)} of {rules.approvals} people approved, since "
            "publish.approvals was smaller then; nothing was published. Use crowdcover reopen to "
            "ask again"
        )
    for each in approvals:
        if rules.valid is not None and each.age > rules.valid:
            raise ExpiredError(
                f"publication refused: the approval by {each.by} of {each.at} is older than "
                f"publish.approval_valid = '{format_duration(rules.valid)}'; nothing was "
                "published. Run the release to ask again"
            )


class ExpiredError(GuaranteeError):
    """An approval is older than the plan allows."""


def _find_sign_in_objection(decision: Decision, rules: Rules) -> str:
    """Why a decision of a plan without approvers lacks who vouches for it; empty if it does not."""
    if rules.sign_in and decision.authenticated == identity.NOBODY:
        return "no server vouches for the person, and publish.sign_in names one that does"
    if not rules.sign_in and decision.authenticated == identity.PROXY:
        return "publish.sign_in names no server, so no sign-in can be verified"
    return ""


def _is_authenticated(decision: Decision) -> bool:
    """Whether anybody vouches for who decided."""
    return decision.authenticated != identity.NOBODY and bool(decision.identity)


def _of_one_person(decision: Decision, asked_by: Mapping[str, str]) -> str:
    """Why an approval may be by the person who asked; empty if it is by another one."""
    if not _is_authenticated(decision):
        return (
            "nobody authenticated who decided, and publish.requester_may_approve = false needs "
            "to know"
        )
    # Unknown is refused: the person who decided may be the one who asked.
    if not asked_by:
        return "it is not recorded who asked; use crowdcover reopen to ask again"
    # A deputy has the rights of the person in whose place the deputy decides, and no more.
    names = (decision.identity, decision.in_place_of)
    if any(identity.is_among_persons(name, asked_by.values()) for name in names) or (
        decision.account and decision.account in asked_by.values()
    ):
        return (
            "the person who asked for the release decided about it, and "
            "publish.requester_may_approve = false wants another one"
        )
    return ""


def find_signature_objection(question: Question, decision: Decision, rules: Rules) -> str:
    """Why a decision does not count as signed by a registered approver; empty if it does."""
    if not decision.signature:
        return "it is not signed, and publish.approvers requires a signature"
    known = rules.keys.get(decision.identity)
    if known is None:
        return "it names a person whom publish.approvers does not register"
    if decision.in_place_of != rules.find_place(decision.identity):
        return "it is signed in another place than publish.deputies says of that person"
    if known != decision.key:
        return "it is signed with another key than publish.approvers registers for that person"
    # Rebuilt from the question that this side holds, never taken from the signed text.
    content = format_canonical_json(build_decision_statement(question, decision))
    if decision.statement != hash_statement(content) or not is_valid_signature(
        known, decision.signature, content
    ):
        return (
            "the signature is not of this decision about this release: name, note, time, files, "
            "numbers or who asked differ"
        )
    return ""


def find_release_objection(run: Run, folder: Place, rules: Rules) -> str:
    """Why a published folder does not count as approved under these rules; empty if it does."""
    return Approval.of(run).find_objection(folder) or find_manifest_objection(run, folder, rules)


def find_manifest_objection(run: Run, folder: Place, rules: Rules) -> str:
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
    # There may be several: `reopen` asks the same question at another time.
    about = [
        request
        for request in Approval.of(run).requests
        if request.question.is_about(manifest, folder)
    ]
    if not about:
        return "the vault holds no request about these files and numbers"
    also = stated.get("also", [])
    entries = [*(also if isinstance(also, list) else []), stated]
    if not all(isinstance(each, Mapping) for each in entries):
        return "its approvals are not in the form in which releases state them"
    reasons = [_find_objection_to_any(entries, request, rules) for request in about]
    return "" if "" in reasons else reasons[-1]


def _find_objection_to_any(
    stated: Sequence[Mapping[str, Any]], request: Request, rules: Rules
) -> str:
    """Why the approvals that a manifest states do not count, as answers to this request."""
    if len(stated) < rules.approvals:
        return (
            f"the manifest names {len(stated)} of the {rules.approvals} people whom "
            "publish.approvals wants"
        )
    made = [_parse_approval_section(each, request) for each in stated]
    reasons = (
        find_decision_objection(request.question, each, request.asked_by, rules, made[:place])
        for place, each in enumerate(made)
    )
    return next(filter(None, reasons), "")


def _parse_approval_section(stated: Mapping[str, Any], request: Request) -> Decision:
    """The approval as a manifest states it."""
    texts = {name: str(stated.get(name) or "") for name in _STATED}
    asked_by = stated.get("requested_by", {})
    # Two people may have decided in one second.
    stated_by = (texts["at"], texts["identity"])
    known = next(
        (each for each in request.approvals if (each.at, each.identity) == stated_by),
        request.decision,
    )
    return Decision(
        # Only approvals are published; the signature of a rejection does not verify with this.
        approved=True,
        **texts,
        requested_by=dict(asked_by) if isinstance(asked_by, Mapping) else {},
        # The manifest does not state the account; only the request in the vault has it.
        account="" if known is None else known.account,
    )


def require_approved(run: Run, folder: Place, rules: Rules) -> None:
    """Refuse an earlier published folder that nobody approved, or nobody who may."""
    if reason := find_release_objection(run, folder, rules):
        raise GuaranteeError(
            f"{folder.name} was published before and stays as it is; {reason}, "
            "and publish.approval = 'required' requires an approval. "
            "Set it to 'none' to keep the release as it is, or remove the folder and run again"
        )
