"""Formats of files: a file and an entry in `FORMATS` each, or a plug-in of `crowdcover.formats`.

A format is told by its content.

Where the first bytes tell nothing, the end of the file name does; what is left is CSV text.
"""

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from anon_core.errors import InputError
from anon_core.plugins import describe_lack, load_plugins, warn_of_plugin
from crowdcover.storage.source.csv_text import BAD_GZIP
from crowdcover.storage.source.file_bytes import (
    CLOSED,
    Content,
    File,
    OpenFile,
    is_packed,
    open_bytes,
)
from crowdcover.storage.source.formats.base import Format
from crowdcover.storage.source.formats.columnar import Arrow, Parquet
from crowdcover.storage.source.formats.foreign import refuse_foreign_archive, refuse_foreign_format
from crowdcover.storage.source.formats.json_lines import JsonLines
from crowdcover.storage.source.formats.npz import Npz
from crowdcover.storage.source.formats.text import Csv
from crowdcover.storage.source.formats.workbook import Workbook
from crowdcover.storage.source.packing import (
    DAMAGED_LAYER,
    GZIP,
    ArchiveMembers,
    PlainFile,
    read_whole,
    strip_layers,
)

CSV_TEXT = Csv()
PARTED = Parquet()  # what a folder of files holds
_OWN: tuple[Format, ...] = (PARTED, Arrow(), Npz(), Workbook(), JsonLines())


def _find_fault_of_format(format_class: Any) -> str:
    """What keeps a format of another package from being used; see `Format`."""
    if not isinstance(format_class, type):
        return "is no class"
    return describe_lack(format_class(), ("name", "ends", "options", "fits", "names", "columns"))


# Behind those of crowdcover, which no other one hides, and before text, which anything may be.
FORMATS: tuple[Format, ...] = (
    *_OWN,
    *(
        each()
        for each in load_plugins(
            "formats", {one.name for one in _OWN}, _find_fault_of_format
        ).values()
    ),
    CSV_TEXT,
)
DAMAGED_ARCHIVE = DAMAGED_LAYER.format(name="a zip archive, as Excel workbooks are")


def recognize_format(file: File, name: str) -> tuple[Format, File]:
    """The format of a file that is called `name`, and the file or its bytes without packing.

    Refused: damaged packing, and formats that are not read, by their right name.
    """
    plain = _plain_of(file, name)
    found = _format_of(plain)
    gzip_alone = plain.layers in ((), (GZIP,))
    if not plain.layers or (found is CSV_TEXT and gzip_alone and is_packed(file)):
        return found, file  # text is unpacked while its rows are read
    whole = Content(read_whole(plain), packed=False)
    if isinstance(file, OpenFile):
        file.require_unchanged()
    return found, whole


def format_of_path(path: Path) -> Format:
    """The format of a local file, from its first bytes; from its name if it cannot be read."""
    try:
        if path.is_file() and path.stat().st_size:
            return _format_of(_plain_of(path, path.name))
    except InputError:  # reading the file says what is wrong
        pass
    return format_of_name(path.name)


def format_of_name(name: str) -> Format:
    """The format that the end of a file name tells."""
    end = _find_end(name)
    return next((each for each in FORMATS if end in each.ends), CSV_TEXT)


def _plain_of(file: File, name: str) -> PlainFile:
    named = is_packed(file)
    try:
        plain = strip_layers(lambda held: held.enter_context(open_bytes(file)), name, _name_archive)
    except OSError:
        refusal = CLOSED
    except InputError as error:
        refusal = BAD_GZIP if named and GZIP in str(error) else str(error)
    else:
        if not named or GZIP in plain.layers[:1]:
            return plain
        refusal = BAD_GZIP
    raise InputError(refusal)


def _format_of(plain: PlainFile) -> Format:
    if plain.archive:
        return next(each for each in FORMATS if each.name == plain.archive)
    for each in FORMATS:
        if _ask(each, lambda one: one.fits(plain.head)):
            return each
    refuse_foreign_format(plain.head)
    return format_of_name(plain.name)


def _name_archive(members: ArchiveMembers | None, name: str) -> str:
    """The name of a zip archive's format; empty where it packs a file of another format."""
    # A damaged archive lists no members; then only its name tells what it is.
    for each in FORMATS:
        if _ask(each, lambda one: _may_be_archive(one, members, name)):
            return each.name
    if members is None:
        raise InputError(DAMAGED_ARCHIVE)
    refuse_foreign_archive(members)
    return ""


def _may_be_archive(one: Format, members: ArchiveMembers | None, name: str) -> bool:
    return _find_end(name) in one.zip_ends if members is None else one.fits_members(members)


def _ask(one: Format, question: Callable[[Format], bool]) -> bool:
    """A format's answer; one of another package that fails at it recognises no file."""
    if one is CSV_TEXT or one in _OWN:
        return question(one)
    try:
        return bool(question(one))
    except Exception as error:
        told = f"the format {one.name!r} of another package fails with {type(error).__name__}"
        warn_of_plugin(told, type(one).__module__)
        return False


def _find_end(name: str) -> str:
    return PurePosixPath(name).suffix.lower()
