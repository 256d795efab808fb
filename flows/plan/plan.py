"""The release plan: what a person typed in TOML, typed, frozen and checked.

Refusals name the key and what is allowed there, never a value.
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from anon_core.anonymizers import ANONYMIZERS, Anonymizer
from anon_core.errors import InputError, LimitError
from anon_core.specs.demands import Demand
from flows.plan.checks import ChecksSection
from flows.plan.compute import ComputeSection
from flows.plan.document import K_FORMS, PlanError, read_document
from flows.plan.publishing import PublishSection
from kinds.section import Section, Unshown
from kinds.table.columns import Column
from kinds.table.layout import KEY, released_columns
from kinds.table.plan import BINS, ColumnSection
from tasks.source.sources import SQLITE, Source
from tasks.vault.storage import write_private

__all__ = ["PlanError", "ReleasePlan"]

UNITS = {"b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 10**3, "mb": 10**6, "gb": 10**9}
K = "must be a whole number, {uniform = [lo, hi], seed = s}, {column = name} or {by = name, levels = {...}, default = number}"

WORDS = {  # for what pydantic says to programmers
    "string_type": "be a text",
    "bool_type": "be true or false",
    "int_type": "be a whole number",
    "float_type": "be a number",
    "list_type": "be a list",
    "dict_type": "be a table",
    "model_type": "be a table",
    "too_short": "not be empty",
    "string_pattern_mismatch": "be letters, digits and signs that job scripts take as they are: . _ - / : , = @ % +",
}
MOST_NAME = 200  # with the hash of a frozen plan still the name of a file
NUMBER = (int, float)
SETTINGS: dict[type, tuple[tuple[type, ...], str]] = {
    float: (NUMBER, "float_type"),
    int: ((int,), "int_type"),
    bool: ((bool,), "bool_type"),
    str: ((str,), "string_type"),
}


class SourceSection(Section):
    """[source]: a file, or a database and a query."""

    path: str | None = None
    uri: Unshown[str | None] = None
    query: Unshown[str | None] = None
    header: bool = True
    separator: str = ","
    missing: Unshown[list[str]] = []


class PrivacySection(Section):
    """[privacy]."""

    k: Unshown[int | dict[str, Any]]
    infeasible: Literal["refuse", "drop"] = "refuse"


def _release_name(value: Any) -> Any:
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", value):
        raise ValueError(
            "must be letters, digits, '.', '_' and '-' only, a letter or digit first: it becomes a folder"
        )
    if isinstance(value, str) and len(value) > MOST_NAME:
        raise ValueError(f"must be at most {MOST_NAME} characters long: it becomes a folder")
    return value


class ReleasePlan(Section):
    """The whole plan; by the time it is checked its paths are absolute."""

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
        return cls.of(read_document(path, overrides))

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "ReleasePlan":
        """Check a parsed plan."""
        try:
            plan = cls.model_validate(dict(document))
            plan._check()
        except ValidationError as error:
            refusal = _explain(error)
        except (InputError, LimitError) as error:
            refusal = str(error)
        else:
            return plan
        raise PlanError(refusal)

    def _check(self) -> None:
        """Everything that the types of the keys do not say."""
        _ = self.table_source, self.table_columns, self.maker, self.memory_bytes
        self.compute.check(self.maker)
        self.checks.check({name: section.role for name, section in self.columns.items()})
        if not self.quasi:
            raise PlanError("no column has role = 'quasi'; name at least one quasi-identifier")
        released = {column.name for column in released_columns(self.table_columns)}
        if KEY in released:
            raise PlanError(
                f"columns.{KEY}: a release has a column of this name already; rename it in the source or drop it"
            )
        if "" in released:
            raise PlanError(
                'columns."": a released column needs a name; give it one in the source or drop it'
            )
        self.publish.check()
        k_column = self.demand.source_column
        if k_column is not None and k_column not in self.columns:
            raise PlanError(
                "privacy.k names a column that [columns] does not; allowed: "
                + ", ".join(self.columns)
            )

    def check_engine(self) -> None:
        """Refuse an engine that is not installed where the plan is to run."""
        if self.compute.engine == "dask" and find_spec("distributed") is None:
            raise PlanError(
                "compute.engine = 'dask' needs Dask, which is not installed: pip install 'crowdcover[dask]'"
            )

    def check_header(self, found: Sequence[str] | int) -> None:
        """Compare the named columns with those of the source (or their number, where the file has no header)."""
        if isinstance(found, int):
            if found != len(self.columns):
                raise PlanError(
                    f"[columns] names {len(self.columns)} columns, the source has {found}; "
                    "without a header each needs a name, in order"
                )
            return
        if self.table_source.file_kind == "csv" and not set(found) & set(self.columns):
            # What stands there may be a person's cells: their number must do.
            raise PlanError(
                f"the {len(found)} fields of the source's first row are names of none of the {len(self.columns)} columns; "
                "set source.header = false if the file has no header, else mend source.separator or [columns]"
            )
        unnamed = [name for name in found if name not in self.columns]
        unknown = [name for name in self.columns if name not in found]
        refusals = []
        if unknown:
            refusals.append(
                f"columns of the plan that the source does not have: {', '.join(unknown)}; "
                "mend the source, or take them out of [columns]"
            )
        if unnamed:
            refusals.append(
                f"columns of the source that the plan does not name: {', '.join(unnamed)}; "
                "give each a role: identifier, quasi, sensitive, keep or drop"
            )
        if refusals:
            raise PlanError("; ".join(refusals))

    @property
    def table_source(self) -> Source:
        """[source] for the reader."""
        section = self.source
        if (section.path is None) == (section.uri is None):
            raise PlanError("source needs either 'path' or 'uri' with 'query'")
        if (section.uri is None) != (section.query is None):
            raise PlanError("source.uri and source.query go together")
        if section.uri is not None and not section.uri.startswith(
            (SQLITE, "postgresql://", "postgres://")
        ):
            raise PlanError("source.uri must start with sqlite:/// or postgresql://")
        if (
            len(section.separator) != 1
            or not section.separator.isascii()
            or section.separator in '\0\r\n"'
        ):
            raise PlanError(
                "source.separator must be one ASCII character, e.g. ';' or '\\t', and no quote or line end"
            )
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
        return tuple(section.column(name) for name, section in self.columns.items())

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
        kinds: dict[str, tuple[type, str]] = {
            "column": (str, "the name of a column"),
            "by": (str, "the name of a column"),
            "levels": (dict, "a table of whole numbers"),
            "default": (int, "a whole number"),
            "uniform": (list, "[lowest, highest], two whole numbers"),
            "seed": (int, "a whole number"),
        }
        for key, value in k.items():
            if key not in kinds:
                raise PlanError(f"unknown key privacy.k.{key}; allowed: {', '.join(kinds)}")
            numbers = (
                value.values()
                if isinstance(value, dict)
                else value
                if isinstance(value, list)
                else []
            )
            wrong = type(value) is not kinds[key][0] or any(
                type(number) is not int for number in numbers
            )
            if wrong or (key == "uniform" and len(value) != 2):
                raise PlanError(f"privacy.k.{key} must be {kinds[key][1]}")
        forms = [form for form in K_FORMS if form in k]
        if len(forms) != 1:
            raise PlanError(f"privacy.k {K}")
        if idle := [key for key in k if key != forms[0] and key not in K_FORMS[forms[0]]]:
            raise PlanError(
                f"privacy.k.{idle[0]} does not belong to privacy.k.{forms[0]}; privacy.k {K}"
            )
        options: dict[str, Any] = {
            key: tuple(value) if key == "uniform" else value for key, value in k.items()
        }
        return Demand(**options, infeasible=self.privacy.infeasible)

    @property
    def maker(self) -> Anonymizer:
        """[anonymizer] as an anonymizer with its settings."""
        settings = dict(self.anonymizer)
        name = settings.pop("name", "adaptive")
        if not isinstance(name, str) or name not in ANONYMIZERS:
            raise PlanError(
                f"anonymizer.name is not known; allowed: {', '.join(sorted(ANONYMIZERS))}"
            )
        fields = {field.name: field for field in dataclasses.fields(ANONYMIZERS[name])}
        for key, value in settings.items():
            if key not in fields:
                raise PlanError(f"unknown key anonymizer.{key}; allowed: name, {', '.join(fields)}")
            wanted, words = SETTINGS[type(fields[key].default)]
            if type(value) not in wanted:
                raise PlanError(f"anonymizer.{key} must {WORDS[words]}")
            settings[key] = (
                float(str(value)) if wanted is NUMBER else value
            )  # 2 and 2.0 are one; 10**400 is inf
        try:
            return ANONYMIZERS[name](**settings)
        except InputError as error:
            refusal = f"[anonymizer] {error}"
        raise PlanError(refusal)

    @property
    def maker_settings(self) -> dict[str, Any]:
        """The anonymizer's name and all its settings: for the manifest, and for the hash."""
        return {"name": self.anonymizer.get("name", "adaptive"), **dataclasses.asdict(self.maker)}  # type: ignore[call-overload]

    @property
    def memory_bytes(self) -> int:
        """compute.memory in bytes."""
        found = re.fullmatch(
            r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*([a-z]+)\s*", self.compute.memory, flags=re.IGNORECASE
        )
        if found is None or found[2].lower() not in UNITS:
            raise PlanError(
                "compute.memory must be a number and a unit, e.g. '4GiB'; units: "
                + ", ".join(UNITS)
            )
        return int(float(found[1]) * UNITS[found[2].lower()])

    def freeze(self, folder: Path) -> Path:
        """Write the plan as it was understood, overrides and all, into a folder of its owner; returns the file."""
        for path in (
            folder.parent,
            folder,
        ):  # the mode of parents made on the way is not ours to say
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
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
                "publish": {
                    "path",
                    "vault",
                    "allow_second_release",
                    "ledger",
                    "approval",
                    "approval_timeout",
                },
            }
        )
        shaping["anonymizer"] = (
            self.maker_settings
        )  # what is written out and what is left to the default are one plan
        shaping["order"] = list(self.columns)
        return hashlib.sha256(json.dumps(shaping, sort_keys=True).encode()).hexdigest()


