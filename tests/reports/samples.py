"""Invented manifests and crowds for the tests of this room."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

HOSTILE = (
    "<script>alert(1)</script>",
    'a"b\'c onload="x"',
    "a|b",
    "[red]x[/red]",
    "</svg></figure>",
    "$x_{1}$",
    "{{ 7 * 7 }}",
    'id="plot-utility" url(#x) style="fill: #040404;"',
    "\x1b[31mred\n\u202e",
    "[a](https://example.org/) www.example.org",
    "\u65e5\u672c",
    "w" * 90,
)


@dataclass(frozen=True)
class Crowds:
    """Replacement for the auditor's record with the same three attributes."""

    demanded: NDArray[np.int32]
    compatible: NDArray[np.int64]
    matchable: NDArray[np.int64]


def manifest(
    *,
    records: int = 500,
    k: tuple[int, int] = (5, 100),
    columns: tuple[str, ...] = ("age", "sex"),
    iterations: int = 3,
) -> dict[str, Any]:
    """A release that keeps its guarantee."""
    per_column = {
        name: {"exact": 0.5 + place / 1000, "ncp": 0.1 - place / 1000}
        for place, name in enumerate(columns)
    }
    return {
        "crowdcover": "0.1.0",
        "name": "sample",
        "version": "v7",
        "created": "2026-11-20T23:30:00+02:00",
        "plan_sha256": "3f" * 32,
        "source": {"rows": records, "columns": 15},
        "columns": {
            "passport": {"role": "identifier"},
            **{name: {"role": "quasi", "kind": "numeric"} for name in columns},
            "illness": {"role": "sensitive"},
            "ward": {"role": "keep"},
            "admitted": {"role": "keep", "kind": "date"},
            "k": {"role": "drop", "decides_k": True},
        },
        "checks": [],
        "anonymizer": {"name": "adaptive", "epsilon": 2.0, "weights": "bits"},
        "privacy": {
            "records": records,
            "k_min": k[0],
            "k_max": k[1],
            "unprotected": 0,
            "below_k": 0,
            "compatible_min_margin": 1,
            "matchable_below_k": 0,
            "untruthful_rows": 0,
        },
        "protection": {
            "rows_left_out": 17,
            "unique_records": 321,
            "over_protection": {"min": 1, "median": 43, "max": 77},
            "equivalence_classes": {"number": 490, "k": 1},
            "sensitive": {
                name: {
                    "distinct": 2,
                    "uniform": 0,
                    "effective": 1.75,
                    "odds": [4.5, None],
                    "distance": 0.625,
                }
                for name in (("illness",) if columns == ("age", "sex") else columns)
            },
        },
        "utility": {
            "suppression": 0.9063,
            "features": 104,
            "cells_exact": 0.5512,
            "gcp": 0.1123,
            "per_column": per_column,
        },
        "iterations": [
            {
                "utility": 0.7 + 0.2 * place / iterations,
                "weighted_utility": 0.72 + 0.2 * place / iterations,
                "cover_edges": 49852 - place,
                "seconds": 1.5,
            }
            for place in range(iterations)
        ],
        "timings": {"ingest": 0.4, "anonymize": 129.1},
        "peak_memory_bytes": 900_000_000,
    }


def full(**settings: Any) -> dict[str, Any]:
    """A release with every section that a manifest may have."""
    release = manifest(**settings)
    release["privacy"] |= {
        "promise": ["compatible crowds", "matchable crowds", "truthful rows", "even seats"],
        "likelier_than_k": 0,
    }
    return {
        **release,
        "about": {
            "title": "Patients of two clinics",
            "publisher": "Clinics of the town",
            "licence": "CC-BY-4.0",
            "population": "patients of two clinics",
            "as_of": "2025",
            "recipient": "anyone",
            "contact": "privacy@clinic.example",
            "answers_until": "2027-12-31",
        },
        "checks": [
            {"measure": "uniform crowds", "about": "illness", "required": 0.1, "found": 0.0},
            {"measure": "distinct values", "about": "illness", "required": 2, "found": 2},
        ],
        "attacks": {
            "linkage": attack(0.019, 0.03, (0.0, 0.0, 0.0)),
            "tightest row": attack(0.0222, 0.03, (0.02, 0.02, 0.02)),
            "insider": attack(0.0296, 0.03, (0.0, 0.0, 0.0)),
            "order": attack(0.002, 0.03, (0.002, 0.002, 0.002)) | {"right": 1},
            "partial linkage": attack(0.0071, 0.03, (0.0, 0.0, 0.0))
            | {"known": {"1": 0.005, "2": 0.0092}},
        },
        "approval": {
            "required": True,
            "by": "R. Okafor",
            "note": "numbers read, k as agreed",
            "at": "2026-11-20T20:00:00+00:00",
        },
        "second_release": {"overlapping": 2, "people": 480, "below_k": 0, "least_margin": 3},
        "drift": {
            "compared_with": "v6",
            "rows_before": 480,
            "rows": 500,
            "columns": 2,
            "new_categories": 0,
            "gone_categories": 1,
            "shift": 0.04,
            "other_types": 0,
            "utility_before": 0.9021,
        },
        "files": {"data.parquet": "ab" * 32, "codebook.json": "cd" * 32},
    }


