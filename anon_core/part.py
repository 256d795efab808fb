"""What an anonymizer must work on, where some records of its data need no work."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class DataPart(Protocol):
    """A part of the data, and the way back from what was made of it.

    Attributes
    ----------
    data : Data
    tie_order : int64 (m,)
        The order of its records that decides ties.
    """

    @property
    def data(self) -> Any:
        """See above."""
        ...

    @property
    def tie_order(self) -> NDArray[np.int64]:
        """See above."""
        ...

    def restore_whole(self, result: Any) -> Any:
        """What was made of the part, as if it had been made of all data."""
        ...


@dataclass(frozen=True)
class Whole:
    """All data: every record needs work."""

    data: Any
    tie_order: NDArray[np.int64]

    def restore_whole(self, result: Any) -> Any:
        """What was made."""
        return result
