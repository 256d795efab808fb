"""Texts on what a released table tells of single values: groups of numbers, rare values."""

from kinds.table.report import facts
from reports import series
from reports.facts import Manifest
from reports.quantities import count, printable
from reports.words import Text


def describe_number_groups(manifest: Manifest) -> list[Text]:
    """How numbers are written that the plan groups; 0.1.0 wrote medians and named no column."""
    if "cells_of_one_value" not in manifest["utility"]:
        return [("Groups.", "A grouped number is published as the median of its group.")]
    least = count(manifest["privacy"]["k_max"])
    whose = (
        " Counted are people whose rows are new in one version." if _is_version(manifest) else ""
    )
    texts = []
    if intervals := facts.list_columns_carried_as(manifest, "bounds"):
        texts.append((
            f"Intervals of numbers ({', '.join(intervals)}).",
            f"A cell shows a group of numbers that at least {least} people hold. Groups are cut at "
            f"numbers of the plan, numbers that nobody has, or numbers that at least {least} "
            "people have. Of whole numbers and dates, data.parquet shows the first and the last "
            f"one of a group, which a single person may have.{whose}",
        ))  # fmt: skip
    if medians := facts.list_columns_carried_as(manifest, "median"):
        texts.append((
            f"Medians ({', '.join(medians)}).",
            f"A cell shows the median of a group of numbers that at least {least} people hold, "
            "since the plan asks for it. It stands for the whole group. It may be the person's "
            f"own number, or that of another one.{whose}",
        ))  # fmt: skip
    return texts


def list_rare_value_warnings(manifest: Manifest) -> list[str]:
    """Values that the codebook names though few people hold them."""
    least = count(manifest["privacy"]["k_max"])
    rare = manifest.get("protection", {}).get("rare_levels", {})
    return [
        f"The codebook names {count(number)} {'value' if number == 1 else 'values'} of the column "
        f"{printable(name)} that fewer than {least} people have: it tells that somebody has them. "
        "If the plan states rare = 'pool' for the column, such values are published as one."
        for name, number in rare.items()
        if number
    ]


def _is_version(manifest: Manifest) -> bool:
    return series.series_of(manifest) is not None
