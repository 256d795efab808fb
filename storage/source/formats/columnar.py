"""Parquet and Arrow files, read by polars."""

import io
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, ClassVar

import polars as pl
import polars.selectors as cs

from anon_core.errors import InputError
from crowdcover.storage.source.file_bytes import Content, File, OpenFile
from crowdcover.storage.source.formats.base import Dialect, Format
from crowdcover.storage.source.values import DECIMAL_DIGITS, call_or_refuse

BREAKS_OFF = "the source breaks off or is damaged: not every row could be read; write it anew"
FIELD_ENDS = b",;\t|\r\n\"' "  # no file of Parquet goes on so, but text may
STREAM = b"\xff\xff\xff\xff"  # how a stream of Arrow begins, which has no index


class _Columnar(Format):
    """What both share: columns are scanned by name, and not more than is needed is read."""

    typed = True
    form: ClassVar[str]

    def _scan(self, at: Any) -> pl.LazyFrame:
        raise NotImplementedError

    def _schema(self, at: Any) -> Any:
        """The schema as pyarrow reads it, which knows types that polars does not."""
        raise NotImplementedError

    def _scan_file(self, file: File) -> tuple[pl.LazyFrame, list[str]]:
        def scan() -> tuple[pl.LazyFrame, list[str]]:
            frame = self._scan(_open_anew(file))
            return frame, frame.collect_schema().names()

        try:
            return call_or_refuse(scan, "")
        except InputError:
            pass
        raise InputError(self._refusal(_open_anew(file)))

    def _refusal(self, at: Any) -> str:
        """Why a file is not read: because of single columns, where pyarrow is there to tell."""
        usual = (
            f"the source is not a readable {self.form} file, or a column has a type that is not "
            "read, such as an interval, or moments with an offset (+05:30) in place of a zone; "
            "write it anew, and convert such a column"
        )
        # pyarrow is optional, and a damaged file has no schema: then `usual` is the refusal.
        with suppress(ImportError, InputError):
            unread = call_or_refuse(
                lambda: [each for each in self._schema(at) if not _is_read(each)], ""
            )
            if unread:
                found = ", ".join(f"column {each.name!r} holds {each.type}" for each in unread)
                return (
                    f"{found}, which is not read; convert it in the file (moments with an offset "
                    "to UTC or a named zone), or leave it out of the file"
                )
        return usual

    def names(self, file: File, dialect: Dialect) -> list[str] | int:
        """The names of its schema."""
        return self._scan_file(file)[1]

    def columns(
        self, file: File, dialect: Dialect, width: int, places: Sequence[int]
    ) -> pl.DataFrame:
        """Columns in the types of the file."""
        frame, names = self._scan_file(file)
        chosen = frame.select(cs.by_name(*(names[place] for place in places)))
        for name, of in chosen.collect_schema().items():
            if isinstance(of, pl.Decimal) and of.precision > DECIMAL_DIGITS:
                raise InputError(
                    f"column {name.strip()!r} holds decimals of {of.precision} digits, and "
                    f"{DECIMAL_DIGITS} are read; convert it or give it role = 'drop'"
                )
        found = call_or_refuse(lambda: chosen.collect(engine="streaming"), BREAKS_OFF)
        if isinstance(file, OpenFile):
            file.require_unchanged()
        return found


class Parquet(_Columnar):
    """A Parquet file."""

    name: ClassVar[str] = "parquet"
    ends: ClassVar[tuple[str, ...]] = (".parquet", ".pq")
    form: ClassVar[str] = "Parquet"

    def fits(self, head: bytes) -> bool:
        """It begins with PAR1, and not as a field of text does."""
        return head.startswith(b"PAR1") and head[4:5] not in FIELD_ENDS

    def _scan(self, at: Any) -> pl.LazyFrame:
        return pl.scan_parquet(at, glob=False, hive_partitioning=False)

    def _schema(self, at: Any) -> Any:
        from pyarrow import parquet

        return parquet.read_schema(at)


class Arrow(_Columnar):
    """An Arrow file (IPC, Feather 2)."""

    name: ClassVar[str] = "arrow"
    ends: ClassVar[tuple[str, ...]] = (".arrow", ".ipc", ".feather")
    form: ClassVar[str] = "Arrow (IPC, not a stream)"

    def fits(self, head: bytes) -> bool:
        """It begins with ARROW1; a stream is refused by its right name."""
        # The mark precedes a little-endian length; below 65,536 its upper two bytes are zero.
        if head.startswith(STREAM) and head[6:8] == b"\0\0":
            raise InputError(
                "the source is a stream of Arrow, which is not read; write it as an Arrow file "
                "(IPC, Feather 2) or as Parquet"
            )
        return head.startswith(b"ARROW1\0\0")

    def _scan(self, at: Any) -> pl.LazyFrame:
        return pl.scan_ipc(at, glob=False, hive_partitioning=False)

    def _schema(self, at: Any) -> Any:
        from pyarrow import ipc

        return ipc.open_file(at).schema


def _open_anew(file: File) -> Path | IO[bytes]:
    if isinstance(file, OpenFile):
        return file.disk  # polars duplicates it, and maps what it reads
    return io.BytesIO(file.data) if isinstance(file, Content) else file


def _is_read(field: Any) -> bool:
    """Whether polars reads columns of the type of a field of pyarrow."""
    from pyarrow import schema

    try:
        call_or_refuse(lambda: pl.from_arrow(schema([field]).empty_table()), "")
    except InputError:
        return False
    return True
