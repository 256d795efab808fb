"""The catalogue files of a release, as bytes: a function of manifest, columns and hashes alone."""

import json
from collections.abc import Callable
from typing import Any

from crowdcover.reports.catalogue.croissant import build_croissant
from crowdcover.reports.catalogue.datapackage import build_datapackage
from crowdcover.reports.catalogue.dcat import build_dcat
from crowdcover.reports.catalogue.described import Described
from crowdcover.reports.catalogue.spdx import build_spdx

WRITERS: dict[str, Callable[[Described], dict[str, Any]]] = {
    "datapackage.json": build_datapackage,
    "croissant.json": build_croissant,
    "dcat.jsonld": build_dcat,
    "method.spdx3.json": build_spdx,
}


def build_catalogue(release: Described) -> dict[str, bytes]:
    """Each file by its name."""
    return {name: _write_json(write(release)) for name, write in WRITERS.items()}


def _write_json(document: dict[str, Any]) -> bytes:
    # No sort_keys: the writers fix the order of keys, and so the bytes.
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
