"""The table `crowdcover_releases` of a schema: which versions are loaded there."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crowdcover.storage.targets.base import Session
from crowdcover.storage.targets.naming import fold_name, fold_names, place_of_relation

RELEASES_TABLE = "crowdcover_releases"
_COLUMNS = (
    "name text not null, version text not null, manifest text not null, "
    "loaded_at timestamp with time zone not null, tables text not null, roles text not null, "
    "primary key (name, version)"
)


@dataclass(frozen=True)
class LoadedVersion:
    """A loaded version.

    Attributes
    ----------
    manifest : SHA-256 of its manifest, which states the hash of every other file.
    tables : by part of the release, "" for its rows, the name of the table.
    roles : that may read it.
    """

    version: str
    manifest: str
    tables: Mapping[str, str]
    roles: Sequence[str]


@dataclass(frozen=True)
class LoadedVersions:
    """The entries of one release in a schema."""

    session: Session
    schema: str
    name: str

    @property
    def place(self) -> str:
        """The table, as SQL writes it."""
        return place_of_relation(self.schema, RELEASES_TABLE)

    def relations(self) -> set[str]:
        """Names of the tables and views of the schema, in one case where that is all the same."""
        asked = (
            "select table_name from information_schema.tables "
            "where table_schema = $1 and table_catalog = current_database()"
        )
        return fold_names(self.session, (row[0] for row in self.session.ask(asked, self.schema)))

    def read(self, relations: set[str]) -> list[LoadedVersion]:
        """The loaded versions, the oldest first."""
        if fold_name(self.session, RELEASES_TABLE) not in relations:
            return []
        asked = f"select version, manifest, tables, roles from {self.place} where name = $1"
        rows = self.session.ask(asked, self.name)
        found = [
            LoadedVersion(row[0], row[1], json.loads(row[2]), json.loads(row[3])) for row in rows
        ]
        return sort_versions(found)

    def enter(self, entry: LoadedVersion, relations: set[str]) -> None:
        """Add a version; the first one makes the table."""
        if fold_name(self.session, RELEASES_TABLE) not in relations:
            self.session.ask(f"create table {self.place} ({_COLUMNS})")
        self.session.ask(
            f"insert into {self.place} values ($1, $2, $3, current_timestamp, $4, $5)",
            *(self.name, entry.version, entry.manifest),
            *(json.dumps(entry.tables), json.dumps(entry.roles)),
        )

    def keep_roles(self, entry: LoadedVersion) -> None:
        """Keep who may read a version that was loaded before."""
        self.session.ask(
            f"update {self.place} set roles = $1 where name = $2 and version = $3",
            *(json.dumps(entry.roles), self.name, entry.version),
        )

    def remove(self, version: str) -> None:
        """Take a version out."""
        self.session.ask(
            f"delete from {self.place} where name = $1 and version = $2", self.name, version
        )


def sort_versions(entries: Sequence[LoadedVersion]) -> list[LoadedVersion]:
    """In the order of their versions: v9 comes before v10."""
    return sorted(entries, key=lambda each: (len(each.version), each.version))
