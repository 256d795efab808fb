"""Requests for a person's approval and their decisions, kept in the vault. No Prefect here.

    <vault>/runs/<run>/approval.json    all requests of the run and their decisions; the last counts
    <vault>/runs/<run>/approval.html    the report as it would be published

A request is about exact bytes: other bytes need a new request. A decision is never overwritten.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from anon_core.errors import AnonymityError, GuaranteeError
from tasks.vault.layout import MANIFEST
from tasks.vault.storage import Run, file_sha256, holds_files, read_json, write_json

RECORD = "approval.json"
PAGE = "approval.html"
# Sections of a manifest that depend on when it was written.
OF_THE_MOMENT = ("version", "created", "timings", "peak_memory_bytes", "approval")
LONGEST_NAME = 100
LONGEST_NOTE = 500
UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


class WaitingError(AnonymityError):
    """The release waits for a person's approval; nothing is published before."""


class DecisionError(AnonymityError):
    """There is nothing to decide, or the name or note cannot be kept."""


@dataclass(frozen=True)
class Decision:
    """A decision, with the name and the note of the person.

    `identity` is who decided according to the system that authenticated it, `authenticated` which
    system that was; see tasks/vault/identity.py. `account` owns the file of a signed decision. Key
    and signature are those of a signed decision about `question`. Decisions of older versions have
    none of these.
    """

    approved: bool
    by: str
    note: str
    at: str
    identity: str = ""
    authenticated: str = ""
    account: str = ""
    requested_by: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    asked: str = ""  # when the request was made that was signed
    statement: str = ""  # SHA-256 of what was signed
    key: str = ""
    signature: str = ""

    @classmethod
    def of(
        cls, *, approved: bool, by: str, note: str, identity: str = "", authenticated: str = ""
    ) -> "Decision":
        """Decide now; refuse a name or note that is not one line of printable text."""
        return cls(
            approved,
            one_line("the name", by, 1, LONGEST_NAME),
            one_line("the note", note, 0, LONGEST_NOTE),
            moment(now()),
            identity,
            authenticated,
        )

    @property
    def sentence(self) -> str:
        """The decision as logs and refusals state it."""
        return f"{'approved' if self.approved else 'rejected'} by {self.by} at {self.at}" + (
            f": {self.note}" if self.note else ""
        )


@dataclass(frozen=True)
class Suspended:
    """The suspended flow run that waits for the decision, and the key of its form."""

    flow_run: str
    key: str


@dataclass(frozen=True)
class Question:
    """The release that a person is asked to approve; its manifest lacks approval and files."""

    files: Mapping[str, str]
    folder: str
    verdict: str
    manifest: Mapping[str, Any]

    @property
    def sha256(self) -> str:
        """Hash of everything that the decision covers."""
        lasting = {
            name: value for name, value in self.manifest.items() if name not in OF_THE_MOMENT
        }
        about = {
            "files": dict(self.files),
            "folder": self.folder,
            "verdict": self.verdict,
            "manifest": lasting,
        }
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()

    def is_about(self, manifest: Mapping[str, Any], folder: Path) -> bool:
        """Whether a published folder is the release of this question."""
        lasting = [name for name in self.manifest if name not in OF_THE_MOMENT]
        return all(manifest.get(name) == self.manifest[name] for name in lasting) and holds_files(
            folder, self.files
        )


