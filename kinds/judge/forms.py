"""Whether files of a release are written in the one form that leaves no byte free.

Nothing here needs the source or the vault.
"""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.judge.layouts import loose_bytes
from crowdcover.kinds.judge.manifest_keys import Keys, count_unknown
from crowdcover.kinds.judge.traces import find_file_traces, gzip_traces
from crowdcover.kinds.partial_files import ColumnFile, map_content
from crowdcover.storage.shelf.content import read_document
from crowdcover.storage.shelf.layout import MANIFEST
from crowdcover.storage.source.panics import silence_panics
from crowdcover.storage.source.values import FOREIGN_ERRORS

WRITTEN_OTHERWISE = "says something twice or is written in another way"


def check_file_forms(folder: Path, files: Mapping[str, str], codebook: str) -> Finding:
    """Look at each data file that is there, at the codebook and at the manifest."""
    there = [form for form, name in files.items() if (folder / name).is_file()]
    notes: list[str] = []
    found = [
        finding for form in there for finding in _check_data_form(form, folder / files[form], notes)
    ]
    found += [
        *_check_document_form(folder / codebook, "codebook"),
        *_check_document_form(folder / MANIFEST, "manifest"),
    ]
    right = "no byte beside the rows, codebook and manifest in their one form"
    told = found or [right, *notes]
    return Finding("form of the files", not found, "; ".join(told))


def codebook_form(folder: Path, codebook: str) -> Finding:
    """The same of the codebook alone."""
    found = list(_check_document_form(folder / codebook, "codebook"))
    return Finding("form of the codebook", not found, "; ".join(found) or "its one form")


def manifest_form(folder: Path, keys: Keys) -> Finding:
    """The same of the manifest alone, which has no other than these keys."""
    found = list(_check_document_form(folder / MANIFEST, "manifest"))
    if not found and (unknown := count_unknown(read_document(folder / MANIFEST), keys)):
        found.append(f"{unknown} of its keys and values are none that a release has")
    return Finding("form of the manifest", not found, "; ".join(found) or "its one form")


def _check_data_form(form: str, path: Path, notes: list[str]) -> Iterator[str]:
    if form == "parquet":
        found = list(loose_bytes(map_content(path)))
        # Reading unpacks what the pages hold, so it waits until their sizes are known to be right.
        yield from found or _read_parquet_traces(path, notes)
        return
    try:
        yield from gzip_traces(map_content(path))
    except (zlib.error, IndexError, EOFError):
        yield "the gzip file cannot be read"


def _read_parquet_traces(path: Path, notes: list[str]) -> Sequence[str]:
    try:
        with silence_panics():
            return find_file_traces(path, "parquet", ColumnFile(path), notes)
    except FOREIGN_ERRORS:
        return ["the Parquet file cannot be read"]


def _check_document_form(path: Path, what: str) -> Iterator[str]:
    """Nothing if the text is what is written of the document that is read in it."""
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
    except (OSError, ValueError, RecursionError):
        yield f"the {what} cannot be read"
        return
    # Reading drops blanks, escapes and doubled keys. Writing again shows whether there were any.
    forms_of = (json.dumps(document, ensure_ascii=False, indent=indent) for indent in (None, 2))
    if not isinstance(document, dict) or text.removesuffix("\n") not in forms_of:
        yield f"the {what} {WRITTEN_OTHERWISE}"
