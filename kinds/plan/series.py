"""What a plan says of a series, and what a kind says of it without the source."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol


@dataclass(frozen=True, kw_only=True)
class Following:
    """How a plan says that records are followed over time.

    Attributes
    ----------
    record : str, optional
        The identifier column that names a record in every version. Without it all records of a
        version are new.
    person : str, optional
        The identifier column that names the person of a record; by default `record`.
    constant : tuple of str
        Carried columns in which a record's value never changes.
    short_histories : int
        People whose rows of published versions leave fewer than k histories, as the plan states.
    """

    record: str | None = None
    person: str | None = None
    constant: tuple[str, ...] = ()
    short_histories: int = 0

    @property
    def owner(self) -> str | None:
        """The column by which people ask to be withdrawn."""
        return self.person or self.record


class SeriesRules(Protocol):
    """What a kind says of [series] before any source is read.

    Attributes
    ----------
    anonymizer : str
        The anonymizer of a plan that names none: one whose crowds are apart, so that few people
        must go with those who go.
    """

    anonymizer: ClassVar[str]

    @abstractmethod
    def check(self, plan: Any, following: Following) -> None:
        """Refuse columns that [series] cannot follow."""
