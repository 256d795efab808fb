"""Named arrays of a .npz file, as numpy and scipy.sparse write it."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from storage.source.csv_rows import Content
from storage.source.values import call_or_refuse

DAMAGED = "the source is not a readable .npz file of arrays; write it anew"


def array_names(content: Content) -> list[str]:
    """Names of the arrays in a file."""

    def names() -> list[str]:
        with np.load(io.BytesIO(content.data), allow_pickle=False) as file:
            return list(file.files)

    return call_or_refuse(names, DAMAGED)


def read_arrays(content: Content, needed: Sequence[str]) -> Mapping[str, NDArray[Any]]:
    """Return the needed arrays; refused: a file that lacks one, and objects in place of numbers."""
    if lost := [name for name in needed if name not in array_names(content)]:
        raise InputError(f"the source has no array {', '.join(lost)}; write it by scipy.sparse")

    def arrays() -> Mapping[str, NDArray[Any]]:
        with np.load(io.BytesIO(content.data), allow_pickle=False) as file:
            return {name: file[name] for name in needed}

    return call_or_refuse(arrays, DAMAGED)