def _explain(error: ValidationError) -> str:
    """The first complaint of each key in plain words."""
    lines = []
    for item in error.errors(include_input=False, include_url=False):
        loc = [str(part) for part in item["loc"]]
        where = ".".join(loc)
        if item["type"] == "extra_forbidden":
            lines.append(f"unknown key {where}; allowed: {', '.join(_allowed(item['loc'][:-1]))}")
        elif item["type"] == "missing":
            lines.append(f"{where} is missing; it is required")
        elif loc[:2] == ["privacy", "k"]:
            lines.append(f"privacy.k {K}")
        elif loc[0] == "columns" and loc[2:3] == ["bins"]:
            lines.append(f"{'.'.join(loc[:3])} {BINS}")
        else:
            said = item["msg"].removeprefix("Value error, must ").removeprefix("Input should ")
            lines.append(f"{where} must {WORDS.get(item['type'], said)}")
    return "; ".join(dict.fromkeys(lines))


def _allowed(location: Sequence[int | str]) -> list[str]:
    """The keys of the table at this place; names of columns and places in lists are passed over."""
    model: type[BaseModel] = ReleasePlan
    for part in location:
        if part in model.model_fields:
            model = _table_of(model.model_fields[str(part)].annotation) or model
    return list(model.model_fields)


def _table_of(annotation: Any) -> type[BaseModel] | None:
    """The kind of table that a key holds, be it one, a list or a table of them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _table_of(part))), None)
