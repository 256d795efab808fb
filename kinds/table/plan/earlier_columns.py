"""[columns] as 0.1.0 understood them: vaults of that time stay valid."""

from typing import Any, ClassVar

from crowdcover.kinds.table.plan.columns import ColumnSection


class EarlierColumnSection(ColumnSection):
    """The same as 0.1.0 understood it: groups of any size, written as medians."""

    shared: ClassVar[bool] = False

    @classmethod
    def of(cls, section: ColumnSection) -> ColumnSection:
        """A section as it was understood, where it states nothing that 0.1.0 did not know."""
        younger = (
            *(section.carry, section.rare, section.range, section.timezone, section.century),
            section.written or section.round is not None or section.hierarchy is not None,
        )
        if not section.is_counted or any(younger):
            return section
        grouped = {} if section.bins == "none" else {"carry": "median"}
        return cls.model_construct(section.model_fields_set, **{**dict(section), **grouped})

    def levels(self) -> dict[str, Any]:
        """Nothing: the plan's hash is that of 0.1.0."""
        return {}
