"""The setting of methods that can make a table in parts, and what runs them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from anon_core.errors import InputError

ROOM = "anon_core.anonymizers.in_parts"


@dataclass(frozen=True, kw_only=True)
class Divided:
    """A method of tables that engines may run part by part.

    Attributes
    ----------
    part : int
        How many records a part of the table holds at least; near ones are in one part, and each
        part hides among itself. 0: the table is one part. See `in_parts.cut`. `anonymize` takes
        what it is given as one part; engines cut.
    """

    part: int = field(default=0, metadata={"before": 0})

    def __post_init__(self) -> None:
        if self.part < 0:
            raise InputError("part must be a number of records, or 0 for one part")

    @property
    def reads_numbers(self) -> bool:
        """Whether it reads the numbers of levels, so that workers must get them, too."""
        return str(getattr(self, "loss", "rank")) != "rank"  # without the setting ranks count

    @property
    def records_of_part(self) -> int:
        """How many records a part holds at least; 0 for one part."""
        return self.part

    def take_as_one_part(self, _records: int) -> Self:
        """Return the method of each part of a table of so many records."""
        return replace(self, part=0) if self.records_of_part else self

    @property
    def engines(self) -> Mapping[str, str]:
        """Any engine runs parts; one part alone is made where it is asked for, or on every rank."""
        spread = {"dask": f"{ROOM}.farmed", "mpi": f"{ROOM}.ranked"}
        return {"local": f"{ROOM}.threaded" if self.records_of_part else "", **spread}