def attack(success: float, guess: float, above: tuple[float, float, float]) -> dict[str, Any]:
    """An attack in the manifest."""
    at_least = dict(zip(("1", "1.5", "3"), above, strict=True))
    return {"success": success, "promised": guess, "above": {**at_least, "2": above[2]}}


def matchable() -> dict[str, Any]:
    """A release without even seats."""
    release = full()
    del release["privacy"]["promise"], release["privacy"]["likelier_than_k"]
    release["attacks"]["insider"] = attack(0.0296, 0.03, (0.412, 0.031, 0.0))
    return release


def alarming() -> dict[str, Any]:
    """A release that keeps its guarantee but has many other risks to report."""
    release = matchable()
    release["protection"]["sensitive"]["illness"] |= {"distinct": 1, "uniform": 120}
    release["attacks"]["insider"] = attack(0.082, 0.03, (0.9, 0.7, 0.21))
    release["attacks"]["tea leaves"] = attack(0.001, 0.03, (0.0, 0.0, 0.0))
    release["approval"] = {"required": True, "by": "", "note": "", "at": None}
    release["drift"] |= {"new_categories": 3, "columns_gone": ["age", "sex"]}
    return release


def old() -> dict[str, Any]:
    """An old release: only the guarantee was measured."""
    release = manifest()
    for later in ("protection", "created", "timings", "peak_memory_bytes", "columns", "checks"):
        del release[later]
    del release["privacy"]["unprotected"]
    release["iterations"] = []
    return release


def unprotected(number: int = 12, records: int = 500) -> dict[str, Any]:
    """A release in which some people, or all, have k = 1."""
    release = full(records=records, k=(1, 1 if number == records else 100))
    release["privacy"]["unprotected"] = number
    return release


def uniform(number: int, **columns: int) -> dict[str, Any]:
    """A release in which so many of 500 people fit only rows of one value of each column."""
    release = full()
    crowd = release["protection"]["sensitive"]["illness"] | {"distinct": 1}
    release["protection"]["sensitive"] = {
        name: crowd | {"uniform": people} for name, people in {"illness": number, **columns}.items()
    }
    return release


def of_rows() -> dict[str, Any]:
    """A release whose plan counts rows instead of people."""
    release = full()
    release["rows_are_people"] = True
    return release


def broken(key: str = "below_k", found: int | None = 12) -> dict[str, Any]:
    """A release with one failed check, or with one check that was not run."""
    release = manifest()
    if found is None:
        del release["privacy"][key]
    else:
        release["privacy"][key] = found
    return release


def crowds(records: int = 500, k: tuple[int, int] = (5, 100), short: int = 0) -> Crowds:
    """Crowds; the first `short` ones miss their demand by one."""
    draws = np.random.default_rng(2)
    demanded = draws.integers(k[0], k[1] + 1, records).astype(np.int32)
    matchable = np.minimum(demanded + draws.integers(0, 60, records), records)
    matchable[:short] = demanded[:short] - 1
    return Crowds(
        demanded, np.minimum(matchable + draws.integers(0, 3, records), records), matchable
    )


# ---------------------------------------------------------------- verdicts


def _outcome(
    words: str, column: str | None = None, *, found: str = "", holds: bool = True, name: str = ""
) -> dict[str, Any]:
    return {
        "expectation": name or "expect_so",
        "column": column,
        "success": holds,
        "words": words,
        "found": found,
    }


