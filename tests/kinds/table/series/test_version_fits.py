"""The fits of all batches in one file, and those that older builds kept batch by batch."""

import numpy as np
import pytest

from crowdcover.kinds.table.version_fits import FITS, NO_FITS, load_fits
from crowdcover.storage.vault.run import Stored

BATCHES = [
    (np.array([0, 2, 3]), np.array([0, 1, 1], dtype=np.int32)),
    (np.array([0, 1]), np.array([0], dtype=np.int32)),
    (np.array([0, 2, 4]), np.array([0, 1, 0, 1], dtype=np.int32)),
]


@pytest.fixture(params=["one file", "a file each"])
def audited(request, tmp_path):
    if request.param == "one file":
        fits = NO_FITS
        for batch in BATCHES:
            fits = fits.also(*batch)
        fits.write(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == [FITS]
    else:
        for number, (start, row) in enumerate(BATCHES, start=1):
            np.savez(tmp_path / f"fits-{number}.npz", start=start, row=row)
    return Stored(tmp_path, "")


def test_each_batch_comes_back_as_it_was(audited):
    fits = load_fits(audited, len(BATCHES))
    for number, (start, row) in enumerate(BATCHES, start=1):
        assert fits.of(number)[0].tolist() == start.tolist()
        assert fits.of(number)[1].tolist() == row.tolist()
    assert fits.first.tolist() == [0, 2, 3, 5]
    assert fits.row.tolist() == [0, 1, 1, 2, 3, 4, 3, 4]  # numbered over all batches


def test_an_earlier_version_has_the_first_batches_only(audited):
    fits = load_fits(audited, 2)
    assert (fits.first.tolist(), fits.start.tolist()) == ([0, 2, 3], [0, 2, 3, 4])
    assert fits.row.tolist() == [0, 1, 1, 2]


def test_before_the_first_version_there_are_none():
    assert load_fits(None, 0).start.tolist() == [0]
