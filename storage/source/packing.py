"""Packed files, and text of two or four bytes a character: recognised by their first bytes.

A file may be packed in several ways at once, such as a zip archive in gzip. Layers are taken off
until the bytes are those of a format.
"""

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import PurePosixPath
from typing import IO, NamedTuple, cast

from anon_core.errors import InputError

HEAD_BYTES = 4096  # bytes that tell how a file is written
MOST_LAYERS = 4
ZIP = b"PK\x03\x04"
ERRORS = (
    OSError,  # of bz2, and of gzip
    EOFError,
    ValueError,  # of text that is not in its encoding
    RuntimeError,
    NotImplementedError,
    lzma.LZMAError,
    zlib.error,
    zipfile.BadZipFile,
)
DAMAGED_LAYER = "the source is {name}, and it is damaged or breaks off; write it anew"
MANY_FILES = (
    "the source is a zip archive of {number} files; unpack it and name the one that holds the table"
)
LOCKED = "the source is a zip archive with a password; unpack it and name the file that it holds"
Opener = Callable[[ExitStack], IO[bytes]]  # what is opened is closed with the stack


class Packing(NamedTuple):
    """One way in which files are packed: how it is called, how it begins, how it is unpacked.

    `text`: the file holds text in another encoding, and its name stays.
    """

    name: str
    begins: tuple[bytes, ...]
    unpack: Callable[[IO[bytes]], IO[bytes]]
    text: bool = False


class ArchiveMembers(NamedTuple):
    """What a zip archive tells of itself: the names of its members, and its type if it has one."""

    names: Sequence[str]
    mimetype: str


class PlainFile(NamedTuple):
    """A file without its layers: their names, the name of the file in them, and its bytes."""

    layers: tuple[str, ...]
    name: str
    open: Opener
    head: bytes
    archive: str = ""  # the format of a zip archive that is no packing


def _unzip_member(file: IO[bytes]) -> IO[bytes]:
    with zipfile.ZipFile(file) as archive:
        (member,) = _list_members(archive)
        if member.flag_bits & 1:
            raise InputError(LOCKED)
        return io.BytesIO(archive.read(member))


def _build_decoder(encoding: str) -> Callable[[IO[bytes]], IO[bytes]]:
    return lambda file: io.BytesIO(file.read().decode(encoding).encode())


def _of_zstandard(file: IO[bytes]) -> IO[bytes]:
    """All frames; a stream of this library would take a frame that breaks off for a whole one."""
    import zstandard  # of the pipeline: the library takes frames

    left, parts = file.read(), []
    while left:
        frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            parts.append(frame.decompress(left))
        except zstandard.ZstdError:
            raise EOFError from None
        if not frame.eof:
            raise EOFError
        left = frame.unused_data
    return io.BytesIO(b"".join(parts))


