"""Pieces of bytes in memory and in a file."""

import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError
from crowdcover.storage.source.snapshot import pieces as module
from crowdcover.storage.source.snapshot.pieces import Pieces

BYTES = [b"one", b"", b"another one", bytes(100)]


def hold(parts):
    pieces = Pieces()
    for part in parts:
        pieces.add_piece(part)
    return pieces


@given(st.lists(st.binary(max_size=20)), st.integers(1, 7))
def test_a_file_gives_what_the_memory_held(parts, at_once):
    pieces = hold(parts)
    hashes = [*pieces.hashes]
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryFile() as disk:
        patch.setattr(module, "AT_ONCE", at_once)
        pieces.move_to_disk(disk)
        assert disk.tell() == sum(map(len, parts))
        other = pieces.read_from(disk)
        assert list(pieces) == list(other) == list(other) == parts
        assert pieces.hashes == other.hashes == hashes


def test_each_piece_is_given_up_as_it_is_taken():
    pieces = hold(BYTES)
    taken = pieces.take_pieces()
    assert (next(taken), list(pieces)) == (BYTES[0], [b"", *BYTES[1:]])
    assert list(taken) == BYTES[1:]
    assert not any(pieces)


@pytest.mark.parametrize("place", [0, 5, 113])
def test_other_bytes_in_the_file_are_refused(place):
    pieces = hold(BYTES)
    with tempfile.TemporaryFile() as disk:
        pieces.move_to_disk(disk)
        disk.seek(place)
        disk.write(b"X")
        disk.flush()
        with pytest.raises(InputError, match="the snapshot of the source cannot be read any more"):
            list(pieces)


def test_a_file_that_ends_too_early_is_refused():
    pieces = hold(BYTES)
    with tempfile.TemporaryFile() as disk:
        pieces.move_to_disk(disk)
        disk.truncate(20)
        with pytest.raises(InputError, match="the snapshot of the source cannot be read any more"):
            list(pieces)
