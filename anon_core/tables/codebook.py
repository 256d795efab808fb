"""The codebook as a JSON document, as the release publishes it and the vault stores it."""

from collections.abc import Mapping
from typing import Any

from anon_core.errors import InputError
from anon_core.tables.records import Attribute, Codebook


def codebook_to_json(codebook: Codebook) -> dict[str, Any]:
    """Return the codebook as it is published.

    Outer edges are left out: they are values of single persons.
    """
    return {
        "cells": (
            "exact value | value set A|B|C | interval lo..hi (both ends included) | * (every value)"
        ),
        "escapes": (
            "a backslash stands before | * \\ and before doubled or outer dots of a value; "
            "\\_ is the empty text"
        ),
        "groups": (
            "in a column with inner_edges a number is the median of its group "
            "and stands for all of it, in intervals too"
        ),
        "attributes": [
            {
                "name": a.name,
                "kind": a.kind,
                "encoding": a.encoding,
                "features": a.bits,
                "labels": list(a.labels),
                "has_missing": a.has_missing,
                "hide_missing": a.hide_missing,
                "inner_edges": list(a.edges),
                "medians" if a.binned else "values": list(a.values),
                "weight": a.weight,
            }
            for a in codebook.attributes
        ],
    }


def codebook_from_json(document: Mapping[str, Any]) -> Codebook:
    """Read what `codebook_to_json` returned.

    Raises
    ------
    InputError
        The document is not a codebook.
    """
    try:
        return Codebook(
            tuple(
                Attribute(
                    name=a["name"],
                    kind=a["kind"],
                    encoding=a["encoding"],
                    labels=tuple(a["labels"]),
                    has_missing=a["has_missing"],
                    hide_missing=a["hide_missing"],
                    binned="medians" in a,
                    edges=tuple(a["inner_edges"]),
                    values=tuple(a["medians"] if "medians" in a else a["values"]),
                    weight=a["weight"],
                )
                for a in document["attributes"]
            )
        )
    except (KeyError, TypeError):
        raise InputError(
            "codebook.json is not a codebook of crowdcover; take it from the release again"
        ) from None
