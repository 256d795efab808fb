"""datapackage.json: the release as a Frictionless Data Package with Table Schemas."""

import re
from typing import Any

from crowdcover.reports.catalogue.described import (
    DataFile,
    Described,
    Field,
    media_type_of,
    without_nothing,
)

_PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
ROLE = "crowdcover:role"


def build_datapackage(release: Described) -> dict[str, Any]:
    """Every data file as a tabular resource, the other files as plain ones."""
    tables = [_describe_table(release, file) for file in release.data]
    others = [_describe_plain_file(release, name) for name in release.others]
    return without_nothing(
        {
            "$schema": _PROFILE,
            "name": _make_slug(release.name),
            "id": release.urn,
            "title": release.title,
            "description": release.description,
            "version": release.version,
            "created": release.created,
            "licenses": [_state_licence(release)] if release.licence else [],
            "contributors": _list_contributors(release),
            "resources": [*tables, *others],
        }
    )


def _state_licence(release: Described) -> dict[str, str]:
    # A licence needs a name or a path; an address is no name, and an expression has no path.
    named = {} if "://" in release.licence else {"name": release.licence}
    return without_nothing({**named, "path": release.licence_uri})


def _list_contributors(release: Described) -> list[dict[str, Any]]:
    people = ((release.about("publisher"), "publisher"), (release.about("contact"), "contact"))
    return [{"title": who, "roles": [role]} for who, role in people if who]


def _describe_table(release: Described, file: DataFile) -> dict[str, Any]:
    """A data file; `compression` says how the CSV file is packed."""
    packed = {"compression": "gz"} if file.name.endswith(".gz") else {}
    # An empty field is a missing value. Cells that are "(missing)" or "*" are texts of their own.
    missing = {"missingValues": [""]} if file.format == "csv" else {}
    written = (
        {"encoding": "utf-8", "dialect": {"delimiter": ",", "header": True}}
        if file.format == "csv"
        else {}
    )
    return {
        **_describe_plain_file(release, file.name),
        "type": "table",
        "format": file.format,
        **packed,
        **written,
        "schema": {
            "fields": [_describe_field(each) for each in file.fields],
            **missing,
            **({"primaryKey": list(file.key)} if file.key else {}),
        },
    }


def _describe_field(field: Field) -> dict[str, Any]:
    form = {"format": "any"} if field.type == "datetime" else {}
    return without_nothing(
        {
            "name": field.name,
            "type": field.type,
            **form,
            "description": field.about,
            ROLE: field.role,
        }
    )


def _describe_plain_file(release: Described, name: str) -> dict[str, Any]:
    entry = release.entries[name]
    return {
        "name": _make_slug(name),
        "path": name,
        "mediatype": media_type_of(name, release.data),
        "bytes": entry.bytes,
        "hash": f"sha256:{entry.sha256}",
    }


def _make_slug(name: str) -> str:
    """A name as Data Packages allow it."""
    # Only names are changed; paths stay as the files are called.
    return re.sub(r"[^a-z0-9._-]", "-", name.lower())
