"""A plan as an object: the sections of its TOML, to look at and to edit."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import tomlkit
from tomlkit.exceptions import ConvertError, TOMLKitError

from anon_core.errors import InputError
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.frames import require_columns
from crowdcover.kinds.section import PlanError
from crowdcover.kinds.table.starter.values import FEW
from crowdcover.storage.source.frames import FrameReading
from crowdcover.storage.source.sources import Source

SOURCE = "source.parquet"  # where the plan of a frame says that its rows lie, once they are saved
ROLES = ("identifier", "quasi", "sensitive", "keep", "drop")
# Kinds of quasi-identifiers by the types of their values.
_BINARY, _DATE, _NUMERIC, _CATEGORICAL = "binary", "date", "numeric", "categorical"


class Plan:
    """A plan of a table: `plan["privacy"]["k"] = 10` edits it, `str(plan)` is its TOML.

    Comments and the order of keys stay as they are. What a starter plan leaves to a person stands
    in `questions`; a plan with an open question is refused.

    Parameters
    ----------
    toml : str
        The plan as it stands in a file.

    Raises
    ------
    PlanError
        The text is no TOML.
    """

    def __init__(self, toml: str) -> None:
        try:
            self._document = tomlkit.parse(toml)
        except TOMLKitError as error:
            line = getattr(error, "line", None)
            place = "" if line is None else f", see line {line}"
        else:
            return
        # Behind the handler: a parser's error quotes the plan, and would be the context.
        raise PlanError(f"the plan is not TOML{place}; texts need quotes, tables [brackets]")

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Plan":
        """The plan of sections that are given as mappings; numbers may be numpy's."""
        try:
            return cls(tomlkit.dumps(_as_plain(document)))
        except ConvertError:  # it quotes the value
            refusal = "a plan holds texts, numbers, booleans, dates, lists and mappings only"
        raise PlanError(refusal)

    @classmethod
    def read(cls, path: str | Path) -> "Plan":
        """Read a plan file."""
        try:
            return cls(Path(path).read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError):
            refusal = f"the plan {path} cannot be read; give the path of a TOML file"
        raise PlanError(refusal)

    def write(self, path: str | Path) -> None:
        """Write the plan as TOML, as the command `crowdcover release` takes it."""
        Path(path).write_text(self.to_toml(), encoding="utf-8")

    def to_toml(self) -> str:
        """The plan as TOML, with its comments."""
        return tomlkit.dumps(self._document)

    def to_dict(self) -> dict[str, Any]:
        """The sections as plain dictionaries."""
        return self._document.unwrap()

    @property
    def questions(self) -> list[str]:
        """The open questions, as places such as `privacy.k`: edit, then delete `decide`."""
        return [".".join((*place, mark)) for place, mark in _list_marks(self.to_dict())]

    @property
    def roles(self) -> dict[str, str]:
        """The role of each column."""
        columns = self.to_dict().get("columns", {})
        return {name: str(each.get("role")) for name, each in columns.items()}

    def settle(self, **privacy: Any) -> "Plan":
        """Accept what the plan proposes where questions are open, with these keys of [privacy].

        For those who have looked at every proposal: `plan.settle(k=10)`.

        Returns
        -------
        Plan
            Without marks; this plan stays as it is.
        """
        settled = Plan(self.to_toml())
        _remove_marks(settled._document)
        section = settled._document.setdefault("privacy", {})
        for key, value in privacy.items():
            section[key] = _as_plain(value)
        return settled

    def check(self) -> ReleasePlan:
        """The plan as the pipeline understands it; refused as the command would refuse it."""
        document = self.to_dict()
        source = document.get("source", {})
        if isinstance(source, dict) and not {"path", "uri"} & source.keys():
            document["source"] = {**source, "path": SOURCE}
        return ReleasePlan.of(document)

    def __getitem__(self, section: str) -> Any:
        return self._document[section]

    def __setitem__(self, section: str, value: Any) -> None:
        self._document[section] = value

    def __delitem__(self, section: str) -> None:
        del self._document[section]

    def __contains__(self, section: str) -> bool:
        return section in self._document

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # it can be edited

    def __str__(self) -> str:
        return self.to_toml()

    def __repr__(self) -> str:
        """Roles and open questions, no values."""
        by_role = {role: [n for n, of in self.roles.items() if of == role] for role in ROLES}
        lines = [f"  {role}: {', '.join(names)}" for role, names in by_role.items() if names]
        open_ = f"  to decide: {', '.join(self.questions)}" if self.questions else "  complete"
        return "\n".join(["<Plan", *lines, open_ + ">"])


