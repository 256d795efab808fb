"""Whether files of a release are written in the one form that leaves no byte free.

Nothing here needs the source or the vault.
"""

import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from tasks.judging.audit import Finding
from tasks.judging.layouts import loose_bytes
from tasks.judging.traces import gzip_traces

CODEBOOK = "the codebook says something twice or is written in another way"


def forms(folder: Path, files: Mapping[str, str], codebook: str) -> Finding:
    """Look at each data file that is there, and at the codebook."""
    found = [
        told
        for form, name in files.items()
        if (folder / name).is_file()
        for told in _data(form, (folder / name).read_bytes())
    ]
    found += _codebook(folder / codebook)
    return Finding(
        "form of the files",
        not found,
        "; ".join(found) or "no byte beside the rows, the codebook in its one form",
    )


def codebook_form(folder: Path, codebook: str) -> Finding:
    """The same of the codebook alone."""
    found = list(_codebook(folder / codebook))
    return Finding("form of the codebook", not found, "; ".join(found) or "its one form")


def _data(form: str, content: bytes) -> Iterator[str]:
    if form == "parquet":
        yield from loose_bytes(content)
        return
    try:
        yield from gzip_traces(content)
    except (zlib.error, IndexError, EOFError):
        yield "the gzip file cannot be read"


def _codebook(path: Path) -> Iterator[str]:
    """Nothing if the text is what is written of the document that is read in it."""
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
    except (OSError, ValueError, RecursionError):
        yield "the codebook cannot be read"
        return
    forms_of = (json.dumps(document, ensure_ascii=False, indent=indent) for indent in (None, 2))
    if text.removesuffix("\n") not in forms_of:
        yield CODEBOOK
