"""What a kind of data does for the versions of a series.

A version is a release in which rows of earlier versions stay as they are, and new rows form one
batch. The batch is anonymized and checked like a release of its own; the methods here decide who is
in it, lay the version together, and audit it beside the versions before it.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import polars as pl

from anon_core.anonymizers.base import Data
from anon_core.promise import Promise
from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.plan.series import Following, SeriesRules
from crowdcover.storage.ledger.digests import read_spelling_form
from crowdcover.storage.series.series import Version
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.run import Stored


@dataclass(frozen=True)
class Before:
    """What the vault keeps of the versions so far.

    Attributes
    ----------
    number : int
        Of the last version.
    assembled, audited : Stored
        Its rows, and who fits which row of any version.
    identified : tuple of Stored
        Digests of the people of each batch, the first first.
    """

    number: int
    assembled: Stored
    audited: Stored
    identified: tuple[Stored, ...]

    @property
    def form(self) -> int:
        """In which form of spelling the series knows people: that of its first version."""
        # Digests of later versions must meet those of the first, so they keep its spelling.
        return read_spelling_form(self.identified[0])

    @classmethod
    def of(cls, versions: Sequence[Version]) -> "Before":
        """Of versions that were published, the last one last; refused where the vault lacks it."""
        # The last audit knows who fits which row of any version. Only people are kept by batch.
        last = versions[-1]
        identified = tuple(_require_stage(version, "identify") for version in versions)
        return cls(
            last.number,
            _require_stage(last, "assemble"),
            _require_stage(last, "versions"),
            identified,
        )


def _require_stage(version: Version, stage: str) -> Stored:
    """A stage of the run of a version."""
    stored = version.run.whole(stage)
    if stored is None:
        raise FolderError(
            f"the vault lacks what it kept of version {version.number} of the series "
            f"(runs/{version.run.path.name}/{stage}); restore it from a backup"
        )
    return stored


@dataclass(frozen=True)
class KnownPeople:
    """What is known of people beside source and plan.

    Attributes
    ----------
    key : bytes
        The key of all digests.
    withdrawn : frozenset of bytes
        Digests of people who asked to be withdrawn.
    waiting : frozenset of int
        Chains of records that must wait: in this version they had fewer than k histories.
    held : Stored, optional
        The parts of the last source that gave no version, since nobody could hide.
    """

    key: bytes = field(repr=False)
    withdrawn: frozenset[bytes] = field(repr=False)
    waiting: frozenset[int] = field(default=frozenset(), repr=False)
    held: Stored | None = None


class Versions(SeriesRules, Protocol):
    """The versions of a series, for one kind of data.

    Attributes
    ----------
    promised : tuple of str
        Findings that hold for all rows of a version: where the method promises them for a release,
        and those of the audit of versions.
    """

    promised: ClassVar[tuple[str, ...]]

    def promise(self, of_batch: Sequence[str], findings: Sequence[Finding]) -> Promise:
        """What a version promises, of the promise of its batch and of its own findings."""
        names = (*of_batch, *(finding.guarantee for finding in findings if finding.required))
        return Promise(tuple(name for name in names if name in self.promised))

    @abstractmethod
    def parts(
        self, plan: Any, reading: Reading, first: str, last: str
    ) -> Iterator[tuple[str, pl.DataFrame]]:
        """Labels and rows of the partitions from `first` to `last`, in the order of the labels.

        Partitions without rows are left out.
        """

    @abstractmethod
    def nothing(self, plan: Any, reading: Reading) -> pl.DataFrame:
        """The columns of a source, without its rows."""

    @abstractmethod
    def split(
        self,
        plan: Any,
        following: Following,
        reading: Reading,
        before: Before | None,
        asked: KnownPeople,
        folder: Path,
    ) -> Mapping[str, Any]:
        """Store who stays, who is withdrawn and the batch, as a source of its own.

        The facts hold "counts".
        """

    @abstractmethod
    def batch(self, split: Stored) -> Path:
        """The file with the batch, as a source."""

    @abstractmethod
    def load(self, encoded: Stored, split: Stored) -> Data:
        """The encoded batch, with what earlier versions leave open of its records."""

    @abstractmethod
    def assemble(
        self,
        following: Following,
        stages: tuple[Stored, Stored, Stored],
        before: Before | None,
        number: int,
        key: bytes,
        folder: Path,
    ) -> Mapping[str, Any]:
        """Store the files of the version; the stages are split, encoded and anonymized."""

    @abstractmethod
    def audit(
        self,
        plan: Any,
        following: Following,
        stages: tuple[Stored, Stored, Stored, Stored],
        before: Before | None,
        readings: tuple[Reading, Reading],
        asked: KnownPeople,
        folder: Path,
    ) -> tuple[list[Finding], Mapping[str, Any]]:
        """Audit a version beside all before it.

        Stages are split, identified, assembled and anonymized, readings those of the source and of
        the batch. Files that later versions need go to `folder`. Returned are findings and the
        manifest's section.
        """

    @abstractmethod
    def audit_published(
        self,
        following: Following,
        folder: Path,
        formats: Sequence[str],
        number: int,
        kept: Before,
        key: bytes,
    ) -> tuple[list[Finding], Mapping[str, Any]]:
        """Audit the folder of a version from what the vault keeps of the last one.

        Crowds and histories are counted over the versions up to this one.
        """

    @abstractmethod
    def digests(self, values: Sequence[str], key: bytes, form: int) -> list[bytes]:
        """The digest of each person whom these identifiers name, as `split` knows people.

        `form` is that of the series' spelling.
        """

    @abstractmethod
    def find_published(
        self, following: Following, values: Sequence[str], kept: Before, key: bytes
    ) -> list[bool]:
        """Whether each person whom these identifiers name ever had a row."""

    @abstractmethod
    def short(self, audited: Stored) -> tuple[frozenset[int], int]:
        """Chains of the batch with too few histories, and how many people have too few in all.

        For a version whose last finding does not hold.
        """

    @abstractmethod
    def owners(self, kept: Before) -> frozenset[bytes]:
        """Digests of the people who have rows in the last version."""

    @abstractmethod
    def owners_waiting(self, stages: Sequence[Stored]) -> frozenset[bytes]:
        """Digests of people without a row whom these stages hold: who waits, who is in a batch."""
