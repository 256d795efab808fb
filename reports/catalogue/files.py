"""The catalogue files of a release, as bytes: a function of manifest, columns and hashes alone."""

import json
from collections.abc import Callable
from typing import Any

from reports.catalogue.croissant import croissant
from reports.catalogue.datapackage import datapackage
from reports.catalogue.dcat import dcat
from reports.catalogue.described import Described
from reports.catalogue.spdx import spdx

WRITERS: dict[str, Callable[[Described], dict[str, Any]]] = {
    "datapackage.json": datapackage,
    "croissant.json": croissant,
    "dcat.jsonld": dcat,
    "method.spdx3.json": spdx,
}


def catalogue(release: Described) -> dict[str, bytes]:
    """Each file by its name."""
    return {name: _text(write(release)) for name, write in WRITERS.items()}


def _text(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
