"""The protocol of every anonymizer, and of the data that it takes and makes."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.stated import Stated, StatedOfTables
from anon_core.spread import Farm, Ranks
from anon_core.steps import Observer, State, Step
from anon_core.tables.records import BinaryTable

Arrays = Mapping[str, NDArray[Any]]


class Made(Protocol):
    """What an anonymizer made, such as a `MaskedTable`."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step, in order."""
        ...

    @property
    def result_step(self) -> int:
        """Number of the step whose result this is."""
        ...

    def arrays(self) -> Arrays:
        """All that the data's `restore_result` needs to make this again."""
        ...


class Data(Protocol):
    """Encoded data of one kind, such as a `BinaryTable`; a batch job carries it as arrays."""

    @property
    def records(self) -> int:
        """Number of records n."""
        ...

    def pack_arrays(self) -> tuple[Mapping[str, Any], Arrays]:
        """A JSON document of shapes, without names or labels, and the arrays."""
        ...

    @classmethod
    def unpack_arrays(cls, document: Mapping[str, Any], arrays: Arrays) -> Self:
        """The inverse of `pack_arrays`, without names and labels."""
        ...

    def restore_result(self, arrays: Arrays, steps: tuple[Step, ...], result_step: int) -> Made:
        """What an anonymizer made of this data, from the arrays of `Made.arrays`."""
        ...


_Taken_contra = TypeVar("_Taken_contra", bound=Data, contravariant=True)


class Anonymizer(Stated, Protocol[_Taken_contra]):
    """Settings, see `Stated`, and what is made with them.

    Attributes
    ----------
    data : type
        The class of the kind's data.
    """

    data: ClassVar[type[Data]]

    def admit(self, data: _Taken_contra) -> None:
        """Refuse demands or sizes before any work.

        Raises
        ------
        InputError, InfeasibleError, LimitError
        """
        ...

    def memory(self, data: _Taken_contra) -> int:
        """Bytes that `anonymize` holds at most beyond its input."""
        ...

    def anonymize(
        self,
        data: _Taken_contra,
        *,
        tie_order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> Made:
        """Make what may be released.

        Parameters
        ----------
        data : Data
        tie_order : int64 (n,), optional
            Order of the records that decides ties (first wins); as given if None. A secret order
            keeps a reader of the source from repeating the run.
        observer : Observer, optional
        resume : State, optional
            Where a run with the same settings, data and order was stopped. The result is that of a
            run that was not stopped.

        Raises
        ------
        InputError
            The state is none of this data and these settings.
        """
        ...


class TableAnonymizer(Anonymizer[BinaryTable], StatedOfTables, Protocol):
    """An anonymizer of tables."""

    @property
    def reads_numbers(self) -> bool:
        """Whether it reads the numbers of levels, so that workers must get them, too."""
        ...


class Threaded(Protocol):
    """A module that makes data part by part in this process: what `engines["local"]` may name."""

    def memory(self, anonymizer: Any, data: Any) -> int:
        """Bytes held at most beyond the input where one part is at work."""
        ...

    def anonymize(
        self,
        anonymizer: Any,
        data: Any,
        *,
        memory: int | None = None,
        tie_order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> Made:
        """Make the same whatever the threads, and the memory beyond the input, in bytes."""
        ...


class Farmed(Protocol):
    """A module that spreads an anonymizer's work over a farm: what `engines["dask"]` names."""

    def memory(self, anonymizer: Any, data: Any, *, workers: int) -> int:
        """Bytes beyond the input that are held at most by the process that asks and its workers.

        `workers`: processes that it starts itself, which share its threads; 0: others do the work.
        """
        ...

    def anonymize(
        self,
        anonymizer: Any,
        data: Any,
        farm: Farm,
        *,
        tie_order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> Made:
        """Make the bytes of `Anonymizer.anonymize`, whatever the workers and their deaths."""
        ...


class Ranked(Protocol):
    """A module that spreads an anonymizer's work over ranks: what `engines["mpi"]` names."""

    def memory(self, anonymizer: Any, data: Any, *, ranks: int, threads: int) -> int:
        """Bytes that any rank holds at most beyond the data."""
        ...

    def anonymize(
        self,
        anonymizer: Any,
        data: Any,
        ranks: Ranks,
        *,
        tie_order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> Made:
        """Make the bytes of `Anonymizer.anonymize`, whatever the number of ranks; on each rank.

        The observer of each rank receives states whose arrays are parts: joined along their last
        axis, the parts of all ranks are the state of `Anonymizer.anonymize`, in another order. An
        array that did not change since the last state, or since `resume`, is the same object.
        `resume` holds, for each rank, what `share` gives of all parts, joined along the last axis.
        """
        ...

    def share(self, arrays: Arrays, tie_order: NDArray[np.int64], ranks: Ranks) -> Arrays:
        """What this rank resumes with from one part of a state, whichever rank wrote the part."""
        ...
