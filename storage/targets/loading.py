"""A version of a release goes into a database, or out of it, by one transaction.

    people_v1, people_v2      a table for each version; beside it, such as people_v1_nodes, others
    people, people_nodes      views that show the tables of the newest version
    crowdcover_releases       which versions are there, with the hashes of their manifests

The last step is the view, so its readers wait as little as possible.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import polars as pl

from anon_core.errors import AnonymityError
from crowdcover.storage.places.outages import ask_again
from crowdcover.storage.source.answers import Asked, kind_of, what_to_do
from crowdcover.storage.targets import target_of
from crowdcover.storage.targets.base import Session, TargetError
from crowdcover.storage.targets.entries import (
    RELEASES_TABLE,
    LoadedVersion,
    LoadedVersions,
    sort_versions,
)
from crowdcover.storage.targets.naming import (
    fold_name,
    fold_names,
    name_columns,
    name_relation,
    place_of_relation,
)

_LOADED, _STANDS, _REMOVED, _ABSENT = "loaded", "stands already", "removed", "was not there"
_OF_TARGET = Asked("the target", "the load", "its credentials")
Result = TypeVar("Result")


@dataclass(frozen=True)
class ReleaseTables:
    """A version of a release, as it is loaded.

    Attributes
    ----------
    manifest : SHA-256 of its manifest.
    parts : by name, "" for the rows of the release, what becomes a table each.
    recheck : refuses files that changed since they were held against their hashes.
    """

    name: str
    version: str
    manifest: str
    parts: Mapping[str, pl.LazyFrame] = field(default_factory=dict)
    recheck: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class LoadOutcome:
    """What was done; `renamed` has the columns whose names the database cannot hold."""

    state: str
    schema: str
    tables: Sequence[str] = ()
    views: Sequence[str] = ()
    shows: str | None = None  # the version that the views show
    renamed: Mapping[str, str] = field(default_factory=dict)


def run_in_transaction(uri: str, work: Callable[[Session], Result]) -> Result:
    """Do something in one transaction, as a whole again after an outage.

    A refusal has no word of the driver, which quotes cells.
    """
    target = target_of(uri)
    assert target is not None, "other addresses are refused"

    def transact() -> Result:
        with target.open(uri) as session:
            return work(session)

    try:
        return ask_again("the target", transact)
    except AnonymityError:
        raise
    except ImportError:
        words = f"{target.title} needs its driver: pip install 'crowdcover[{target.extra}]'"
    except Exception as error:
        known = target.refusals.get(getattr(error, "sqlstate", None) or type(error).__name__)
        words = (
            f"{target.title} refused, so nothing was changed there ({kind_of(error)}); "
            f"{known or what_to_do(error, _OF_TARGET)}"
        )
    raise TargetError(words)


def load_version(
    session: Session, version: ReleaseTables, schema: str | None, roles: Sequence[str]
) -> LoadOutcome:
    """Load a version and let the view show the newest one; nothing if it stands already.

    Refused before anything is written: roles and a schema that are not there, another content under
    the same name and version, names that something else has.
    """
    _require_roles(session, roles)
    entries = LoadedVersions(session, _find_schema(session, schema), version.name)
    relations = entries.relations()
    before = entries.read(relations)
    standing = next((each for each in before if each.version == version.version), None)
    if standing is not None:
        _refuse_other(standing, version)
        _refuse_lost(entries, standing, relations)
        entry = replace(standing, roles=list(dict.fromkeys([*standing.roles, *roles])))
        if entry != standing:
            entries.keep_roles(entry)
    else:
        entry = _write_tables(entries, version, roles, before, relations)
    after = sort_versions([*(each for each in before if each is not standing), entry])
    views = _show_newest(entries, before, after, relations)
    session.grant(entries.schema, list(entry.tables.values()), roles)
    if after[-1] is entry:
        session.grant(entries.schema, list(views.values()), roles)
    return LoadOutcome(
        _LOADED if standing is None else _STANDS,
        entries.schema,
        list(entry.tables.values()),
        list(views.values()),
        after[-1].version,
        _list_renamed(session, version),
    )


def remove_version(session: Session, version: ReleaseTables, schema: str | None) -> LoadOutcome:
    """Take the tables of a version out; the view shows the newest one left, or goes, too."""
    entries = LoadedVersions(session, _find_schema(session, schema), version.name)
    relations = entries.relations()
    before = entries.read(relations)
    standing = next((each for each in before if each.version == version.version), None)
    if standing is None:
        return LoadOutcome(_ABSENT, entries.schema, shows=before[-1].version if before else None)
    _refuse_other(standing, version)
    entries.remove(standing.version)
    after = [each for each in before if each is not standing]
    # Before the tables: they cannot be removed while a view shows them.
    views = _show_newest(entries, before, after, relations)
    for table in standing.tables.values():
        if fold_name(session, table) in relations:
            session.ask(f"drop table {place_of_relation(entries.schema, table)}")
    shows = after[-1].version if after else None
    return LoadOutcome(
        _REMOVED, entries.schema, list(standing.tables.values()), list(views.values()), shows
    )


def _require_roles(session: Session, roles: Sequence[str]) -> None:
    missing = session.list_missing_roles(roles)
    if missing:
        raise TargetError(
            f"the database has no role {', '.join(map(repr, missing))}; create it there, or "
            "correct grant; nothing was changed"
        )


def _find_schema(session: Session, schema: str | None) -> str:
    """The schema that is named, or the one that the database takes by itself."""
    if schema is None:
        schema = session.ask("select current_schema()")[0][0]
        if not schema:
            raise TargetError(
                "the account of the target has no schema by itself; name it by schema"
            )
        return str(schema)
    known = (
        "select 1 from information_schema.schemata where schema_name = $1 "
        "and catalog_name = current_database()"
    )
    if not session.ask(known, schema):
        raise TargetError(
            f"the database has no schema {schema!r} that the account of the target can use; create "
            "it there, or correct schema"
        )
    return schema


def _refuse_other(standing: LoadedVersion, version: ReleaseTables) -> None:
    if standing.manifest != version.manifest:
        raise TargetError(
            f"another release is loaded as {version.name} {version.version}: its manifest has "
            "another hash; name another schema, or remove that one with its own folder"
        )


def _refuse_lost(entries: LoadedVersions, standing: LoadedVersion, relations: set[str]) -> None:
    """Refuse a version whose tables somebody removed by hand."""
    lost = fold_names(entries.session, standing.tables.values()) - relations
    if lost:
        raise TargetError(
            f"{len(lost)} of the tables that {RELEASES_TABLE} names for {entries.name} "
            f"{standing.version} are gone; run crowdcover load --remove, then load it again"
        )


def _write_tables(
    entries: LoadedVersions,
    version: ReleaseTables,
    roles: Sequence[str],
    before: Sequence[LoadedVersion],
    relations: set[str],
) -> LoadedVersion:
    session = entries.session
    tables = {
        part: name_relation(session, version.name, version.version, part) for part in version.parts
    }
    own = {part for entry in before for part in entry.tables}
    views = [name_relation(session, version.name, part) for part in tables if part not in own]
    wanted = [*tables.values(), *views]
    taken = [each for each in wanted if fold_name(session, each) in relations]
    if taken:
        raise TargetError(
            f"the schema has {', '.join(map(repr, taken))} already, and that is no part of "
            f"{version.name}; rename it, or name another schema"
        )
    for rows in version.parts.values():
        session.require_storable(rows)
    for part, rows in version.parts.items():
        names = name_columns(session, list(rows.collect_schema()))
        session.write(entries.schema, tables[part], rows, names)
    version.recheck()
    entry = LoadedVersion(version.version, version.manifest, tables, list(roles))
    entries.enter(entry, relations)
    return entry


def _show_newest(
    entries: LoadedVersions,
    before: Sequence[LoadedVersion],
    after: Sequence[LoadedVersion],
    relations: set[str],
) -> dict[str, str]:
    """Let the views show the tables of the newest version, by part; returns their names."""
    session, shown = entries.session, after[-1].tables if after else {}
    own = dict.fromkeys(part for entry in before for part in entry.tables)
    views = {part: name_relation(session, entries.name, part) for part in {**shown, **own}}
    there = {part for part in own if fold_name(session, views[part]) in relations}
    same = before[-1:] and after[-1:] and before[-1].version == after[-1].version
    pointed = [part for part in shown if not (same and part in there)]
    for part in pointed:
        session.point_view(entries.schema, views[part], shown[part], exists=part in there)
    for part in there - shown.keys():
        session.ask(f"drop view {place_of_relation(entries.schema, views[part])}")
    if pointed:
        # Of a view that was made anew the grants are gone.
        roles = list(dict.fromkeys(role for each in (*before, *after) for role in each.roles))
        gone = session.list_missing_roles(roles)
        names = [views[part] for part in pointed]
        session.grant(entries.schema, names, [each for each in roles if each not in gone])
    return {part: views[part] for part in shown}


def _list_renamed(session: Session, version: ReleaseTables) -> dict[str, str]:
    """The columns that have other names in the database."""
    found: dict[str, str] = {}
    for rows in version.parts.values():
        columns = list(rows.collect_schema())
        pairs = zip(columns, name_columns(session, columns), strict=True)
        found |= {name: other for name, other in pairs if name != other}
    return found
