"""The release ledger: which table gave which release, and, as keyed digests, whom each release shows. No Prefect here.

SQLite in the vault, or PostgreSQL by URI for vaults that share one. An entry is made before its release becomes visible
and confirmed after that; until then it counts. Each run's own releases.json says what became visible: from it the
entries of a vault are mended whenever a plan is admitted or published, so a crash or a lost ledger forgets nothing.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import polars as pl

from anon_core.errors import AnonymityError
from kinds.table.layout import TABLE
from kinds.table.records import load
from tasks.people.digests import People, partners
from tasks.source.csv_rows import FOREIGN_ERRORS
from tasks.vault import secrecy
from tasks.vault.storage import LEDGER, LEDGER_KEY, Run, Stored, Vault, write_private

SCHEMA = "1"
WAIT = 10  # seconds for somebody else's entry
TURN = (  # in PostgreSQL; in SQLite "begin immediate" is all it takes. The number is any, but always this
    "set local lock_timeout = '10s'",
    "select pg_advisory_xact_lock(7227330411)::text",
)
TABLES = (
    "create table if not exists about (name text primary key, value text not null)",
    "create table if not exists releases (run text, folder text, name text, version text, plan_sha256 text, source text, "
    "records bigint, published bigint, at text, primary key (run, folder))",
    "create table if not exists people (run text, kind text, repeated bigint, persons bytea, primary key (run, kind))",
)
PEOPLE_FILE = "people.bin"

Ask = Callable[..., list[tuple[Any, ...]]]  # a statement with $1, $2, ... and what stands for them


class LedgerError(AnonymityError):
    """The release ledger cannot be used."""


@dataclass(frozen=True)
class Overlap:
    """Another run that has released something, and what it shares with a table: people, or all of it."""

    run: str
    releases: tuple[str, ...]  # name and version of each
    same_source: bool
    people: int

    @property
    def shares(self) -> bool:
        """Whether it overlaps at all."""
        return self.same_source or self.people > 0


@dataclass(frozen=True)
class Ledger:
    """The ledger of a vault: its own, or the one at a URI."""

    vault: Vault
    uri: str | None = field(default=None, repr=False)

    @property
    def key(self) -> bytes:
        """What digests are keyed with: drawn once per vault."""
        path = self.vault.path / LEDGER_KEY
        if not path.exists():
            write_private(path, secrecy.new_seed())
        return path.read_bytes()

    @property
    def key_print(self) -> str:
        """Tells keys apart, and nothing else of them."""
        return secrecy.digest(self.key, b"the key itself").hex()

    def mend(self) -> None:
        """Enter what this vault's runs have published and the ledger lacks; take back what was stopped. Needs `publishing`."""
        runs = self.vault.by_seal()
        with self._asked() as ask:
            known = {
                (run, folder): bool(seen)
                for run, folder, seen in ask("select run, folder, published from releases")
            }
            for seal, run in runs.items():
                visible = {
                    str(release.folder.parent): release.folder.name
                    for release in run.ever_visible()
                }
                for folder, version in visible.items():
                    if not known.get((seal, folder), False):
                        people = None if (seal, folder) in known else self.people(run)
                        self._enter(ask, run, (folder, version), people, published=True)
                for entry in [
                    entry for entry, seen in known.items() if entry[0] == seal and not seen
                ]:
                    if entry[1] not in visible:
                        ask("delete from releases where run = $1 and folder = $2", *entry)
            ask("delete from people where run not in (select run from releases)")

    def knows(self, run: Run) -> bool:
        """Whether this run has released anything."""
        with self._asked() as ask:
            return bool(ask("select 1 from releases where run = $1", run.seal))

    def overlapping(
        self, run: Run | None, source_sha256: str, people: People | None
    ) -> list[Overlap]:
        """Other runs that released the same source or, as far as people are known yet, some of the same people."""
        return [other for other in self.others(run, source_sha256, people) if other.shares]

    def others(self, run: Run | None, source_sha256: str, people: People | None) -> list[Overlap]:
        """All other runs that have released anything; nobody waits for the ledger while people are compared."""
        with self._asked() as ask:
            released = _released(ask, "" if run is None else run.seal)
        found = []
        for other, rows in released.items():
            with self._asked() as ask:
                theirs = _entered(ask, other) if people is not None else None
            found.append(_overlap(other, rows, self._source(source_sha256), people, theirs))
        return found

    def announce(
        self, run: Run, folder: str, version: str, people: People, seen: Collection[str]
    ) -> list[Overlap]:
        """Enter a release that is about to become visible; returns overlapping ones of other runs than those seen before.

        If there are any, nothing was entered. Looking and entering are one transaction.
        """
        with self._asked() as ask:
            new = {
                other: rows for other, rows in _released(ask, run.seal).items() if other not in seen
            }
            source = self._source(run.source_sha256)
            found = [
                _overlap(other, rows, source, people, _entered(ask, other))
                for other, rows in new.items()
            ]
            if shares := [overlap for overlap in found if overlap.shares]:
                return shares
            self._enter(ask, run, (folder, version), people, published=False)
            return []

    def confirm(self, run: Run, folder: str) -> None:
        """Note that what was announced is visible."""
        with self._asked() as ask:
            ask(
                "update releases set published = 1 where run = $1 and folder = $2", run.seal, folder
            )

    def people(self, run: Run) -> People:
        """Those that a run releases, from its stages; without identifiers where they were not digested under this key."""
        if (known := run.whole("identify")) is not None and known.facts["key"] == self.key_print:
            return read_people(known)
        ingested, binarized = run.whole("ingest"), run.whole("binarize")
        if ingested is None or binarized is None:
            return People(0, {}, frozenset())
        table = pl.read_parquet(ingested.file(TABLE))[load(binarized)[1]]
        return People.of(self.key, table, pl.DataFrame())

    def _enter(
        self, ask: Ask, run: Run, place: tuple[str, str], people: People | None, *, published: bool
    ) -> None:
        folder, version = place
        seal, name = run.seal, folder.rpartition("/")[2]
        records = run.whole("binarize")
        published |= (1,) in ask(
            "select published from releases where run = $1 and folder = $2", seal, folder
        )
        entry = (seal, folder, name, version, run.plan_sha256, self._source(run.source_sha256))
        ask("delete from releases where run = $1 and folder = $2", seal, folder)
        ask(
            "insert into releases values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            *entry, records.shape[0] if records else 0, int(published), datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip
        if people is None:
            return
        ask("delete from people where run = $1", seal)
        for kind in people.digests:
            ask(
                "insert into people values ($1, $2, $3, $4)",
                seal,
                kind,
                int(kind in people.repeated),
                people.shuffled(kind),
            )

    def _source(self, sha256: str) -> str:
        """A table that can be guessed must not be recognised without the key."""
        return secrecy.digest(self.key, sha256.encode()).hex()

    @contextmanager
    def _asked(self) -> Iterator[Ask]:
        """One transaction, alone; a foreign error becomes a refusal that tells nothing of the URI."""
        where = "the ledger at publish.ledger" if self.uri else f"the vault's {LEDGER}"
        refusal = ""
        try:
            with self._connected() as ask:
                self._require_ours(ask)
                yield ask
        except AnonymityError:
            raise
        except ImportError:
            refusal = "a ledger in PostgreSQL needs the driver: pip install 'crowdcover[postgres]'"
        except FOREIGN_ERRORS as error:
            remedy = (
                "check publish.ledger"
                if self.uri
                else "if it is damaged, move it away: it is built anew from the runs"
            )
            refusal = f"{where} does not answer ({type(error).__name__}), and nothing is published without it; {remedy}"
        if refusal:
            raise LedgerError(refusal)

    @contextmanager
    def _connected(self) -> Iterator[Ask]:
        if self.uri is None:
            with closing(self._sqlite()) as connection:
                connection.execute("begin immediate")
                yield lambda words, *values: connection.execute(words, _numbered(values)).fetchall()
                connection.execute("commit")
            return
        from adbc_driver_postgresql import dbapi

        patient = f"{'&' if '?' in self.uri else '?'}connect_timeout={WAIT}"
        with (
            closing(dbapi.connect(self.uri + patient)) as connection,
            closing(connection.cursor()) as cursor,
        ):

            def ask(words: str, *values: Any) -> list[tuple[Any, ...]]:
                cursor.execute(words, values or None)
                return (
                    [tuple(row) for row in cursor.fetchall()] if words.startswith("select") else []
                )

            for step in TURN:
                ask(step)
            yield ask
            connection.commit()

    def _sqlite(self) -> sqlite3.Connection:
        path = self.vault.path / LEDGER
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        return sqlite3.connect(path, timeout=WAIT, isolation_level=None)

    def _require_ours(self, ask: Ask) -> None:
        for table in TABLES:
            ask(table)
        about: dict[str, str] = dict(ask("select name, value from about"))
        if not about:
            for entry in (("schema", SCHEMA), ("key", self.key_print)):
                ask("insert into about values ($1, $2)", *entry)
        elif about.get("schema") != SCHEMA:
            raise LedgerError(
                "the ledger was written by another version of crowdcover; use that version"
            )
        elif about.get("key") != self.key_print:
            raise LedgerError(
                f"the ledger was begun with another key than this vault's {LEDGER_KEY}, so nobody could be recognised; copy "
                f"{LEDGER_KEY} into this vault from the one that began the ledger"
            )


def _released(ask: Ask, seal: str) -> dict[str, list[tuple[Any, ...]]]:
    """What other runs than this one have released: run -> name, version, source of each."""
    rows = ask(
        "select run, name, version, source from releases where run <> $1 order by at, run, folder",
        seal,
    )
    return {
        run: [row[1:] for row in rows if row[0] == run]
        for run in dict.fromkeys(row[0] for row in rows)
    }


def _entered(ask: Ask, run: str) -> People:
    rows = ask("select kind, repeated, persons from people where run = $1", run)
    return People(
        0,
        {kind: persons for kind, _, persons in rows},
        frozenset(kind for kind, often, _ in rows if often),
    )


def _overlap(
    run: str,
    rows: Sequence[tuple[Any, ...]],
    source: str,
    people: People | None,
    theirs: People | None,
) -> Overlap:
    shared = 0 if people is None or theirs is None else int((partners(people, theirs) >= 0).sum())
    names = tuple(f"{name} {version}" for name, version, _ in rows)
    return Overlap(run, names, any(row[2] == source for row in rows), shared)


def write_people(people: People, path: Any) -> dict[str, Any]:
    """Write digests in the order of the records; returns what else is to be known of them."""
    path.write_bytes(b"".join(people.digests.values()))
    return {
        "shape": [people.records],
        "kinds": list(people.digests),
        "repeated": sorted(people.repeated),
    }


def read_people(stored: Stored) -> People:
    """What `write_people` has written."""
    content, facts = stored.file(PEOPLE_FILE).read_bytes(), stored.facts
    step = stored.shape[0] * secrecy.DIGEST_BYTES
    digests = {kind: content[at * step : (at + 1) * step] for at, kind in enumerate(facts["kinds"])}
    return People(stored.shape[0], digests, frozenset(facts["repeated"]))


def _numbered(values: Sequence[Any]) -> dict[str, Any]:
    return {str(place): value for place, value in enumerate(values, start=1)}
