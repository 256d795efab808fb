"""The protocol of a kind of data: everything that the course of a release asks of it.

A kind is one folder. The course (`flows/release.py`) and the stages (`tasks/stages`) call these
methods and know no kind by name. A stage hands over folders: a kind reads the files that an earlier
stage stored and writes its own.
"""

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, ClassVar, Protocol

import polars as pl
from numpy.typing import NDArray

from anon_core.anonymizers.base import Data
from anon_core.part import DataPart, Whole
from anon_core.promise import Promise
from crowdcover.kinds.judge.audit import Audit, Sections
from crowdcover.kinds.judge.drift import Changes
from crowdcover.kinds.judge.manifest_keys import Keys
from crowdcover.kinds.plan.rules import PlanRules
from crowdcover.kinds.rows import scan_rows, scan_texts
from crowdcover.kinds.section import PlanError
from crowdcover.kinds.versions import Versions
from crowdcover.reports.catalogue.described import Field, Type
from crowdcover.storage.ledger.digests import People
from crowdcover.storage.ledger.ledger import Ledger, Overlap
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.validations.rows import Rows

Facts = Mapping[str, Any]
Columns = Mapping[str, NDArray[Any]] | Rows  # what a suite is about
Take = Callable[[], Any]
Listener = Callable[[str], None]  # hears what a longer work does


def say_nothing(_: str) -> None:
    """Where nobody watches."""


