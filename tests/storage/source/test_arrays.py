"""Arrays of .npz files, and a source that lies beside another."""

import hashlib

import numpy as np
import pytest
from scipy import sparse

from anon_core.errors import InputError
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source


@pytest.fixture
def matrix(tmp_path):
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_array(np.eye(4)[:, :3]))
    return Source(path=tmp_path / "m.npz")


def test_arrays_are_read_by_name(matrix):
    reading = Reading(matrix)
    assert set(reading.header) >= {"indices", "indptr", "format", "shape", "data"}
    assert reading.arrays(["indptr"])["indptr"].tolist() == [0, 1, 2, 3, 3]
    with pytest.raises(InputError, match="no array thing"):
        reading.arrays(["thing"])
    with pytest.raises(InputError, match="arrays and no columns"):
        reading.columns([], ["indptr"])


def test_objects_and_damage_are_refused(tmp_path):
    np.savez(tmp_path / "o.npz", a=np.array(["x", None], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="not a readable"):
        Reading(Source(path=tmp_path / "o.npz")).arrays(["a"])
    (tmp_path / "d.npz").write_bytes(b"PK\x03\x04 no zip")
    with pytest.raises(InputError, match="not a readable"):
        _ = Reading(Source(path=tmp_path / "d.npz")).header


def test_a_table_has_no_arrays(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    with pytest.raises(InputError, match="no arrays"):
        Reading(Source(path=tmp_path / "t.csv")).arrays(["a"])


def test_the_fingerprint_is_of_both_sources(tmp_path, matrix):
    table = tmp_path / "k.csv"
    table.write_text("user,k\na,2\nb,3\n")
    beside = Source(path=table)
    both = Reading(Source(path=matrix.path, beside=beside))
    parts = Reading(matrix).sha256 + Reading(beside).sha256
    assert both.sha256 == hashlib.sha256(parts.encode()).hexdigest()
    assert both.beside.columns([], ["k"]).height == 2
    table.write_text("user,k\na,2\nb,4\n")
    assert Reading(Source(path=matrix.path, beside=beside)).sha256 != both.sha256
    both.close()
    assert both.beside.sha256
