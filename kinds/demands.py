"""The k of each user or vertex, where a table beside the source states it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.demands import MOST_K
from crowdcover.kinds.columns import convert_to_texts, respell_identifiers
from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.section import ALLOWED, PlanError, Schema, table_schema
from crowdcover.storage.source.reading import Reading


@dataclass(frozen=True, kw_only=True)
class Demands:
    """Columns of the table that lies beside the source: the name of each, and its k."""

    name: str
    column: str


def k_schema(key: str) -> Schema:
    """The JSON Schema of privacy.k; `key` is the key in braces that names the column of names."""
    text = {"type": "string"}
    beside = table_schema({"path": text, key: text, "column": text}, ["path"])
    return {"anyOf": [{"type": "integer", "minimum": 1}, beside]}


def parse_k_setting(
    k: int | dict[str, str], key: str, name: str | None, form: str
) -> tuple[int | Demands, str | None]:
    """privacy.k as typed, and the path of the table that it stands in.

    `key` is the key in braces that names the column of names, `name` its default. `form` says what
    k must be.
    """
    if isinstance(k, int):
        return k, None
    allowed = ("path", key, "column")
    if unknown := [each for each in k if each not in allowed]:
        near = did_you_mean(unknown[0], allowed)
        raise PlanError(f"unknown key privacy.k.{unknown[0]}; allowed: {', '.join(allowed)}{near}")
    if "path" not in k:
        raise PlanError(f"privacy.k {form}")
    return Demands(name=k.get(key, name or ""), column=k.get("column", "k")), k["path"]


def shape_k(k: int | dict[str, str]) -> Any:
    """privacy.k in the plan's hash: of a table only that there is one.

    Its content is in the fingerprint of the source.
    """
    return k if isinstance(k, int) else {**k, "path": True}


def count_doubled(names: pl.Series) -> int:
    """Names that stand there again; a missing name is none."""
    stated = names.drop_nulls()
    return len(stated) - stated.n_unique()


def refuse_level(k: int | Demands, allow_unprotected: bool) -> None:
    """Refuse one k for everyone that is no level, or that protects nobody."""
    if isinstance(k, Demands):
        return
    if not 1 <= k <= MOST_K:
        raise PlanError(f"privacy.k must be at least 1 and at most {MOST_K}")
    if k == 1 and not allow_unprotected:
        raise PlanError(f"privacy.k = 1 protects nobody; demand at least 2, or {ALLOWED}")


def read_demands(
    beside: Reading, demands: Demands, whom: str, missing: Sequence[str]
) -> pl.DataFrame:
    """The table as (name: String, spelt: String, k: Int64), each name once.

    `name` is in its one spelling; `whom` is what a name stands for.
    """
    try:
        frame = beside.columns((), [demands.name, demands.column])
    except InputError as error:
        raise InputError(f"privacy.k.path: {error}") from None
    named = respell_identifiers(frame[demands.name], missing)
    # What is no whole number becomes null, and counts as wrong below.
    k = convert_to_texts(frame[demands.column], ()).cast(pl.Int64, strict=False)
    wrong = int(((k < 1) | (k > MOST_K) | k.is_null() | named["name"].is_null()).sum())
    doubled = count_doubled(named["name"])
    if wrong or doubled:
        raise InputError(
            f"of {frame.height} demands in privacy.k.path {wrong} have no {whom} or no whole "
            f"number from 1 to {MOST_K}, and {doubled} are of a {whom} who has another; correct "
            "them"
        )
    return named.with_columns(k=k)


def find_demanded_k(names: pl.Series, demands: pl.DataFrame, whom: str) -> NDArray[np.int32]:
    """The k of each name; refused: a name without one. The makers' side."""
    frame = pl.DataFrame({"name": names})
    # In the order of `names`: record i demands k[i].
    k = frame.join(demands, on="name", how="left", maintain_order="left")["k"]
    if absent := k.null_count():
        raise InputError(
            f"{absent} of {len(names)} {whom} have no k in privacy.k.path; add them there"
        )
    return k.to_numpy().astype(np.int32)


def demands_again(names: pl.Series, demands: pl.DataFrame, whom: str) -> NDArray[np.int32]:
    """The k of each name as the audit finds it."""
    # No join, unlike the makers: a fault in one of the two ways does not hide in the other.
    held = dict(demands.select("name", "k").rows())
    found = [held.get(name, 0) for name in names]  # no demand is 0
    if 0 in found:
        raise InputError(
            f"{found.count(0)} of {len(names)} {whom} have no k in privacy.k.path; "
            "restore the table that the release was made with"
        )
    return np.array(found, dtype=np.int32)
