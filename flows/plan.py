"""The release plan: what a person typed in TOML, typed, frozen and checked.

Refusals name the key and what is allowed there, never a value.
"""

import dataclasses
import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from anon_core.anonymizers import ANONYMIZERS, Anonymizer
from anon_core.demands import Demand
from anon_core.errors import AnonymityError, InputError
from anon_core.records import ColumnSpec
from tasks.sources import Column, Role, Source
from tasks.storage import write_private

UNITS = {"b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 10**3, "mb": 10**6, "gb": 10**9}
SQLITE = "sqlite:///"
QUASI_ONLY = ("bins", "encoding", "order", "missing", "weight")


class PlanError(AnonymityError):
    """The plan cannot be followed as it is written."""


class Section(BaseModel):
    """A table of the plan: no unknown keys, no change after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True, populate_by_name=True)


class SourceSection(Section):
    """[source]: a file, or a database and a query."""

    path: str | None = None
    uri: str | None = None
    query: str | None = None
    header: bool = True
    separator: str = ","
    missing: list[str] = []


class ColumnSection(Section):
    """[columns.<name>]."""

    role: Role
    kind: Literal["numeric", "date", "categorical", "binary"] | None = None
    bins: Literal["deciles", "none"] | dict[Literal["quantiles", "edges"], int | list[float]] | None = None
    encoding: Literal["one-hot", "ordinal"] | None = None
    order: list[str] | None = None
    missing: Literal["category", "refuse", "all-hidden", "drop"] | None = None
    weight: Annotated[float, Field(gt=0)] | None = None
    format: str | None = None


class PrivacySection(Section):
    """[privacy]."""

    k: int | dict[str, Any]
    infeasible: Literal["refuse", "drop"] = "refuse"


class ComputeSection(Section):
    """[compute]: where and within what it runs; never changes the release."""

    engine: Literal["local"] = "local"
    threads: Annotated[int, Field(ge=0)] = 0
    memory: str = "4GiB"


class ChecksSection(Section):
    """[checks]: what else a release must reach to be published."""

    min_utility: Annotated[float, Field(ge=0, le=1)] = 0.0


class PublishSection(Section):
    """[publish]."""

    path: str = "releases"
    vault: str = "vault"
    formats: Annotated[list[Literal["parquet", "csv"]], Field(min_length=1)] = ["parquet", "csv"]
    allow_second_release: bool = False


def _release_name(value: Any) -> Any:
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", value):
        raise ValueError("must be letters, digits, '.', '_' and '-' only: it becomes a folder")
    return value


class ReleasePlan(Section):
    """The whole plan. `folder` is where its relative paths start."""

    name: Annotated[str, BeforeValidator(_release_name)]
    source: SourceSection
    columns: Annotated[dict[str, ColumnSection], Field(min_length=1)]
    privacy: PrivacySection
    anonymizer: dict[str, Any] = {"name": "adaptive"}
    compute: ComputeSection = ComputeSection()
    checks: ChecksSection = ChecksSection()
    publish: PublishSection = PublishSection()

    @classmethod
    def load(cls, path: Path, overrides: Sequence[str] = ()) -> "ReleasePlan":
        """Read a plan; `overrides` are key.path=value. Paths in the file start at its folder, others where one stands."""
        try:
            document = _parse(path)
        except OSError:
            raise PlanError(f"the plan {path} cannot be read; give the path of a TOML file") from None
        except UnicodeDecodeError:
            raise PlanError(f"the plan {path} is not UTF-8 text") from None
        except ValueError as error:
            place = re.search(r"\(at .*\)", str(error))
            raise PlanError(f"the plan {path} is not TOML {place[0] if place else ''}".rstrip()) from None
        publish = document.setdefault("publish", {})
        if isinstance(publish, dict):
            document["publish"] = {"path": "releases", "vault": "vault", **publish}
        _anchor(document, path.resolve().parent)
        for override in overrides:
            addition = _parse_override(override)
            _anchor(addition, Path.cwd())
            document = _merged(document, addition)
        return cls.of(document)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "ReleasePlan":
        """Check a parsed plan."""
        try:
            plan = cls.model_validate(dict(document))
        except ValidationError as error:
            raise PlanError(_explain(error)) from None
        try:
            _ = plan.table_source, plan.table_columns, plan.demand, plan.maker, plan.memory_bytes
        except InputError as error:
            raise PlanError(str(error)) from None
        if not plan.quasi:
            raise PlanError("no column has role = 'quasi'; name at least one quasi-identifier")
        k_column = plan.demand.source_column
        if k_column is not None and k_column not in plan.columns:
            raise PlanError("privacy.k names a column that [columns] does not; allowed: " + ", ".join(plan.columns))
        return plan

    def check_header(self, found: Sequence[str] | int) -> None:
        """Compare the named columns with those of the source (or their number, where the file has no header)."""
        if isinstance(found, int):
            if found != len(self.columns):
                raise PlanError(
                    f"[columns] names {len(self.columns)} columns, the source has {found}; without a header each needs a name, in order"
                )
            return
        unnamed = [name for name in found if name not in self.columns]
        unknown = [name for name in self.columns if name not in found]
        if unnamed:
            raise PlanError(
                f"columns of the source that the plan does not name: {', '.join(unnamed)}; "
                "give each a role: identifier, quasi, sensitive, keep or drop"
            )
        if unknown:
            raise PlanError(f"columns of the plan that the source does not have: {', '.join(unknown)}; allowed: {', '.join(found)}")

    @property
    def table_source(self) -> Source:
        """[source] for the reader."""
        section = self.source
        if (section.path is None) == (section.uri is None):
            raise PlanError("source needs either 'path' or 'uri' with 'query'")
        if (section.uri is None) != (section.query is None):
            raise PlanError("source.uri and source.query go together")
        if section.uri is not None and not section.uri.startswith((SQLITE, "postgresql://", "postgres://")):
            raise PlanError("source.uri must start with sqlite:/// or postgresql://")
        if len(section.separator) != 1:
            raise PlanError("source.separator must be one character")
        return Source(
            path=None if section.path is None else Path(section.path),
            uri=section.uri,
            query=section.query,
            header=section.header,
            separator=section.separator,
            missing=tuple(section.missing),
        )

    @property
    def table_columns(self) -> tuple[Column, ...]:
        """[columns] for the reader, in the plan's order."""
        return tuple(_column(name, section) for name, section in self.columns.items())

    @property
    def quasi(self) -> tuple[Column, ...]:
        """The quasi-identifiers."""
        return tuple(column for column in self.table_columns if column.role == "quasi")

    @property
    def demand(self) -> Demand:
        """[privacy] k."""
        k = self.privacy.k
        if isinstance(k, int):
            return Demand(constant=k, infeasible=self.privacy.infeasible)
        allowed = {"column", "by", "levels", "default", "uniform", "seed"}
        if unknown := sorted(set(k) - allowed):
            raise PlanError(f"unknown key privacy.k.{unknown[0]}; allowed: {', '.join(sorted(allowed))}")
        kinds: dict[str, Any] = {"column": str, "by": str, "levels": dict, "default": int, "uniform": list, "seed": int}
        for key, value in k.items():
            numbers = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
            if type(value) is not kinds[key] or any(type(number) is not int for number in numbers):
                raise PlanError(f"privacy.k.{key} must be {kinds[key].__name__}" + (" of whole numbers" if numbers else ""))
        options = dict(k)
        if "uniform" in options:
            if len(options["uniform"]) != 2:
                raise PlanError("privacy.k.uniform must be [lowest, highest]")
            options["uniform"] = tuple(options["uniform"])
        return Demand(**options, infeasible=self.privacy.infeasible)

    @property
    def maker(self) -> Anonymizer:
        """[anonymizer] as an anonymizer with its settings."""
        settings = dict(self.anonymizer)
        name = settings.pop("name", "adaptive")
        if name not in ANONYMIZERS:
            raise PlanError(f"anonymizer.name is not known; allowed: {', '.join(sorted(ANONYMIZERS))}")
        fields = {field.name: field for field in dataclasses.fields(ANONYMIZERS[name])}
        for key, value in settings.items():
            if key not in fields:
                raise PlanError(f"unknown key anonymizer.{key}; allowed: name, {', '.join(fields)}")
            wanted: tuple[type, ...] = {float: (int, float), int: (int,)}.get(type(fields[key].default), (str,))  # type: ignore[call-overload]
            if type(value) not in wanted:
                raise PlanError(f"anonymizer.{key} must be {' or '.join(kind.__name__ for kind in wanted)}")
        return ANONYMIZERS[name](**settings)

    @property
    def maker_settings(self) -> dict[str, Any]:
        """The anonymizer's name and all its settings, for the manifest."""
        return {"name": self.anonymizer.get("name", "adaptive"), **dataclasses.asdict(self.maker)}  # type: ignore[call-overload]

    @property
    def memory_bytes(self) -> int:
        """compute.memory in bytes."""
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", self.compute.memory, flags=re.IGNORECASE)
        if found is None or found[2].lower() not in UNITS:
            raise PlanError("compute.memory must be a number and a unit, e.g. '4GiB'; units: " + ", ".join(UNITS))
        return int(float(found[1]) * UNITS[found[2].lower()])

    def freeze(self, folder: Path) -> Path:
        """Write the plan as it was understood, overrides and all, into a folder of its owner; returns the file."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = self.model_dump_json(indent=2, exclude_unset=True).encode()
        path = folder / f"{self.name}-{hashlib.sha256(content).hexdigest()[:16]}.json"
        write_private(path, content)
        return path

    @property
    def sha256(self) -> str:
        """Hash of everything that shapes the release: not where it runs, is read from, or is written to."""
        shaping = self.model_dump(
            exclude={
                "compute": True,
                "checks": True,
                "source": {"path", "uri"},
                "publish": {"path", "vault", "allow_second_release"},
            }
        )
        shaping["order"] = list(self.columns)
        return hashlib.sha256(json.dumps(shaping, sort_keys=True).encode()).hexdigest()


def _column(name: str, section: ColumnSection) -> Column:
    where = f"columns.{name}"
    stated = section.model_fields_set
    if section.format is not None and section.kind != "date":
        raise PlanError(f"{where}.format belongs to kind = 'date'")
    if section.role != "quasi":
        if idle := [key for key in QUASI_ONLY if key in stated]:
            raise PlanError(f"{where}.{idle[0]} belongs to role = 'quasi', this column has role = {section.role!r}")
        return Column(name=name, role=section.role, kind=section.kind, date_format=section.format or "%Y-%m-%d")
    if section.kind is None:
        raise PlanError(f"{where}: role = 'quasi' needs a kind: numeric, date, categorical or binary")
    counted = section.kind in ("numeric", "date")
    if section.bins is not None and not counted:
        raise PlanError(f"{where}.bins belongs to kind = 'numeric' or 'date'")
    if section.encoding is not None and section.kind == "binary":
        raise PlanError(f"{where}.encoding: a binary column is one bit; leave it out")
    if section.order is not None and section.kind != "categorical":
        raise PlanError(f"{where}.order belongs to kind = 'categorical'")
    spec = ColumnSpec(
        name=name,
        kind=section.kind,
        encoding=section.encoding or ("ordinal" if counted else "one-hot"),
        bins=_bins(where, section.bins) if counted else None,
        order=tuple(section.order or ()),
        missing=section.missing or "category",
        weight=section.weight or 1.0,
    )
    return Column(name=name, role="quasi", kind=section.kind, date_format=section.format or "%Y-%m-%d", spec=spec)


def _bins(where: str, bins: Any) -> int | tuple[float, ...] | None:
    if bins in (None, "deciles"):
        return 10
    if bins == "none":
        return None
    if len(bins) == 1:
        if isinstance(bins.get("quantiles"), int):
            return int(bins["quantiles"])
        if isinstance(bins.get("edges"), list):
            return tuple(float(edge) for edge in bins["edges"])
    raise PlanError(f"{where}.bins must be 'deciles', 'none', {{quantiles = number}} or {{edges = [numbers]}}")


def _parse(path: Path) -> dict[str, Any]:
    """A TOML plan, or one that was frozen as JSON."""
    text = path.read_text(encoding="utf-8")
    return dict(json.loads(text)) if path.suffix == ".json" else tomllib.loads(text)


def _anchor(document: dict[str, Any], folder: Path) -> None:
    """Make the paths of a plan absolute, so that it means the same wherever it runs."""
    for section, key in (("source", "path"), ("publish", "path"), ("publish", "vault")):
        table = document.get(section)
        if isinstance(table, dict) and isinstance(table.get(key), str):
            table[key] = os.path.abspath(folder / Path(table[key]).expanduser())
    source = document.get("source")
    if isinstance(source, dict) and str(source.get("uri", "")).startswith(SQLITE):
        source["uri"] = SQLITE + os.path.abspath(folder / str(source["uri"]).removeprefix(SQLITE))


def _parse_override(override: str) -> dict[str, Any]:
    key, equals, value = override.partition("=")
    if not equals or not key.strip():
        raise PlanError("--set takes key.path=value, e.g. --set privacy.k=10")
    for text in (value, json.dumps(value)):
        try:
            return tomllib.loads(f"{key} = {text}")
        except tomllib.TOMLDecodeError:
            continue
    raise PlanError("--set: the key is not a TOML key path; quote parts with dots or blanks: columns.\"a b\".role='keep'")


def _merged(base: Mapping[str, Any], addition: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in addition.items():
        below = result.get(key)
        result[key] = _merged(below, value) if isinstance(below, dict) and isinstance(value, dict) and key != "k" else value
    return result


def _explain(error: ValidationError) -> str:
    """The first complaint of each key in plain words."""
    lines = []
    for item in error.errors(include_input=False, include_url=False):
        where = ".".join(str(part) for part in item["loc"] if not str(part).startswith(("literal[", "dict[", "list[", "function-")))
        if item["type"] == "extra_forbidden":
            lines.append(f"unknown key {where}; allowed: {', '.join(_allowed(item['loc'][:-1]))}")
        elif item["type"] == "missing":
            lines.append(f"{where} is missing; it is required")
        else:
            lines.append(f"{where}: {item['msg'][0].lower()}{item['msg'][1:]}")
    return "; ".join(dict.fromkeys(lines))


def _allowed(location: Sequence[int | str]) -> list[str]:
    model: type[BaseModel] = ReleasePlan
    sections: dict[str, type[BaseModel]] = {
        "source": SourceSection,
        "columns": ColumnSection,
        "privacy": PrivacySection,
        "compute": ComputeSection,
        "checks": ChecksSection,
        "publish": PublishSection,
    }
    if location:
        model = sections[str(location[0])]
    return list(model.model_fields)
