"""Requests for a person's approval and their decisions, kept in the vault. No Prefect here.

    <vault>/runs/<run>/approval.json    all requests of the run and their decisions; the last counts
    <vault>/runs/<run>/approval.html    the report as it would be published

A request is about exact bytes: other bytes need a new request. A decision is never overwritten.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import Any

from anon_core.errors import AnonymityError, GuaranteeError
from crowdcover.storage.approval.request import (
    LONGEST_NAME,
    LONGEST_NOTE,
    Decision,
    DecisionError,
    Question,
    Request,
    Suspended,
    current_time,
    format_duration,
    format_record_time,
    one_line,
)
from crowdcover.storage.places.place import Place
from crowdcover.storage.shelf.content import read_document
from crowdcover.storage.shelf.layout import MANIFEST
from crowdcover.storage.vault.files import (
    UNREADABLE,
    file_sha256,
    holds_files,
    read_json,
    write_json,
)
from crowdcover.storage.vault.run import Run

__all__ = [
    "LONGEST_NAME",
    "LONGEST_NOTE",
    "PAGE",
    "RECORD",
    "Approval",
    "Decision",
    "DecisionError",
    "Question",
    "Request",
    "Suspended",
    "WaitingError",
    "build_approval_section",
    "count_approvals",
    "current_time",
    "format_duration",
    "format_record_time",
    "one_line",
    "page_sha256",
]

RECORD = "approval.json"
PAGE = "approval.html"


class WaitingError(AnonymityError):
    """The release waits for a person's approval; nothing is published before."""


class RejectedError(GuaranteeError):
    """A person rejected the release."""


@dataclass(frozen=True)
class Approval:
    """The requests of a run."""

    run: Run
    requests: tuple[Request, ...] = field(default=())

    @classmethod
    def of(cls, run: Run) -> "Approval":
        """Read the requests from the vault."""
        path = run.path / RECORD
        if not path.exists():
            return cls(run)
        try:
            return cls(run, tuple(_parse_request(entry) for entry in read_json(path)["requests"]))
        except UNREADABLE:
            raise GuaranteeError(
                f"the vault's {run.path.name}/{RECORD} cannot be read, so no approval counts; "
                "restore it, or remove it to ask again"
            ) from None

    @property
    def last(self) -> Request | None:
        """The request that counts, the last one."""
        return self.requests[-1] if self.requests else None

    def asks(self, question: Question) -> bool:
        """Whether the last request asks this question and has not ended."""
        last = self.last
        return last is not None and last.question.same(question) and not last.ended

    def ask(self, request: Request) -> Request:
        """Add a request; earlier ones stay.

        No two about one release are of one second: the time is signed, and tells which of them a
        decision answers.
        """
        about = request.question.sha256
        before = {each.asked for each in self.requests if each.question.sha256 == about}
        while request.asked in before:
            request = request.move_times(timedelta(seconds=1))
        _write_requests(self.run, (*self.requests, request))
        return request

    def amend(self, **changes: Any) -> Request:
        """Change the last request: its decision, its end, or its suspended flow run."""
        request = replace(self.requests[-1], **changes)
        _write_requests(self.run, (*self.requests[:-1], request))
        return request

    def decide(self, decision: Decision, *, needed: int = 1, in_time: bool = False) -> Request:
        """Decide the last request, once and in time; an approval of fewer than `needed` is kept.

        `in_time` skips the deadline: Prefect refuses late answers itself.
        """
        request = self.require_open(in_time=in_time)
        # The page may have been replaced since: the person must have seen the one that was hashed.
        if not holds_files(self.run.path, {PAGE: request.page}):
            raise GuaranteeError(
                f"{self.run.path / PAGE} is not the report of the request; run the release again"
            )
        if decision.approved and len(request.agreed) + 1 < needed:
            return self.amend(agreed=(*request.agreed, decision))
        return self.amend(decision=decision)

    def reopen(self) -> Request:
        """Ask the last question again, after a decision or a missed deadline."""
        last = self.last
        if last is None or (last.decision is None and not last.late):
            raise DecisionError(
                f"run {self.run.path.name} already waits for a decision; approve or reject it"
                if last
                else _describe_no_request(self.run)
            )
        again = Request.of(last.question, last.page, last.given, last.asked_by, last.rules)
        return self.ask(again)

    def require_open(self, *, in_time: bool = False) -> Request:
        """The last request; refused if it can no longer be decided."""
        last = self.last
        if last is None:
            raise DecisionError(_describe_no_request(self.run))
        if last.decision is not None:
            raise GuaranteeError(
                f"run {self.run.path.name} was {last.decision.sentence}; a decision cannot be "
                "changed; use crowdcover reopen to ask again"
            )
        if last.ended or (last.late and not in_time):
            raise GuaranteeError(
                f"{_describe_missed_deadline(last)}; run the release again, or crowdcover reopen, "
                "to ask again"
            )
        return last

    def require(self, needed: int = 1) -> Decision | None:
        """The approval that decided, or None while there is time to decide.

        A rejection is refused each time; a missed deadline only once, then the next run asks again.
        """
        self.refuse_rejected()
        last = self.requests[-1]
        if last.decision is None and len(last.agreed) >= needed:
            # The plan wants fewer people than when the request was made: those who agreed suffice.
            *before, decision = last.agreed
            return self.amend(agreed=tuple(before), decision=decision).decision
        if last.late:
            # Noted before the refusal: the next run finds an ended request and asks anew.
            self.amend(ended=True)
            raise GuaranteeError(
                f"publication refused: {_describe_missed_deadline(last)}; nothing was published. "
                "Run the release to ask again"
            )
        return last.decision

    def refuse_rejected(self) -> None:
        """Refuse a rejected run, whether or not the plan still asks for an approval."""
        last = self.last
        if last is not None and last.decision is not None and not last.decision.approved:
            raise RejectedError(
                f"publication refused: run {self.run.path.name} was {last.decision.sentence}; "
                "nothing was published. Change the plan, or use crowdcover reopen to ask again"
            )

    def find_objection(self, folder: Place) -> str:
        """Why a published folder does not count as approved; empty if it does."""
        manifest = read_document(folder / MANIFEST)
        stated = manifest.get("approval")
        if stated is None:
            return "its manifest names no person who approved it"
        # The section must equal one that the vault gives, key by key: no field of it is free.
        known = [
            request
            for request in self.requests
            if (decision := request.decision) is not None
            and decision.approved
            and stated == build_approval_section(decision, request.agreed)
        ]
        if not known:
            return "the vault has no such approval"
        if any(request.question.is_about(manifest, folder) for request in known):
            return ""
        return "the approval is for other files or numbers"


