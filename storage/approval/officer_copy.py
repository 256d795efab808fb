"""The officer's copy of a report that waits for approval, outside of vault and releases.

    <publish.reports>/<name>/<run>-<question>/
        report.html      the report as it would be published
        numbers.json     the manifest as it would be published, without approval and files
        request.json     what there is to sign: hashes, who asked, until when, who may decide
        decisions/       where people put signed decisions
        outcome.json     once it is decided or asked anew

It shows what would be published, and nothing else of the vault. Modes: see `folder_modes`.
"""

import contextlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from anon_core.errors import AnonymityError
from crowdcover.storage.approval import identity
from crowdcover.storage.approval.approval import (
    PAGE,
    Approval,
    Decision,
    DecisionError,
    Question,
    Request,
)
from crowdcover.storage.approval.decision_rules import find_decision_objection
from crowdcover.storage.approval.statement import LONGEST_SIGNED, Rules, from_file
from crowdcover.storage.vault.files import UNREADABLE, file_sha256, read_json, read_private
from crowdcover.storage.vault.folder_modes import Modes, is_own
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.run import Run

REPORT, _NUMBERS, REQUEST = "report.html", "numbers.json", "request.json"
DECISIONS, OUTCOME = "decisions", "outcome.json"
# How far the clock of a signer may be ahead of the one of this machine.
_AHEAD = timedelta(minutes=5)


def locate_copy(reports: Path, run: Run, question: Question) -> Path:
    """The folder of the copy about this question."""
    name = str(question.manifest.get("name", "release"))
    return reports / name / f"{run.path.name}-{question.sha256[:12]}"


def write_copy(reports: Path, run: Run, request: Request) -> Path:
    """Write the copy of a request; one that stands is left as it is. Earlier ones are closed."""
    folder = locate_copy(reports, run, request.question)
    asked = _build_request_document(run, request)
    try:
        modes = Modes.of(reports)
        # A copy that stands is left: officers may be reading it, or have signed into it.
        if is_own(folder.parent) and _read_complete_copy(folder) == asked:
            return folder
        for path in (folder.parent, folder, folder / DECISIONS):
            modes.folder(path, shared=path.name == DECISIONS and path.parent == folder)
        _close_others(folder, run, modes)
        # An earlier request about the same bytes had a folder of the same name.
        (folder / OUTCOME).unlink(missing_ok=True)
        for old in (folder / DECISIONS).iterdir():
            with contextlib.suppress(OSError):
                old.unlink()  # of the same question when it was asked before
        modes.file(folder / REPORT, read_private(run.path / PAGE))
        modes.file(folder / _NUMBERS, _format_json(request.question.manifest))
        modes.file(folder / REQUEST, _format_json(asked))  # last: without it nothing can be signed
    except OSError as error:
        raise FolderError(
            f"the report cannot be copied to publish.reports {reports} ({type(error).__name__}); "
            "name a folder that this account can write, or leave publish.reports out"
        ) from None
    return folder


def close_copy(reports: Path, run: Run, request: Request) -> None:
    """Note in the copy how the request was decided."""
    folder, decision = locate_copy(reports, run, request.question), request.decision
    if decision is None or not (is_own(folder.parent) and is_own(folder)):
        return
    outcome = {
        "state": "approved" if decision.approved else "rejected",
        "by": decision.by,
        "note": decision.note,
        "at": decision.at,
        **({"also": [each.by for each in request.agreed]} if request.agreed else {}),
    }
    with contextlib.suppress(OSError, FolderError):
        Modes.of(reports).file(folder / OUTCOME, _format_json(outcome))


def take_up(reports: Path, run: Run, rules: Rules, *, closes: bool = True) -> list[str]:
    """Take up a signed decision from the copy, if one counts; returns why others do not.

    `rules` are those of the plan today: a person who may no longer decide does not reject either.
    What is signed in time counts, also if it is found later. `closes`: note the outcome in the
    copy, as all but rehearsals do.
    """
    approval = Approval.of(run)
    request = approval.last
    if request is None or request.decision is not None or request.ended:
        return []
    first, reasons = find_signed_decision(reports, run, request, rules)
    if first is None:
        return reasons
    # `accept_signed_decision` has compared the signed time with the deadline already.
    decided = approval.decide(first, needed=rules.approvals, in_time=True)
    if decided.decision is None:
        return take_up(reports, run, rules, closes=closes)  # others may have signed, too
    if closes:
        close_copy(reports, run, decided)
    return reasons


