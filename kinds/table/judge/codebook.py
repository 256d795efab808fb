"""The codebook of a release, read for the audit."""

import json
from pathlib import Path
from typing import Any

from anon_core.errors import InputError
from anon_core.measures.table.codebook import says
from anon_core.measures.table.shared import Shared, shared
from kinds.table.judge.records import Records, values_of
from kinds.table.layout import CODEBOOK
from tasks.judging.audit import Finding

SHARED = "levels of enough people"


def codebook_findings(folder: Path, records: Records) -> list[Finding]:
    """Compare the published codebook with the levels of the source, and with who shares them."""
    try:
        document = json.loads((folder / CODEBOOK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        document = None
    same = says(document, records.levels)
    compared = f"{len(records.levels)} quasi-identifiers compared"
    return [Finding("codebook of the source", same, compared), *_shared(document, records)]


def _shared(document: Any, records: Records) -> list[Finding]:
    """Whether enough people share what the codebook tells; nothing where it need not be."""
    least = int(records.k.max())
    judged = [spec for spec in records.specs if spec.counted or spec.rare == "pool"]
    if any(not spec.shared for spec in judged):
        return [Finding.of_later(SHARED)]
    if not judged:
        return []
    try:
        entries = {entry["name"]: entry for entry in document["attributes"]}
        found = sum(
            (
                shared(
                    spec,
                    entries[spec.name],
                    values_of(records.frame[spec.name]),
                    least,
                    records.person,
                )
                for spec in judged
            ),
            Shared(),
        )
    except (InputError, KeyError, TypeError):
        return [Finding(SHARED, passed=False, detail="the codebook cannot be read")]
    detail = (
        f"fewer than {least} people hold {found.few} of {found.levels} groups, outermost numbers "
        f"and pooled levels, and {found.own} of {found.bounds} bounds are the value of so few"
    )
    return [Finding(SHARED, found.few + found.own == 0, detail)]
