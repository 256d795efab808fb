"""What a person is asked, and what they decided: questions, requests and decisions. No files here.

A request is about exact bytes: other bytes need a new request.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from anon_core.errors import AnonymityError
from crowdcover.storage.places.place import Place
from crowdcover.storage.shelf.content import has_version_files

# Sections of a manifest that depend on when it was written.
OF_THE_MOMENT = (
    "version", "created", "timings", "peak_memory_bytes", "approval", "software", "texts",
)  # fmt: skip
LONGEST_NAME = 100
LONGEST_NOTE = 500
_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


class DecisionError(AnonymityError):
    """There is nothing to decide, or the name or note cannot be kept."""


@dataclass(frozen=True)
class Decision:
    """A decision, with the name and the note of the person.

    `identity` is who decided according to the system that authenticated it, `authenticated` which
    system that was; see `storage.approval.identity`. `account` owns the file of a signed decision.
    Key and signature are those of a signed decision about `question`. A deputy decides
    `in_place_of` the person whom the plan names. Decisions of older versions have none of these.
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
    in_place_of: str = ""

    @classmethod
    def of(
        cls, *, approved: bool, by: str, note: str, identity: str = "", authenticated: str = ""
    ) -> "Decision":
        """Decide now; refuse a name or note that is not one line of printable text."""
        return cls(
            approved,
            one_line("the name", by, 1, LONGEST_NAME),
            one_line("the note", note, 0, LONGEST_NOTE),
            format_record_time(current_time()),
            identity,
            authenticated,
        )

    @property
    def age(self) -> timedelta:
        """Time since the decision, by the time that it states."""
        return current_time() - datetime.fromisoformat(self.at)

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
    """The release that a person is asked to approve; its manifest lacks approval and files.

    The verdict is a hash of what the check measured of each record. It stays in the vault.
    """

    files: Mapping[str, str]
    folder: str
    verdict: str
    manifest: Mapping[str, Any]

    @property
    def sha256(self) -> str:
        """Hash of what would be published, and where. It is published, so it hides nothing."""
        lasting = {
            name: value for name, value in self.manifest.items() if name not in OF_THE_MOMENT
        }
        about = {"files": dict(self.files), "folder": self.folder, "manifest": lasting}
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()

    def same(self, other: "Question") -> bool:
        """Whether two questions are about the same release, under the same verdict."""
        return (self.sha256, self.verdict) == (other.sha256, other.verdict)

    def is_about(self, manifest: Mapping[str, Any], folder: Place) -> bool:
        """Whether a published folder is the release of this question."""
        # `files` is added to a manifest later, so only keys of the question are compared.
        lasting = [name for name in self.manifest if name not in OF_THE_MOMENT]
        return all(
            manifest.get(name) == self.manifest[name] for name in lasting
        ) and has_version_files(folder, self.files)


@dataclass(frozen=True)
class Request:
    """A question with its deadline and, later, its decision.

    Where the plan wants several people, `agreed` has the approvals before the one that decided.
    """

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
    agreed: tuple[Decision, ...] = ()

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
        start = current_time()
        until = format_record_time(start + given)
        return cls(
            question, format_record_time(start), until, page, asked_by=asked_by or {}, rules=rules
        )

    def move_times(self, by: timedelta) -> "Request":
        """The same request at another time; people keep as long to answer it."""
        asked, until = (
            format_record_time(datetime.fromisoformat(time) + by)
            for time in (self.asked, self.until)
        )
        return replace(self, asked=asked, until=until)

    @property
    def asker(self) -> str:
        """Who ran the release, by each system that knows it."""
        return ", ".join(f"{name} ({system})" for system, name in self.asked_by.items())

    @property
    def approvals(self) -> tuple[Decision, ...]:
        """The approvals so far, in their order."""
        last = self.decision
        return self.agreed if last is None or not last.approved else (*self.agreed, last)

    @property
    def late(self) -> bool:
        """Whether the deadline passed without a decision."""
        return self.decision is None and current_time() >= datetime.fromisoformat(self.until)

    @property
    def given(self) -> timedelta:
        """Time between the question and its deadline."""
        return datetime.fromisoformat(self.until) - datetime.fromisoformat(self.asked)


def current_time() -> datetime:
    """The time, to the second."""
    # Records state whole seconds; with a fraction a time would differ from its own record.
    return datetime.now(UTC).replace(microsecond=0)


def format_duration(given: timedelta) -> str:
    """A duration as plans write it: 7d, 1d12h."""
    seconds, text = int(given.total_seconds()), ""
    for unit, length in _UNITS:
        count, seconds = divmod(seconds, length)
        text += f"{count}{unit}" if count else ""
    return text


def one_line(what: str, text: str, least: int, most: int) -> str:
    """Strip a text; refuse all but one line of `least` to `most` printable characters."""
    line = text.strip()
    # isprintable also refuses marks of direction, which could show a name as another one.
    if not least <= len(line) <= most or not line.isprintable():
        raise DecisionError(f"{what} must be one line of {least} to {most} printable characters")
    return line


def format_record_time(at: datetime) -> str:
    """A time as records state it."""
    return at.isoformat(timespec="seconds")