def find_signed_decision(
    reports: Path, run: Run, request: Request, rules: Rules
) -> tuple[Decision | None, list[str]]:
    """The signed decision of a copy that counts, if any, and why others do not.

    A rejection goes before approvals, an earlier decision before later ones.
    """
    found, reasons = [], []
    counted = [each.signature for each in request.agreed if each.signature]
    for text, owner in _read_decision_files(
        locate_copy(reports, run, request.question) / DECISIONS
    ):
        if any(signature in text for signature in counted):
            continue  # taken up before
        try:
            decision = accept_signed_decision(text, request, rules, owner)
        except AnonymityError as refusal:
            reasons.append(str(refusal))
        else:
            found.append(decision)
    # False sorts before True: rejections first. The identity decides between equal seconds.
    first = min(
        found,
        key=lambda each: (each.approved, _parse_decision_time(each), each.identity),
        default=None,
    )
    return first, reasons


def accept_signed_decision(text: str, request: Request, rules: Rules, owner: str = "") -> Decision:
    """The signed decision about this request; refused if it does not count or came too late."""
    decision = from_file(text, request, owner)
    if reason := find_decision_objection(
        request.question, decision, request.asked_by, rules, request.agreed
    ):
        raise DecisionError(f"a signed decision does not count: {reason}")
    # The time is the signer's own statement: no clock of this machine vouches for it.
    if _parse_decision_time(decision) >= datetime.fromisoformat(request.until):
        raise DecisionError(
            f"a signed decision does not count: it was signed after {request.until}, when the "
            "time for it ended"
        )
    # With a later time, publish.approval_valid would let it count for longer.
    if decision.age < -_AHEAD:
        raise DecisionError(
            f"a signed decision does not count: it was signed at {decision.at}, which is later "
            "than now; set the clock of the machine that signs, and sign again"
        )
    return decision


@dataclass(frozen=True)
class Copy:
    """A copy as an officer reads it: the question, and how it was asked."""

    folder: Path
    request: Request

    @classmethod
    def read(cls, folder: Path) -> "Copy":
        """Read a copy; refused unless report and numbers are those that were asked about."""
        try:
            asked = read_json(folder / REQUEST)
            manifest = read_json(folder / _NUMBERS)
            # Officers can recompute the hash of a question: the verdict, a secret, is not in it.
            question = Question(asked["files"], asked["folder"], "", manifest)
            request = Request(
                question,
                asked["asked"],
                asked["until"],
                asked["report"],
                asked_by=asked["requested_by"],
                rules=asked["rules"],
            )
            same = (
                question.sha256 == asked["question"]
                and file_sha256(folder / REPORT) == asked["report"]
            )
        except UNREADABLE as error:
            raise DecisionError(
                f"{folder} is no readable copy of a report ({type(error).__name__}); give the "
                "folder that the waiting release named"
            ) from None
        if not same:
            raise DecisionError(
                f"{folder} was changed: {REPORT} or {_NUMBERS} is not what was asked about; have "
                "the release run again, which writes the copy anew"
            )
        return cls(folder, request)

    def require_open(self) -> None:
        """Refuse a copy that was decided or asked anew, or whose time is over."""
        if (self.folder / OUTCOME).exists():
            raise DecisionError(
                f"the release of {self.folder} was decided or asked anew: see {OUTCOME} there"
            )
        if self.request.late:
            raise DecisionError(f"the time to decide ended at {self.request.until}")


def _build_request_document(run: Run, request: Request) -> dict[str, Any]:
    question = request.question
    return {
        "run": run.path.name,
        "release": question.manifest.get("name"),
        "question": question.sha256,
        "files": dict(question.files),
        "folder": question.folder,
        "report": request.page,
        "asked": request.asked,
        "until": request.until,
        "requested_by": dict(request.asked_by),
        "rules": dict(request.rules or {}),
    }


def _parse_decision_time(decision: Decision) -> datetime:
    return datetime.fromisoformat(decision.at)


def _read_complete_copy(folder: Path) -> Mapping[str, Any] | None:
    """What a complete copy asks; None where it is not there, or was changed."""
    try:
        Copy.read(folder)
        return read_json(folder / REQUEST)
    except (OSError, ValueError, AnonymityError):
        return None


def _close_others(folder: Path, run: Run, modes: "Modes") -> None:
    """Note in copies of earlier questions of this run that it was asked anew."""
    for other in folder.parent.glob(f"{run.path.name}-*"):
        if other != folder and not (other / OUTCOME).exists():
            modes.file(other / OUTCOME, _format_json({"state": "asked anew"}))


def _read_decision_files(folder: Path) -> Iterator[tuple[str, str]]:
    """Texts of plain files in a folder that others can write in, and the owner of each."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        try:
            # O_NOFOLLOW: a link could lead to a private file. O_NONBLOCK: a FIFO would block.
            handle = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            about = os.fstat(handle)
            if stat.S_ISREG(about.st_mode):
                # One more than is allowed, so that `from_file` notices a longer text.
                text = os.read(handle, LONGEST_SIGNED + 1).decode("utf-8", "replace")
                yield text, identity.find_account_name(about.st_uid)
        finally:
            os.close(handle)


def _format_json(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
