"""The release ledger: which source gave which release, and the digests of the people in each.

The ledger is SQLite in the vault, or PostgreSQL by URI for vaults that share one. An entry is made
before its release becomes visible and confirmed after that; it counts from the start. Each run's
releases.json says what became visible. From it the entries of a vault are corrected whenever a plan
is admitted or published, so that no release is forgotten after a crash or the loss of the ledger.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from anon_core.errors import AnonymityError
from crowdcover.storage.ledger.digests import People, match_people, read_people
from crowdcover.storage.ledger.entered import (
    SCHEMA,
    SCHEMA_WITH_PARTS,
    Entries,
    enter_people,
    list_entries,
    select_people,
)
from crowdcover.storage.ledger.meeting import (
    cut_parts,
    may_meet,
    select_other_releases,
    select_people_of,
    sort_words,
)
from crowdcover.storage.ledger.taken_in import TABLE, forget_reading, list_changed_runs, note_run
from crowdcover.storage.ledger.transaction import Ask, open_ledger_transaction
from crowdcover.storage.places.outages import ask_again, is_locked
from crowdcover.storage.source.answers import OF_LEDGER, kind_of, what_to_do
from crowdcover.storage.source.values import FOREIGN_ERRORS
from crowdcover.storage.vault import secret_streams
from crowdcover.storage.vault.disk_space import describe_full_disk, is_full
from crowdcover.storage.vault.files import read_secret, write_private_once
from crowdcover.storage.vault.run import Run
from crowdcover.storage.vault.vault import LEDGER, LEDGER_KEY, Vault

TABLES = (
    "create table if not exists about (name text primary key, value text not null)",
    "create table if not exists releases (run text, folder text, name text, version text, "
    "plan_sha256 text, source text, records bigint, published bigint, at text, "
    "primary key (run, folder))",
    "create table if not exists people (run text, kind text, repeated bigint, persons bytea, "
    "primary key (run, kind))",
    TABLE,
)

# Of people whose run has no release any more.
_DELETE_UNLISTED = "delete from people where run not in (select run from releases)"
Remade = Callable[[Run, bytes], People]
_Result = TypeVar("_Result")


class LedgerError(AnonymityError):
    """The release ledger cannot be used."""


@dataclass(frozen=True)
class Overlap:
    """Another run that has released something, and what it shares: some people, or the source."""

    run: str
    releases: tuple[str, ...]  # name and version of each
    same_source: bool
    people: int

    @property
    def shares(self) -> bool:
        """Whether anything is shared."""
        return self.same_source or self.people > 0


@dataclass(frozen=True)
class Ledger:
    """The ledger of a vault: its own, or the one at a URI.

    `remade(run, key)` digests the people of a run from its stages. It is asked where the run's own
    digests are gone or were made under another key, and depends on the kind of data.

    `kin` are seals of runs that do not count as others: versions of one series are checked
    together. A ledger that is not `lasting` is read as ever, and nothing that is entered stays.
    """

    vault: Vault
    remade: Remade = field(repr=False)
    uri: str | None = field(default=None, repr=False)
    kin: frozenset[str] = frozenset()
    lasting: bool = True

    @property
    def key(self) -> bytes:
        """The key of all digests, drawn once per vault."""
        path = self.vault.path / LEDGER_KEY
        if not path.exists():
            write_private_once(path, secret_streams.new_seed())
        return read_secret(path)

    @property
    def key_print(self) -> str:
        """A hash that tells keys apart and nothing else of them."""
        return secret_streams.digest_with_key(self.key, b"the key itself").hex()

    def mend(self) -> None:
        """Enter releases of this vault that the ledger lacks; delete those that were stopped.

        The caller holds `Vault.lock_publishing`.
        """
        self._transact(self._take_in_changes)

    def _take_in_changes(self, ask: Ask) -> None:
        for run, name, stamp in list_changed_runs(ask, self.vault, self.key):
            self._take_in(ask, run)
            note_run(ask, run, name, stamp)
        self._drop_stopped(ask)

    def _take_in(self, ask: Ask, run: Run) -> None:
        """Enter and confirm the visible releases of a run."""
        seal, entered = run.seal, "select folder, published from releases where run = $1"
        known: dict[str, int] = dict(ask(entered, seal))
        for release in run.ever_visible():
            folder, version = str(release.folder.parent), release.folder.name
            if folder not in known:
                people = list_entries(self.people(run))
                self._enter(ask, run, (folder, version), people, published=True)
            # Visible but not confirmed: the process was killed before `confirm`.
            elif not known[folder]:
                ask(
                    "update releases set version = $3, published = 1 "
                    "where run = $1 and folder = $2",
                    *(seal, folder, version),
                )

    def _drop_stopped(self, ask: Ask) -> None:
        """Delete what was announced and never visible: nobody can have seen that release."""
        stopped = ask("select run, folder from releases where published = 0")
        # Of a shared ledger they may be of another vault, which is at work.
        runs = self.vault.by_seal() if stopped else {}
        for seal, folder in stopped:
            if seal in runs and all(
                str(release.folder.parent) != folder for release in runs[seal].ever_visible()
            ):
                ask("delete from releases where run = $1 and folder = $2", seal, folder)
                ask(_DELETE_UNLISTED)

    def knows(self, run: Run) -> bool:
        """Whether this run has released anything."""
        return bool(
            self._transact(lambda ask: ask("select 1 from releases where run = $1", run.seal))
        )

    def find_overlaps(
        self, run: Run | None, source_sha256: str, people: People | None
    ) -> list[Overlap]:
        """Return other runs that released the same source or, if given, some of these people."""
        return [other for other in self.others(run, source_sha256, people) if other.shares]

    def others(self, run: Run | None, source_sha256: str, people: People | None) -> list[Overlap]:
        """Return all other runs that have released anything.

        The ledger is not locked while people are compared.
        """
        seal = "" if run is None else run.seal
        released = self._transact(lambda ask: select_other_releases(ask, seal, self.kin))
        source = self._source(source_sha256)
        if people is None or not released:
            return [_compute_overlap(*each, source, None, None) for each in released.items()]
        overlaps: list[Overlap] = []
        words = sort_words(people)
        # In parts, so that other processes get their turn between them.
        for part in cut_parts({other: rows[0][3] for other, rows in released.items()}):
            theirs = self._transact(partial(select_people_of, runs=part))
            for other in part:
                of_it = theirs.pop(other)
                met = people if may_meet(words, [of_it]) else None
                overlaps.append(_compute_overlap(other, released[other], source, met, of_it))
        return overlaps

    def announce(
        self, run: Run, folder: str, version: str, people: People, seen: Collection[str]
    ) -> list[Overlap]:
        """Enter a release that is about to become visible; return overlaps that are new.

        New are those of other runs than `seen`. If there are any, nothing was entered: the look
        and the entry are one transaction.
        """
        entries = list_entries(people)

        def enter(ask: Ask) -> list[Overlap]:
            # `seen` was compared without the lock; under it only what came since is compared.
            known = frozenset(seen)
            new = {
                other: rows
                for other, rows in select_other_releases(ask, run.seal, self.kin).items()
                if other not in known
            }
            source = self._source(run.source_sha256)
            overlaps = [
                _compute_overlap(other, rows, source, people, select_people(ask, other))
                for other, rows in new.items()
            ]
            if shares := [overlap for overlap in overlaps if overlap.shares]:
                return shares
            self._enter(ask, run, (folder, version), entries, published=False)
            return []

        return self._transact(enter)

    def confirm(self, run: Run, folder: str) -> None:
        """Note that an announced release is visible."""
        entry = "update releases set published = 1 where run = $1 and folder = $2"
        self._transact(lambda ask: ask(entry, run.seal, folder))

    def lists(self, run: Run, folder: str, version: str) -> bool:
        """Whether this version in this folder is entered as a release of the run."""
        listed = "select version from releases where run = $1 and folder = $2"
        return (version,) in self._transact(lambda ask: ask(listed, run.seal, folder))

    def forget(self, run: Run, folder: str, version: str) -> None:
        """Delete the entry of a retracted release; of its people, if the run has no other."""
        entry = "delete from releases where run = $1 and folder = $2 and version = $3"

        def delete(ask: Ask) -> None:
            ask(entry, run.seal, folder, version)
            ask(_DELETE_UNLISTED)
            forget_reading(ask, run)

        self._transact(delete)

    def drop(self, run: Run) -> None:
        """Delete the entries of a run that published nothing."""
        entry = "delete from releases where run = $1 and published = 0"
        self._transact(lambda ask: (ask(entry, run.seal), ask(_DELETE_UNLISTED)))

    def versions(self, folder: str) -> set[str]:
        """Versions that this vault has published in a folder, also by runs that are gone by now.

        A shared ledger does not tell which vault an entry is of, so it names none.
        """
        if self.uri is not None:
            return set()
        entered = "select version from releases where folder = $1 and published = 1"
        return {version for (version,) in self._transact(lambda ask: ask(entered, folder))}

    def people(self, run: Run) -> People:
        """Return the people that a run releases, digested under this ledger's key."""
        stored = run.whole("identify")
        if stored is not None and stored.facts["key"] == self.key_print:
            return read_people(stored)
        return self.remade(run, self.key)

    def _enter(
        self, ask: Ask, run: Run, place: tuple[str, str], people: Entries, *, published: bool
    ) -> None:
        folder, version = place
        seal, name = run.seal, folder.rpartition("/")[2]
        # What was visible stays so while a second version is announced at its place.
        published |= (1,) in ask(
            "select published from releases where run = $1 and folder = $2", seal, folder
        )
        entry = (seal, folder, name, version, run.plan_sha256, self._source(run.source_sha256))
        now = datetime.now(UTC)
        ask("delete from releases where run = $1 and folder = $2", seal, folder)
        ask(
            "insert into releases values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            *(*entry, people.records, int(published), now.isoformat(timespec="seconds")),
        )
        enter_people(ask, seal, people)

    def _source(self, sha256: str) -> str:
        """Digest a fingerprint: without the key nobody can recognise a source they guess."""
        return secret_streams.digest_with_key(self.key, sha256.encode()).hex()

    def _transact(self, work: Callable[[Ask], _Result]) -> _Result:
        """Do something in one exclusive transaction, as a whole again after an outage.

        Foreign errors become refusals that hide the URI.
        """

        def transact() -> _Result:
            with open_ledger_transaction(
                self.vault.path / LEDGER, self.uri, lasting=self.lasting
            ) as ask:
                self._require_ours(ask)
                return work(ask)

        where = "the ledger at publish.ledger" if self.uri else f"the vault's {LEDGER}"
        try:
            return ask_again("the ledger", transact)
        except AnonymityError:
            raise
        except ImportError:
            refusal = "a ledger in PostgreSQL needs the driver: pip install 'crowdcover[postgres]'"
        except FOREIGN_ERRORS as error:
            remedy = (
                what_to_do(error, OF_LEDGER)
                if self.uri
                else "another process is at work with it; run again when it has ended"
                if is_locked(error)
                else "if it is damaged, move it away: it is built anew from the runs"
            )
            refusal = (
                describe_full_disk("the release ledger", [self.vault.path])
                if self.uri is None and is_full(error)
                else f"{where} does not answer ({kind_of(error)}), "
                f"and nothing is published without it; {remedy}"
            )
        raise LedgerError(refusal)

    def _require_ours(self, ask: Ask) -> None:
        for table in TABLES:
            ask(table)
        about: dict[str, str] = dict(ask("select name, value from about"))
        if not about:
            for entry in (("schema", SCHEMA), ("key", self.key_print)):
                ask("insert into about values ($1, $2)", *entry)
        elif about.get("schema") not in (SCHEMA, SCHEMA_WITH_PARTS):
            raise LedgerError(
                "the ledger was written by another version of crowdcover; use that version"
            )
        elif about.get("key") != self.key_print:
            raise LedgerError(
                f"the ledger was begun with another key than this vault's {LEDGER_KEY}, "
                f"so nobody could be recognised; copy {LEDGER_KEY} into this vault from the one "
                "that began the ledger"
            )


def _compute_overlap(
    run: str,
    rows: Sequence[tuple[Any, ...]],
    source: str,
    people: People | None,
    theirs: People | None,
) -> Overlap:
    shared = (
        0 if people is None or theirs is None else int((match_people(people, theirs) >= 0).sum())
    )
    names = tuple(f"{name} {version}" for name, version, *_ in rows)
    return Overlap(run, names, any(row[2] == source for row in rows), shared)