def propose_frame_plan(frame: pl.DataFrame, name: str) -> Plan:
    """The starter plan of a frame."""
    from crowdcover.kinds.table.starter.writing import propose_plan_of

    reading = FrameReading(Source(path=Path(SOURCE)), frame)
    plan = Plan(propose_plan_of(reading, frame.columns, name))
    plan["source"]["path"] = SOURCE
    return plan


def build_frame_plan(
    frame: pl.DataFrame,
    roles: Mapping[str, Sequence[str]],
    columns: Mapping[str, Mapping[str, Any]],
    privacy: Mapping[str, Any],
    anonymizer: Mapping[str, Any],
) -> Plan:
    """The plan of a frame whose roles are stated; what has no role is dropped.

    `roles` has the names of columns by role, `columns` further keys of [columns] by column, and
    `privacy` and `anonymizer` are the sections. Quasi-identifiers get a kind by their type, and
    numbers of few values are no groups, as in a starter plan. A column with `point` is made of two
    others.
    """
    given = {name: role for role, names in roles.items() for name in names}
    if twice := sorted({n for n in given if sum(n in names for names in roles.values()) > 1}):
        raise InputError(f"{', '.join(twice)} has two roles; name each column once")
    made = [name for name, stated in columns.items() if "point" in stated]
    require_columns(frame, sorted((given.keys() | columns.keys()) - {*made}), "the frame")
    sections = {}
    for name in (*frame.columns, *made):
        stated = dict(columns.get(name, {}))
        role = given.get(name, stated.pop("role", "quasi" if name in made else "drop"))
        typed = _type_quasi(frame[name], stated) if role == "quasi" and name not in made else {}
        sections[name] = {"role": role, **typed, **stated}
    return Plan.of(
        {
            "name": "frame",
            "source": {"path": SOURCE},
            "columns": sections,
            "privacy": dict(privacy),
            **({"anonymizer": dict(anonymizer)} if anonymizer else {}),
        }
    )


def _type_quasi(values: pl.Series, stated: Mapping[str, Any]) -> dict[str, str]:
    """What a quasi-identifier gets where nothing else is stated."""
    kind = _choose_kind(values.dtype)
    numeric = stated.get("kind", kind) == _NUMERIC and "hierarchy" not in stated
    few = numeric and values.dtype.is_numeric() and values.alias("").drop_nulls().n_unique() <= FEW
    return {"kind": kind, **({"bins": "none"} if few else {})}


def _choose_kind(dtype: pl.DataType) -> str:
    """The kind of a quasi-identifier whose values have this type."""
    if dtype == pl.Boolean:
        return _BINARY
    if dtype == pl.Date or isinstance(dtype, pl.Datetime):
        return _DATE
    return _NUMERIC if dtype.is_numeric() else _CATEGORICAL


def _as_plain(value: Any) -> Any:
    """A value of a plan without numpy's types and paths, which TOML does not know."""
    if isinstance(value, Mapping):
        return {key: _as_plain(each) for key, each in value.items()}
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_as_plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def _list_marks(table: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if not isinstance(table, dict):
        return
    for key, value in table.items():
        if key == "decide" and isinstance(value, list):
            yield from ((place, str(mark)) for mark in value)
        else:
            yield from _list_marks(value, (*place, key))


def _remove_marks(table: Any) -> None:
    if isinstance(table, dict):
        table.pop("decide", None)
        for each in table.values():
            _remove_marks(each)
