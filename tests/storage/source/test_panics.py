"""What Rust code writes when it panics does not reach standard error."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading

import polars as pl
import pytest

from anon_core.errors import AnonymityError, InputError
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.pipeline.read import read_columns
from crowdcover.storage.source.panics import silence_panics
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source
from crowdcover.storage.source.values import call_or_refuse

PANICS = (
    b"\nthread '<unnamed>' panicked at crates/polars/src/lib.rs:1:2:\ncell of Mrs Miller\n"
    b"note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
    b"thread 'polars-7' (4711) panicked at src/x.rs:1:2:\ncell of Mrs Miller\n",
)


@pytest.mark.parametrize("panic", PANICS)
def test_a_panic_is_not_heard(panic, capfd):
    with silence_panics():
        os.write(2, b"one\ntwo\n")
        os.write(2, panic)
    os.write(2, b"three\n")
    assert capfd.readouterr().err == "one\ntwo\nthree\n"


def too_late():
    """Format days that polars has no date for: its Rust code panics."""
    return pl.Series("a", [2**31 - 1], dtype=pl.Int32).cast(pl.Date).to_list()


def test_polars_panics(capfd):
    """Else the tests below would show nothing."""
    with pytest.raises(BaseException, match="out-of-range"):
        too_late()
    assert "panicked at" in capfd.readouterr().err


def test_a_panic_of_polars(capfd):
    with pytest.raises(InputError, match="the source cannot be read"):
        call_or_refuse(too_late, "the source cannot be read")
    assert capfd.readouterr().err == ""


def test_damaged_files_of_every_format(tmp_path, capfd):
    """Bytes change here and there; whatever polars makes of them, it is not heard."""
    chance = random.Random(8)
    frame = pl.DataFrame({"name": [f"MrsMiller{n}" for n in range(60)], "age": range(60)})
    frame = frame.with_columns(pl.col("age").cast(pl.Int32).cast(pl.Date).alias("day"))
    columns = [Column(name=name, role="keep") for name in frame.columns]
    columns[2] = Column(name="day", role="keep", kind="date")
    for suffix, write in ((".parquet", frame.write_parquet), (".arrow", frame.write_ipc)):
        path = tmp_path / f"people{suffix}"
        write(path)
        whole = path.read_bytes()
        for place in range(8, len(whole), max(1, len(whole) // 40)):
            spoilt = bytearray(whole)
            spoilt[place] ^= 1 << chance.randrange(7)  # no size of more bytes than there is memory
            path.write_bytes(bytes(spoilt))
            with contextlib.suppress(AnonymityError, pl.exceptions.PanicException):
                reading = Reading(Source(path=path))
                read_columns(reading, frame.columns, columns)
    assert capfd.readouterr().err == ""


def test_an_abort_is_told():
    """A damaged size may want more memory than there is: Rust ends the process."""
    words = (
        "import os; from crowdcover.storage.source import panics\n"
        "with panics.silence_panics(): os.abort()"
    )
    done = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGABRT
    assert "Aborted" in done.stderr


def test_what_others_write_meanwhile_is_kept(capfd):
    with silence_panics():
        thread = threading.Thread(target=lambda: os.write(2, b"log line\n"))
        thread.start()
        thread.join()
        with silence_panics():
            os.write(2, b"inner\n")
    assert capfd.readouterr().err == "log line\ninner\n"


def test_words_about_panics_are_no_panic(capfd):
    with silence_panics():
        os.write(2, b"the thread 'x' panicked at noon\n")
    assert "noon" in capfd.readouterr().err


def test_an_error_passes_and_the_descriptor_is_back(capfd):
    def fails():
        with silence_panics():
            os.write(2, b"before\n")
            raise ZeroDivisionError

    rounds = 40
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(rounds):
        with pytest.raises(ZeroDivisionError):
            fails()
    # Not equal: descriptors that other tests left may be collected meanwhile.
    assert len(os.listdir("/proc/self/fd")) < before + rounds
    os.write(2, b"after\n")
    assert capfd.readouterr().err == rounds * "before\n" + "after\n"


def test_a_process_without_standard_error():
    process = os.fork()
    if not process:
        os.close(2)
        with silence_panics():
            os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7
