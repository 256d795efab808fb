"""The codebook of a release, read for the audit."""

import json
from pathlib import Path
from typing import Any

from anon_core.errors import InputError
from anon_core.measures.table.codebook.codebook import is_exact_codebook
from anon_core.measures.table.codebook.shared import SharedCounts, count_shared_levels
from crowdcover.kinds.columns import Column
from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.table.forms import (
    describe_coarse_columns,
    describe_codebook_columns,
    is_typed,
)
from crowdcover.kinds.table.judge.records import Records, values_of
from crowdcover.kinds.table.layout import CODEBOOK

BOOK, _SHARED = "codebook of the source", "levels of enough people"


def read_codebook(folder: Path) -> Any:
    """The published codebook, or None."""
    try:
        return json.loads((folder / CODEBOOK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def codebook_findings(
    document: Any, records: Records, columns: tuple[Column, ...]
) -> list[Finding]:
    """Compare the published codebook with the levels of the source, and with who shares them."""
    shown = describe_codebook_columns(columns, records.schema) if is_typed(document) else None
    coarse = describe_coarse_columns(columns, records.ends)
    same = is_exact_codebook(document, records.levels, shown, coarse)
    compared = f"{len(records.levels)} quasi-identifiers compared"
    return [Finding(BOOK, same, compared), *_judge_shared_levels(document, records)]


def _judge_shared_levels(document: Any, records: Records) -> list[Finding]:
    """Whether enough people share what the codebook tells; nothing where it need not be."""
    least = int(records.k.max())
    judged = [spec for spec in records.specs if spec.is_counted or spec.rare == "pool"]
    # A plan as 0.1.0 understood it has groups of any size: its release promised no more.
    if any(not spec.shared for spec in judged):
        return [Finding.of_later(_SHARED)]
    if not judged:
        return []
    try:
        # The published document may have any form. That is a finding, not a crash.
        entries = {entry["name"]: entry for entry in document["attributes"]}
        found = sum(
            (
                count_shared_levels(
                    spec,
                    entries[spec.name],
                    values_of(records.frame[spec.name]),
                    least,
                    records.person,
                )
                for spec in judged
            ),
            SharedCounts(),
        )
    except (InputError, KeyError, TypeError):
        return [Finding(_SHARED, passed=False, detail="the codebook cannot be read")]
    detail = (
        f"fewer than {least} people hold {found.few} of {found.levels} groups, outermost numbers "
        f"and pooled levels, and {found.own} of {found.bounds} cuts are the value of so few"
    )
    return [Finding(_SHARED, found.few + found.own == 0, detail)]
