"""The kind "table": one record a row, quasi-identifiers masked."""

from collections.abc import Mapping, Sequence
from typing import Any

from kinds.base import Kind
from kinds.table.column_section import BINS
from kinds.table.layout import FILES
from kinds.table.plan import SECTIONS, K, TablePlan


class Table(Kind):
    """See `kinds.base.Kind`."""

    name = "table"
    anonymizer = "adaptive"
    sections = SECTIONS
    encoded = "binarize"  # the first release's name: vaults hold it
    checked = ("ingested", "binarized", "released")
    files = FILES

    def plan(self, sections: Any) -> TablePlan:
        """[source], [columns], [privacy] and [checks] together."""
        return TablePlan.of(sections)

    def explain(self, location: Sequence[str]) -> str | None:
        """The forms of k and of bins, which pydantic would list one by one."""
        if list(location[:2]) == ["privacy", "k"]:
            return f"privacy.k {K}"
        if location[0] == "columns" and list(location[2:3]) == ["bins"]:
            return f"{'.'.join(location[:3])} {BINS}"
        return None

    def replaces(self, place: tuple[str, ...]) -> bool:
        """The forms of bins exclude each other."""
        return len(place) == 3 and place[0] == "columns" and place[2] == "bins"

    def shaping(self, sections: Any) -> Mapping[str, Any]:
        """The order of the columns; hashes of plans before kinds stay as they were."""
        return {"order": list(sections.columns)}


KIND = Table()
