"""[purpose]: what a release is for, which decides what its columns are worth."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from crowdcover.kinds.columns import Column
from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.section import PlanError, Section
from crowdcover.kinds.table.layout import list_released_columns

LEAST_WEIGHT = 0.1  # of the greatest: a column that tells nothing is still worth something
MOST_LEARNT_FROM = 0.5  # of the people: a release of fewer is not one of the table
MILLION = 10**6
_AND = " x "  # between the columns of a margin
_LEARN = (
    "learn it from a file of other people by purpose.path, or from a part of the people that is "
    "not released by purpose.share"
)
_TELLS = (
    "the weights in the codebook then tell, to two digits, how much each column tells of "
    "{column!r} among the people of the source"
)

Learnt = Literal["file", "share", "released"]


class PurposeSection(Section):
    """[purpose].

    Attributes
    ----------
    predict : a column that readers will predict; columns that tell more of it are masked less.
    margins : tables of counts that readers will make, such as "age x sex"; columns that are in more
        of them are masked less.
    path : with predict: a file of other people that says how much each column tells.
    share : with predict: the share of the people that says it instead, and is not released.
    allow_released : with predict: the people of the source may say it, who are released.
    """

    predict: str | None = None
    margins: Annotated[list[str], Field(min_length=1)] | None = None
    path: str | None = None
    share: Annotated[float, Field(gt=0, le=MOST_LEARNT_FROM)] | None = None
    allow_released: bool = False

    def type_purpose(self, columns: tuple[Column, ...]) -> "Purpose":
        """The checked section; refused: names that [columns] does not know, and two answers."""
        if (self.predict is None) == (self.margins is None):
            raise PlanError("[purpose] needs either predict, a column, or margins, a list")
        answers: dict[Learnt, bool] = {
            "file": self.path is not None,
            "share": self.share is not None,
            "released": self.allow_released,
        }
        stated: list[Learnt] = [answer for answer, given in answers.items() if given]
        if self.margins is not None:
            if stated:
                raise PlanError(
                    "purpose.path, share and allow_released belong to purpose.predict; margins "
                    "need no data to learn from"
                )
            return Purpose(margins=tuple(_parse_margin(each, columns) for each in self.margins))
        assert self.predict is not None
        _require_column("predict", self.predict, columns)
        if len(stated) > 1:
            raise PlanError("purpose.path, share and allow_released exclude each other; state one")
        if not stated:
            raise PlanError(
                "purpose.predict: how much a column tells must be learnt from somebody; "
                f"{_LEARN}. By purpose.allow_released = true it is learnt from the people of the "
                f"source: {_TELLS.format(column=self.predict)}"
            )
        return Purpose(predict=self.predict, learnt=stated[0], share=self.share, path=self.path)


@dataclass(frozen=True)
class Purpose:
    """What a plan says of the use of its release: either `predict` or `margins`.

    Attributes
    ----------
    predict : str, optional
        The column to predict.
    margins : tuple of tuples of str
        The columns of each table of counts.
    learnt : {"file", "share", "released"}, optional
        From whom it is learnt how much each column tells of `predict`.
    share : float, optional
        Of the people that are learnt from, and not released.
    path : str, optional
        Of the file of others.
    """

    predict: str | None = None
    margins: tuple[tuple[str, ...], ...] = ()
    learnt: Learnt | None = None
    share: float | None = None
    path: str | None = None

    @property
    def millionths(self) -> int:
        """Of the people that are learnt from, and not released; 0 if all are released."""
        # A whole number, so that maker and auditor find the same rows without rounding.
        return 0 if self.share is None else max(1, round(self.share * MILLION))

    @property
    def weights_of_margins(self) -> Mapping[str, float]:
        """In how many margins each column is, of the greatest number."""
        names = [name for margin in self.margins for name in margin]
        times = {name: names.count(name) for name in names}
        return {name: of / max(times.values()) for name, of in times.items()}

    def state(self) -> dict[str, Any]:
        """As the manifest states it."""
        if self.margins:
            return {"margins": [list(margin) for margin in self.margins]}
        share = {} if self.share is None else {"share": self.share}
        return {"predict": self.predict, "learnt": self.learnt, **share}


def weigh_columns(columns: tuple[Column, ...], weights: Mapping[str, float]) -> tuple[Column, ...]:
    """Return the columns, each quasi-identifier's weight times that which its use gives it.

    What `weights` does not name has the least weight.
    """
    return tuple(
        column
        if column.spec is None
        else replace(
            column,
            spec=replace(
                column.spec,
                weight=column.spec.weight * max(LEAST_WEIGHT, weights.get(column.name, 0.0)),
            ),
        )
        for column in columns
    )


def _parse_margin(text: str, columns: tuple[Column, ...]) -> tuple[str, ...]:
    """The columns of a margin such as "age x sex"; a name may hold " x " itself."""
    known = {column.name for column in columns}
    # The whole text first: it may be the name of one column.
    names = (text,) if text in known else tuple(name.strip() for name in text.split(_AND))
    for name in names:
        _require_column("margins", name, columns)
    if len(set(names)) < len(names):
        raise PlanError("purpose.margins: a margin names a column twice; name it once")
    if not any(column.name in names and column.role == "quasi" for column in columns):
        raise PlanError(
            "purpose.margins: a margin has no quasi-identifier, so nothing in it is masked; leave "
            "it out"
        )
    return names


def _require_column(key: str, name: str, columns: tuple[Column, ...]) -> None:
    released = [column.name for column in list_released_columns(columns)]
    if name not in released:
        raise PlanError(
            f"purpose.{key} names a column that the release does not show; allowed: "
            + ", ".join(released)
            + did_you_mean(name, released)
        )