def build_approval_section(decision: Decision, agreed: Sequence[Decision] = ()) -> dict[str, Any]:
    """An approval as the manifest states it; `also` has those that were given before it."""
    record = {"required": True, **_build_decision_entry(decision)}
    if agreed:
        record["also"] = [_build_decision_entry(each) for each in agreed]
    return record


def _build_decision_entry(decision: Decision) -> dict[str, Any]:
    """An approval of one person; who asked only where a rule of the plan needs it."""
    record: dict[str, Any] = {"by": decision.by, "note": decision.note, "at": decision.at}
    # Absent keys stay absent: manifests of older releases must equal what is built here.
    if decision.authenticated:
        record |= {"identity": decision.identity or None, "authenticated": decision.authenticated}
    if decision.in_place_of:
        record["in_place_of"] = decision.in_place_of
    if decision.requested_by:
        record["requested_by"] = dict(decision.requested_by)
    if decision.signature:
        record |= {
            "question": decision.question,
            "asked": decision.asked,
            "statement": decision.statement,
            "key": decision.key,
            "signature": decision.signature,
        }
    return record


def count_approvals(request: Request) -> str:
    """How many people have approved, and who, of those whom the plan wanted when it asked."""
    needed = int((request.rules or {}).get("approvals", 1))
    names = ", ".join(each.by for each in request.approvals)
    return f"{len(request.approvals)} of {needed} approvals" + (f": {names}" if names else "")


def page_sha256(run: Run) -> str:
    """Hash of the report stored beside the request."""
    return file_sha256(run.path / PAGE)


def _describe_no_request(run: Run) -> str:
    return (
        f"run {run.path.name} has asked for no approval; "
        "run the release first, with [publish] approval = 'required'"
    )


def _describe_missed_deadline(request: Request) -> str:
    others = f" ({count_approvals(request)})" if request.agreed else ""
    who = "not enough people" if request.agreed else "nobody"
    return f"{who} approved within {format_duration(request.given)} of {request.asked}{others}"


def _parse_request(entry: Mapping[str, Any]) -> Request:
    kinds = {"question": Question, "decision": Decision, "suspended": Suspended}
    known = {
        key: kinds[key](**value) if key in kinds and value else value
        for key, value in entry.items()
    }
    # Records of older versions have none.
    known["agreed"] = tuple(Decision(**each) for each in entry.get("agreed", ()))
    return Request(**known)


def _write_requests(run: Run, requests: tuple[Request, ...]) -> None:
    write_json(run.path / RECORD, {"requests": [asdict(request) for request in requests]})