@dataclass(frozen=True)
class Request:
    """A question with its deadline and, later, its decision."""

    question: Question
    asked: str
    until: str
    page: str
    decision: Decision | None = None
    suspended: Suspended | None = None
    ended: bool = False  # nobody decided in time, and a run reported that
    asked_by: Mapping[str, str] = field(default_factory=dict)  # by the system that knows it
    rules: Mapping[str, Any] | None = None  # who may decide, as the plan said when it asked
    copy: str = ""  # the folder that people read who have no access to the vault

    @classmethod
    def of(
        cls,
        question: Question,
        page: str,
        given: timedelta,
        asked_by: Mapping[str, str] | None = None,
        rules: Mapping[str, Any] | None = None,
    ) -> "Request":
        """Ask now."""
        start = now()
        until = moment(start + given)
        return cls(question, moment(start), until, page, asked_by=asked_by or {}, rules=rules)

    @property
    def asker(self) -> str:
        """Who ran the release, by each system that knows it."""
        return ", ".join(f"{name} ({system})" for system, name in self.asked_by.items())

    @property
    def late(self) -> bool:
        """Whether the deadline passed without a decision."""
        return self.decision is None and now() >= datetime.fromisoformat(self.until)

    @property
    def given(self) -> timedelta:
        """Time between the question and its deadline."""
        return datetime.fromisoformat(self.until) - datetime.fromisoformat(self.asked)


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
            return cls(run, tuple(_request(entry) for entry in read_json(path)["requests"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
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
        return last is not None and last.question.sha256 == question.sha256 and not last.ended

    def ask(self, request: Request) -> Request:
        """Add a request; earlier ones stay."""
        _write(self.run, (*self.requests, request))
        return request

    def amend(self, **changes: Any) -> Request:
        """Change the last request: its decision, its end, or its suspended flow run."""
        request = replace(self.requests[-1], **changes)
        _write(self.run, (*self.requests[:-1], request))
        return request

    def decide(self, decision: Decision, *, in_time: bool = False) -> Request:
        """Decide the last request, once and in time.

        `in_time` skips the deadline: Prefect refuses late answers itself.
        """
        request = self.require_open(in_time=in_time)
        if not holds_files(self.run.path, {PAGE: request.page}):
            raise GuaranteeError(
                f"{self.run.path / PAGE} is not the report of the request; run the release again"
            )
        return self.amend(decision=decision)

    def reopen(self) -> Request:
        """Ask the last question again, after a decision or a missed deadline."""
        last = self.last
        if last is None or (last.decision is None and not last.late):
            raise DecisionError(
                f"run {self.run.path.name} already waits for a decision; approve or reject it"
                if last
                else _never(self.run)
            )
        again = Request.of(last.question, last.page, last.given, last.asked_by, last.rules)
        return self.ask(again)

    def require_open(self, *, in_time: bool = False) -> Request:
        """The last request; refused if it can no longer be decided."""
        last = self.last
        if last is None:
            raise DecisionError(_never(self.run))
        if last.decision is not None:
            raise GuaranteeError(
                f"run {self.run.path.name} was {last.decision.sentence}; a decision cannot be "
                "changed; use crowdcover reopen to ask again"
            )
        if last.ended or (last.late and not in_time):
            raise GuaranteeError(
                f"{_unanswered(last)}; run the release again, or crowdcover reopen, to ask again"
            )
        return last

    def require(self) -> Decision | None:
        """The approval, or None while there is time to decide.

        A rejection is refused each time; a missed deadline only once, then the next run asks again.
        """
        self.refuse_rejected()
        last = self.requests[-1]
        if last.late:
            self.amend(ended=True)
            raise GuaranteeError(
                f"publication refused: {_unanswered(last)}; nothing was published. "
                "Run the release to ask again"
            )
        return last.decision

    def refuse_rejected(self) -> None:
        """Refuse a rejected run, whether or not the plan still asks for an approval."""
        last = self.last
        if last is not None and last.decision is not None and not last.decision.approved:
            raise GuaranteeError(
                f"publication refused: run {self.run.path.name} was {last.decision.sentence}; "
                "nothing was published. Change the plan, or use crowdcover reopen to ask again"
            )

    def unapproved(self, folder: Path) -> str:
        """Why a published folder does not count as approved; empty if it does."""
        manifest = read_json(folder / MANIFEST)
        stated = manifest.get("approval")
        if stated is None:
            return "its manifest names no person who approved it"
        known = [
            request
            for request in self.requests
            if (decision := request.decision) is not None
            and decision.approved
            and stated == stating(decision)
        ]
        if not known:
            return "the vault has no such approval"
        if any(request.question.is_about(manifest, folder) for request in known):
            return ""
        return "the approval is for other files or numbers"


def stating(decision: Decision) -> dict[str, Any]:
    """An approval as the manifest states it; who asked only where a rule of the plan needs it."""
    told: dict[str, Any] = {
        "required": True,
        "by": decision.by,
        "note": decision.note,
        "at": decision.at,
    }
    if decision.authenticated:
        told |= {"identity": decision.identity or None, "authenticated": decision.authenticated}
    if decision.requested_by:
        told["requested_by"] = dict(decision.requested_by)
    if decision.signature:
        told |= {
            "question": decision.question,
            "asked": decision.asked,
            "statement": decision.statement,
            "key": decision.key,
            "signature": decision.signature,
        }
    return told


def page_sha256(run: Run) -> str:
    """Hash of the report stored beside the request."""
    return file_sha256(run.path / PAGE)


def now() -> datetime:
    """The time, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def worded(given: timedelta) -> str:
    """A duration as plans write it: 7d, 1d12h."""
    seconds, text = int(given.total_seconds()), ""
    for unit, length in UNITS:
        count, seconds = divmod(seconds, length)
        text += f"{count}{unit}" if count else ""
    return text


def one_line(what: str, text: str, least: int, most: int) -> str:
    """Strip a text; refuse all but one line of `least` to `most` printable characters."""
    line = text.strip()
    if not least <= len(line) <= most or not line.isprintable():
        raise DecisionError(f"{what} must be one line of {least} to {most} printable characters")
    return line


def moment(at: datetime) -> str:
    """A time as records state it."""
    return at.isoformat(timespec="seconds")


def _never(run: Run) -> str:
    return (
        f"run {run.path.name} has asked for no approval; "
        "run the release first, with [publish] approval = 'required'"
    )


def _unanswered(request: Request) -> str:
    return f"nobody approved within {worded(request.given)} of {request.asked}"


def _request(entry: Mapping[str, Any]) -> Request:
    kinds = {"question": Question, "decision": Decision, "suspended": Suspended}
    return Request(
        **{
            key: kinds[key](**value) if key in kinds and value else value
            for key, value in entry.items()
        }
    )


def _write(run: Run, requests: tuple[Request, ...]) -> None:
    write_json(run.path / RECORD, {"requests": [asdict(request) for request in requests]})
