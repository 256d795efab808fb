"""What manifests of older versions state, so that an audit compares nothing else."""

from collections.abc import Mapping
from typing import Any

from crowdcover.kinds.judge.audit import Sections

TWICE = ("records_ever", "histories_below_k", "linked_below_k")  # who came back counted so
BY_SECRET = ("tightest row", "insider")  # 0.1.0 counted how often these attackers were right


def select_comparable_numbers(manifest: Mapping[str, Any], sections: Sections) -> Sections:
    """Those of the measured numbers that the manifest's version measured in the same way."""
    utility, protection = dict(sections.get("utility", {})), dict(sections.get("protection", {}))
    if "cells_of_one_value" not in manifest.get("utility", {}):
        utility.pop("cells_of_one_value", None)
        utility["per_column"] = {
            name: {what: column[what] for what in ("exact", "ncp")}
            for name, column in utility.get("per_column", {}).items()
        }
        protection.pop("rare_levels", None)
    for later in {"gcp_by_width", "least_gcp"} - manifest.get("utility", {}).keys():
        utility.pop(later, None)
    figures = protection.pop("reidentification", {})
    for name in ("refinement", "membership"):
        if name not in manifest.get("protection", {}):
            protection.pop(name, None)
    if stated := manifest.get("protection", {}).get("reidentification"):
        protection["reidentification"] = _select_asked_figures(stated, figures)
    claimed, attacks = manifest.get("attacks", {}), dict(sections.get("attacks", {}))
    if "demand" not in claimed:  # what crowds tell of a private k
        attacks.pop("demand", None)
    if "order" in claimed:
        attacks = {name: numbers for name, numbers in attacks.items() if name not in BY_SECRET}
        protection.pop("unique_values", None)
        protection["sensitive"] = {
            name: {what: number for what, number in crowd.items() if what != "uniform"}
            for name, crowd in protection.get("sensitive", {}).items()
        }
    privacy = dict(sections.get("privacy", {}))
    if "unprotected" not in manifest.get("privacy", {}):  # who has k = 1
        privacy.pop("unprotected", None)
    series = dict(sections.get("series", {}))
    if "reissued" not in manifest.get("series", {}):
        series = {name: number for name, number in series.items() if name not in TWICE}
    same = {
        "privacy": privacy,
        "utility": utility,
        "attacks": attacks,
        "protection": protection,
        "series": series,
    }
    return {name: same.get(name, section) for name, section in sections.items()}


def _select_asked_figures(stated: Any, measured: Mapping[str, Any]) -> Any:
    """Figures that the plan asks for today, where the manifest answers the same question.

    Limits may change while a release stands. What nobody asks for today is not measured again.
    """
    if not isinstance(stated, dict):
        return measured
    of_population = ("population", "journalist_highest", "journalist")
    unasked = [] if stated.get("population") == measured.get("population") else [*of_population]
    if _count_known(stated) != _count_known(measured):
        unasked.append("known")
    asked = {name: each for name, each in measured.items() if name not in unasked}
    return asked | {name: each for name, each in stated.items() if name in unasked}


def _count_known(figures: Mapping[str, Any]) -> int:
    """How many columns are known to those whose rows are counted; 0 if none are counted."""
    known = figures.get("known")
    columns = known.get("columns") if isinstance(known, dict) else None
    return len(columns) if isinstance(columns, list) else 0