GZIP = "packed by gzip"
# A text may begin with BZh9. The signs of a block (digits of pi) or of an end must follow.
BZIP2 = tuple(
    f"BZh{level}".encode() + sign for level in range(1, 10) for sign in (b"1AY", b"\x17rE")
)
PACKINGS = (
    Packing(GZIP, (b"\x1f\x8b",), lambda file: cast("IO[bytes]", gzip.GzipFile(fileobj=file))),
    Packing("packed by bzip2", BZIP2, lambda file: cast("IO[bytes]", bz2.BZ2File(file))),
    Packing(
        "packed by xz",
        (b"\xfd7zXZ\0", b"]\0\0\x80\0"),
        lambda file: cast("IO[bytes]", lzma.LZMAFile(file)),  # noqa: SIM115 - closed by its opener
    ),
    Packing("packed by zstd", (b"\x28\xb5\x2f\xfd",), _of_zstandard),
    Packing("a zip archive", (ZIP,), _unzip_member),
    # Before UTF-16: the mark of UTF-32-LE begins with that of UTF-16-LE.
    Packing(
        "UTF-32 text",
        (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
        _build_decoder("utf-32"),
        text=True,
    ),
    Packing(
        "UTF-16 text",
        (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
        _build_decoder("utf-16"),
        text=True,
    ),
)
UNMARKED = {  # text of two bytes a character without a mark of their order
    encoding: Packing("UTF-16 text", (), _build_decoder(encoding), text=True)
    for encoding in ("utf-16-le", "utf-16-be")
}


def strip_layers(
    opener: Opener, name: str, name_archive: Callable[[ArchiveMembers | None, str], str]
) -> PlainFile:
    """Find out how a file is packed; `name` is its file name.

    `name_archive` gives the format of a zip archive by its members (None where it is damaged) and
    its file name, or an empty text where the archive packs a file.

    Refused: a layer that is damaged, a zip archive of several files or with a password.
    """
    layers: list[str] = []
    while True:
        head = _read(opener, layers, HEAD_BYTES)
        packing = _find_packing(head)
        # The bound ends archives that unpack to themselves.
        if packing is None or len(layers) == MOST_LAYERS:
            return PlainFile(tuple(layers), name, opener, head)
        if packing.begins == (ZIP,):
            if archive := name_archive(_read_members(opener), name):
                return PlainFile(tuple(layers), name, opener, head, archive)
            name = _name_in_archive(opener)
        elif not packing.text:
            name = PurePosixPath(name).stem
        opener = _build_layer_opener(packing, opener)
        layers.append(packing.name)


def read_whole(plain: PlainFile) -> bytes:
    """All bytes of a file without its layers; refused: a damaged layer."""
    return _read(plain.open, plain.layers)


def _build_layer_opener(packing: Packing, opener: Opener) -> Opener:
    return lambda held: held.enter_context(closing(packing.unpack(opener(held))))


def _read(opener: Opener, layers: Sequence[str], size: int = -1) -> bytes:
    """The first bytes of a file, or all; refused: a damaged layer."""
    try:
        with ExitStack() as held:
            return opener(held).read(size)
    except InputError:
        raise
    except ERRORS:
        # Without a layer it is an error of the file itself, which the caller names.
        if not layers:
            raise
    raise InputError(DAMAGED_LAYER.format(name=layers[-1]))


def _find_packing(head: bytes) -> Packing | None:
    for packing in PACKINGS:
        if head.startswith(packing.begins):
            return packing
    return UNMARKED.get(_guess_encoding(head))


def _guess_encoding(head: bytes) -> str:
    """Text of two bytes a character: one byte of each pair is often zero, the other never."""
    even, odd = head[::2], head[1::2]
    zeros, pairs = (even.count(0), odd.count(0)), len(odd)
    # 0.3: outside of Latin, only blanks, digits and separators have a zero byte.
    if pairs < 4 or min(zeros) or max(zeros) < 0.3 * pairs:
        return ""
    return "utf-16-le" if zeros[1] else "utf-16-be"


def _list_members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files of an archive, without what systems put beside them."""
    return [
        member
        for member in archive.infolist()
        if not member.is_dir()
        and not member.filename.startswith("__MACOSX/")
        and not PurePosixPath(member.filename).name.startswith(".")
    ]


def _read_members(opener: Opener) -> ArchiveMembers | None:
    """The members of a zip archive; None where it is damaged."""
    try:
        with ExitStack() as held:
            archive = held.enter_context(zipfile.ZipFile(opener(held)))
            names = archive.namelist()
            about = archive.read("mimetype").decode("latin-1") if "mimetype" in names else ""
            return ArchiveMembers(names, about)
    except ERRORS:
        return None


def _name_in_archive(opener: Opener) -> str:
    """The name of the only file in an archive; refused: none or several."""
    with ExitStack() as held, zipfile.ZipFile(opener(held)) as archive:
        members = _list_members(archive)
    if len(members) != 1:
        raise InputError(MANY_FILES.format(number=len(members) or "no"))
    return PurePosixPath(members[0].filename).name
