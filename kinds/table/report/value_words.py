"""What a report says of single values: groups of numbers, rare values."""

from crowdcover.kinds.table.report.facts import list_columns_carried_as
from crowdcover.reports import series
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.words import Text

_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.table")


def describe_number_groups(manifest: Manifest) -> list[Text]:
    """How numbers are written that the plan groups; 0.1.0 wrote medians and named no column."""
    if "cells_of_one_value" not in manifest["utility"]:
        return _MESSAGES.list_texts("numbers", "old")
    figures = {
        "least": manifest["privacy"]["k_max"],
        "series": series.series_of(manifest) is not None,
    }
    return [
        text
        for form in ("bounds", "median")
        if (columns := list_columns_carried_as(manifest, form))
        for text in _MESSAGES.list_texts("numbers", form, columns=columns, **figures)
    ]


def list_rare_value_warnings(manifest: Manifest) -> list[str]:
    """That the codebook names values though few people hold them: one warning for all columns."""
    least = manifest["privacy"]["k_max"]
    levels = manifest.get("protection", {}).get("rare_levels", {})
    rare = [
        _MESSAGES.say("warnings", "rare_of", name=name, number=number)
        for name, number in levels.items()
        if number
    ]
    return [_MESSAGES.say("warnings", "rare", rare=rare, least=least)] if rare else []