class Kind(PlanRules, Protocol):
    """One kind of data.

    Attributes
    ----------
    encoded : str
        Name of the stage that encodes, in the vault and in the manifest's timings.
    checked : tuple of str
        Names of the checks of ingested and of encoded data.
    claimed : Keys
        Keys of the manifest beside those of every release: of `described`, of drift, and numbers
        that only older versions measured.
    files : mapping of str to str
        Released data file by format.
    codebook : str
        Released file that tells how to read the data files.
    beside : tuple of str
        Released files that some plans have beside it.
    graph : bool
        Whether the released rows are edges, as catalogues say it.
    remedy : str
        What keeps crowds large beside other releases of the same people, as a refusal says it.
    versions : Versions, optional
        What the versions of a series need; None where the kind has no series. It is `series`, too.

    Methods that store files return facts for the stage's record: "shape" (rows first), "notes"
    (sentences for the log, counts and column names only), and whatever a later method needs.
    """

    encoded: ClassVar[str] = "encode"
    checked: ClassVar[tuple[str, str]] = ("ingested", "encoded")
    claimed: ClassVar[Keys] = {}
    files: ClassVar[Mapping[str, str]]
    codebook: ClassVar[str] = "codebook.json"
    beside: ClassVar[tuple[str, ...]] = ()
    graph: ClassVar[bool] = False
    remedy: ClassVar[str] = "carry fewer columns that tell rows apart"
    versions: ClassVar[Versions | None] = None

    # ------------------------------------------------------------ the plan; see `PlanRules`

    def describe_columns(self, plan: Any) -> Facts:
        """What the manifest repeats of the plan: "columns", the role of each column of the source.

        Keys of the manifest that no other part of it uses; names of columns, never values.
        """
        return {}

    def list_audit_terms(self, plan: Any) -> list[str]:
        """What the plan lets through or asks to be measured: another one is another audit."""
        columns = self.describe_columns(plan).get("columns", {})
        allowed = {name: each["allow"] for name, each in columns.items() if "allow" in each}
        return [f"allow {json.dumps(allowed)}"] if allowed else []

    def fields(
        self, manifest: Mapping[str, Any], form: str, types: Mapping[str, Type]
    ) -> tuple[Sequence[Field], Sequence[str]]:
        """The columns of a released data file, and those that tell its rows apart, for catalogues.

        `form` is the format of the file, `types` has the type of each column in it. By default
        columns have no role and no description.
        """
        return [Field(name, kind, "", "") for name, kind in types.items()], []

    def tables(self, folder: Path) -> dict[str, pl.LazyFrame]:
        """What a release is as tables of a database, by part: "" for its rows, then the rest.

        By default each released CSV file beside the data is a part of its own.
        """
        beside = [folder / name for name in self.beside if name.endswith(".csv")]
        others = {each.stem: scan_texts(each) for each in beside if each.is_file()}
        return {"": scan_rows(folder, self.files), **others}

    def starter(
        self,
        source: Source,
        header: bool | None = None,
        names: Sequence[str] = (),
        tell: Listener = say_nothing,
    ) -> str:
        """A commented starter plan for a source of this kind.

        `header` says whether a CSV file has one, None: look. `names` are the columns of one that
        has none. `tell` hears what is done, in sentences without a value of the source.
        """
        raise PlanError(f"kind {self.name!r} has no starter plans; write the plan by hand")

    def sampled(self, plan: Any, reading: Reading, number: int, seed: int) -> pl.DataFrame:
        """Random rows of the source, of so many records, for `crowdcover try`."""
        raise PlanError(f"--sample: a part of a {self.name} has other crowds; leave --sample out")

    def compile_kernels(self, tell: Listener) -> AbstractContextManager[None]:
        """Compile the kernels of a release while the block runs; by default nothing is compiled.

        `tell` hears that this takes a while, where it does.
        """
        return nullcontext()

    # ------------------------------------------------------------ the course

    @abstractmethod
    def identified(self, plan: Any) -> bool:
        """Whether `ingest` digests identifiers, so that its result depends on the ledger's key."""

    @abstractmethod
    def ingest(self, plan: Any, reading: Reading, ledger: Ledger, folder: Path) -> Facts:
        """Store what may be released, typed, and digests of identifiers under the ledger's key.

        The facts hold "profile", which later releases are compared with, and "source_columns".
        "source_rows" stands there where rows of the source are not the records.
        """

    @abstractmethod
    def encode(self, plan: Any, ingested: Stored, folder: Path) -> Facts:
        """Store the encoded data and the codebook."""

    @abstractmethod
    def load(self, encoded: Stored) -> Data:
        """The encoded data as the anonymizer takes it."""

    def part(self, data: Any, order: NDArray[Any]) -> DataPart:
        """What of the data an anonymizer must work on; by default all of it.

        `order` decides ties; so it decides which of equal records need no work.
        """
        return Whole(data, order)

    @abstractmethod
    def sizes(self, data: Any) -> Mapping[str, float]:
        """What decides how long the work takes: "records", "k" (the mean) and numbers of its own.

        Each is at least 1.
        """

    @abstractmethod
    def suite(self, check: str, plan: Any, stored: Stored) -> tuple[Any, Columns]:
        """The expectations of a check in `checked`, and the columns that it is about."""

    @abstractmethod
    def people(self, key: bytes, ingested: Stored, encoded: Stored) -> People:
        """The people who will be released, as digests under this key."""

    @abstractmethod
    def remade(self, run: Run, key: bytes) -> People:
        """The people of an earlier run under another key, as far as they can be known."""

    @abstractmethod
    def write(
        self, plan: Any, seed: bytes, take: Take, ingested: Stored, encoded: Stored, folder: Path
    ) -> Facts:
        """Store the data files of the release, its codebook and, apart, the secret matching.

        `take` hands over what was made, which nobody else holds any longer.
        """

    # ------------------------------------------------------------ the auditor

    @abstractmethod
    def judge(
        self,
        plan: Any,
        promise: Promise,
        formats: Sequence[str],
        reading: Reading,
        folder: Path,
        secrets: Path,
    ) -> Audit:
        """Recompute the promise from the source and the files in `folder`.

        `secrets` is the folder with the matching and its law, if any; they are checked as claims.
        """

    @abstractmethod
    def released(self, audit: Audit, anonymized: Stored) -> tuple[Any, Columns]:
        """The expectations of released data, on what the audit counted."""

    def comparable(self, manifest: Mapping[str, Any], sections: Sections) -> Sections:
        """Those of the measured sections that the manifest's version measured in the same way."""
        return sections

    @abstractmethod
    def keep_measured(self, audit: Audit, folder: Path) -> None:
        """Store what pictures need of the audit's numbers, in no particular order."""

    @abstractmethod
    def measured(self, verdict: Stored) -> Any:
        """What `keep_measured` stored, for `Words.sections`."""

    def steps(self, iterations: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """What the manifest states of the anonymizer's steps; by default every figure."""
        return iterations

    def compared(self, earlier: Path, later: Path) -> dict[str, dict[str, Any]] | None:
        """What published files tell of the change of each column, between two release folders.

        "new" and "gone" list categories. "at_least" and "at_most" bound the shift; both are missing
        where cells cannot be read truthfully. None where the files cannot be read side by side. By
        default nothing is read.
        """
        return {}

    # ------------------------------------------------------------ beside other releases

    @abstractmethod
    def changes(
        self,
        version: str,
        before: Mapping[str, Any],
        ingested: Stored,
        plan: Any,
        earlier: Sequence[Mapping[str, Any]],
    ) -> Changes:
        """The ingested data compared with the profiles of earlier releases."""

    @abstractmethod
    def utility(self, sections: Mapping[str, Any]) -> float:
        """The number that drift of utility is about, from the measured sections."""

    @abstractmethod
    def intersect_crowds(
        self, run: Run, ledger: Ledger, overlaps: Sequence[Overlap], audit: Audit | None = None
    ) -> dict[str, int]:
        """What is left of the crowds beside other releases of the same people.

        The counts are "overlapping", "people", "below_k" and "least_margin". The audit, if given,
        holds the rows as published.
        """
