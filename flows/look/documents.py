"""Report and catalogue of a release folder, made once more and compared."""

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdcover.kinds import words_called
from crowdcover.kinds.base import Kind
from crowdcover.kinds.catalogued import CATALOGUE, catalogue_of, find_text_edition
from crowdcover.kinds.judge.audit import Audit, Finding
from crowdcover.reports import drawing
from crowdcover.reports.pages import page
from crowdcover.storage.shelf.layout import REPORT
from crowdcover.storage.vault.run import Stored

PICTURE = re.compile(rb"<svg\b.*?</svg>", re.DOTALL)
OTHERS = "not compared: written with other texts than this version of crowdcover has"


def catalogue_finding(folder: Path, kind: Kind, manifest: Mapping[str, Any]) -> list[Finding]:
    """Whether the catalogue files say what follows from the release; nothing of older ones."""
    if "texts" not in manifest:
        return []
    # `texts` is a hash of the modules that hold the words: other words are no forgery.
    if manifest["texts"] != find_text_edition():
        return [Finding("catalogue", passed=False, detail=OTHERS, required=False)]
    expected = catalogue_of(kind, words_called(kind.name), manifest, folder)
    differ = sorted(
        name for name, content in expected.items() if _read_existing_file(folder / name) != content
    )
    detail = f"{len(differ)} of {len(CATALOGUE)} files differ from what follows from the release"
    return [Finding("catalogue", not differ, detail)]


def report_finding(
    folder: Path, kind: Kind, manifest: Mapping[str, Any], audit: Audit
) -> list[Finding]:
    """Whether the report says what follows from manifest and audit, its pictures left out.

    Programs that draw differ between machines, so nothing is drawn. No finding where the release is
    older, or where the audit measured nothing.
    """
    if "texts" not in manifest or audit.measured is None:
        return []
    if manifest["texts"] != find_text_edition():
        return [Finding("report", passed=False, detail=OTHERS, required=False)]
    expected, found = _render_report(kind, manifest, audit), _read_existing_file(folder / REPORT)
    same = found is not None and _strip_pictures(expected) == _strip_pictures(found)
    detail = "the text follows from the manifest, pictures not compared"
    return [Finding("report", same, detail if same else "the text is another one")]


def _render_report(kind: Kind, manifest: Mapping[str, Any], audit: Audit) -> bytes:
    """The page, from the audit's numbers; of a version those of its new rows."""
    # As when the report was written: the hashes were taken after that, since they cover it.
    whole = {key: value for key, value in manifest.items() if key != "files"}
    with tempfile.TemporaryDirectory(prefix="crowdcover-") as room:  # mode 0700
        kind.keep_measured(audit.of_batch, Path(room))
        measured = kind.measured(Stored(Path(room), ""))
    with drawing.left_out():
        return page.render_release_page(whole, measured, words_called(kind.name)).encode()


def _strip_pictures(page: bytes) -> bytes:
    return PICTURE.sub(b"", page)


def _read_existing_file(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
