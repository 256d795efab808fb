"""What all formats of catalogues tell of a release: its files, their columns, and its words."""

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from crowdcover.reports.facts import Manifest

# As the Table Schema of Frictionless names them.
Type = Literal[
    "string", "integer", "number", "boolean", "date", "datetime", "array", "object", "any"
]
METHOD = "crowdcover"
METHOD_LICENCE = "Apache-2.0"
SPDX_LICENCES = "https://spdx.org/licenses/"
_MEDIA = {
    "parquet": "application/vnd.apache.parquet",
    "csv": "text/csv",
    ".csv": "text/csv",
    ".json": "application/json",
    ".html": "text/html",
}


class Field(NamedTuple):
    """A column of a data file: its type there, its role and how to read it."""

    name: str
    type: Type
    role: str
    about: str


class Entry(NamedTuple):
    """A file of the release: its size in bytes and its SHA-256."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class DataFile:
    """A file with rows. `key` names the columns that tell rows apart."""

    name: str
    format: str
    fields: tuple[Field, ...]
    rows: int
    key: tuple[str, ...]


@dataclass(frozen=True)
class Described:
    """A release as catalogues see it.

    Attributes
    ----------
    manifest : mapping
        All of it but "files".
    data : tuple of DataFile
    others : tuple of str
        Names of the codebook, of files beside it, and of the report.
    entries : mapping of str to Entry
        Each file in `data` and `others`.
    promise, limits : str
        What is promised and what is not, in plain words.
    graph : bool
        Whether the rows are edges.
    """

    manifest: Manifest
    data: tuple[DataFile, ...]
    others: tuple[str, ...]
    entries: Mapping[str, Entry]
    promise: str
    limits: str
    graph: bool = False

    @property
    def name(self) -> str:
        """Name of the release."""
        return str(self.manifest["name"])

    @property
    def version(self) -> str:
        """Version of the release, such as v1."""
        return str(self.manifest["version"])

    @property
    def created(self) -> str:
        """When it was made, as the manifest states it."""
        return str(self.manifest["created"])

    @property
    def title(self) -> str:
        """As the plan states it, else the name."""
        return self.about("title") or self.name

    @property
    def urn(self) -> str:
        """A name for the release that is the same in every format."""
        # Of data, codebook and report only: the catalogue files hold this name, so it cannot follow
        # from their hashes.
        files = sorted(f"{name} {entry.sha256}" for name, entry in self.entries.items())
        return uuid.uuid5(uuid.NAMESPACE_OID, "\n".join([self.name, self.version, *files])).urn

    @property
    def description(self) -> str:
        """What the release is, in a few sentences."""
        population = self.about("population")
        about = f" About: {population}." if population else ""
        return f"Anonymized by {METHOD}.{about} {self.promise}"

    @property
    def licence(self) -> str:
        """Licence of the rows, as the plan states it; empty if it does not."""
        return self.about("licence")

    @property
    def licence_uri(self) -> str:
        """The licence as a URI; empty where none is stated, or where it is an expression."""
        stated = self.licence
        if re.match(r"https?://", stated):
            return stated
        # An expression such as "A OR B" has blanks, and no page of its own.
        return SPDX_LICENCES + stated if stated and " " not in stated else ""

    @property
    def software(self) -> Mapping[str, str]:
        """Versions of what computed the release, by package."""
        return dict(self.manifest.get("software", {}))

    @property
    def parameters(self) -> dict[str, str]:
        """Name and settings of the anonymizer, and the demands, as texts."""
        privacy = self.manifest["privacy"]
        demands = {key: privacy[key] for key in ("k_min", "k_max") if key in privacy}
        stated = {**dict(self.manifest["anonymizer"]), **demands}
        # As JSON, since Python would write True and None, which no other program reads.
        return {key: value if isinstance(value, str) else json.dumps(value)
                for key, value in stated.items()}  # fmt: skip

    def about(self, key: str) -> str:
        """An entry of [about]; empty if the plan leaves it out."""
        return str(self.manifest.get("about", {}).get(key) or "")

    def column(self, name: str) -> Mapping[str, Any]:
        """What the manifest states of a column of the source."""
        return dict(self.manifest.get("columns", {}).get(name, {}))


def media_type_of(name: str, data: tuple[DataFile, ...] = ()) -> str:
    """The media type of a file of the release, before it was compressed."""
    formats = {each.name: each.format for each in data}
    return _MEDIA[formats[name] if name in formats else name[name.rindex(".") :]]


def without_nothing(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same without keys that hold nothing."""
    # False and 0 equal none of these, so they stay.
    return {key: value for key, value in document.items() if value not in ("", [], {}, None)}