def verdicts(
    *, columns: tuple[str, ...] = ("age", "sex"), refused_at: str | None = None
) -> list[dict[str, Any]]:
    """The verdicts of a run's checks. A failed check is the last one."""
    guarantees = (
        ("readable files", "2 of 2 formats are there and can be read"),
        ("same table in every format", "2 formats compared"),
        ("codebook of the source", f"{len(columns)} quasi-identifiers compared"),
        ("rows ordered by key", "row order tells nothing but the random keys"),
        ("one row a record", "500 rows with 500 distinct keys for 500 records"),
        ("truthful rows", "0 of 500 records have no row that is true of them"),
        ("compatible crowds", "0 of 500 records fit fewer than k rows"),
        ("matchable crowds", "0 of 500 records are matchable with fewer than k rows"),
    )
    suites = {
        "alike": [
            _outcome(
                "The table has not drifted.",
                found="500 rows after 480",
                holds=refused_at != "alike",
            )
        ],
        "ingested": [
            _outcome("At least two rows."),
            *(_outcome("Every value is a finite number or missing.", name) for name in columns),
            *(
                _outcome("No value is missing.", name, holds=refused_at != "ingested")
                for name in columns[:1]
            ),
        ],
        "binarized": [
            _outcome("Exactly 500 records."),
            *(
                _outcome("Every record's bits decode to one of 12 levels.", name)
                for name in columns
            ),
        ],
        "audited": [
            _outcome(
                "", found=found, name=name, holds=refused_at != "audited" or "crowds" not in name
            )
            for name, found in guarantees
        ],
        "released": [
            _outcome("Exactly 500 rows, one for each record."),
            *(
                _outcome(
                    "Every released cell can be read, and allows at least one of 12 levels.", name
                )
                for name in columns
            ),
        ],
        "required": [
            _outcome("At least 0.85 of all bits stay visible.", found="0.9063"),
            _outcome(
                "Every crowd has at least 3 distinct values.",
                "illness",
                found="2",
                holds=refused_at != "required",
            ),
        ],
        "versions": [_outcome("No withdrawn row is there again.", holds=refused_at != "versions")],
        "kept": [
            _outcome(
                "Not much less is kept.",
                found="utility 0.9063 after 0.9021",
                holds=refused_at != "kept",
            )
        ],
        "beside": [
            _outcome("No other release shows the same people.", holds=refused_at != "beside")
        ],
        "approved": [
            _outcome(
                "A person has approved.",
                found="approved by R. Okafor",
                holds=refused_at != "approved",
            )
        ],
    }
    stop = list(suites).index(refused_at) + 1 if refused_at else len(suites)
    return [
        {
            "version": "0.1.0",
            "judged": "2026-11-20T23:30:00+02:00",
            "verdict": {"suite": name, "outcomes": outcomes},
        }
        for name, outcomes in list(suites.items())[:stop]
    ]


def run(*releases: str) -> dict[str, Any]:
    """The run of the verdicts."""
    return {"run": "e4298546c78fe333", "plan_sha256": "3f" * 32, "releases": list(releases)}


def version(number: int = 3, **settings: Any) -> dict[str, Any]:
    """The last version of a series of so many: 500 rows are new, 4,000 stay."""
    release = full(k=(10, 10), **settings)
    del release["second_release"]
    release["privacy"]["promise"] = [
        *("compatible crowds", "matchable crowds", "truthful rows"),
        *("crowds in every version", "histories"),
    ]
    new, frozen = release["privacy"]["records"], 4000 if number > 1 else 0
    before = [_line(at, 4200 + at, 0 if at == 1 else 3900) for at in range(1, number)]
    now = _line(number, new + frozen, frozen)
    if number > 1:
        now |= {"left": 30, "withdrawn": 2, "changed": 60, "pulled": 110, "gone": 202}
        now["reissued"] = 170
    section = {
        **now,
        "source_rows": new + frozen + 3,
        "batch": new,
        "new": 330,
        "people": new + frozen,
        "followed": 4100,
        "changed_by": {"age": 0, "illness": 60},
        "cells": 2 * number - 1,
        "below_k": 0,
        "least_margin": 0,
        "records_ever": 5000,
        "histories_below_k": 0,
        "linked_below_k": 41,
        "constant": ["ward"],
        "k_min": 10,
        "k_max": 10,
        "unprotected": 0,
        "cells_exact": 0.7,
        "gcp": 0.12,
        "versions": [*before, now],
    }
    return {**release, "series": section}


def _line(number: int, rows: int, frozen: int) -> dict[str, Any]:
    """The counts of one version."""
    return {
        "number": number,
        "rows": rows,
        "frozen": frozen,
        "new": rows - frozen,
        "gone": 0,
        **dict.fromkeys(("left", "withdrawn", "changed", "pulled"), 0),
        "reissued": 0,
        "returned": 0,
        "held_back": 3,
        "held_by_history": 1,
        "crowd_least": 10,
        "crowd_median": 14,
        "kept": 0.88,
    }
