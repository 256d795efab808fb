"""What a plan alone tells of a method: its settings and what follows from them, without numba."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from anon_core.promise import Promise
from anon_core.specs.demands import Demanded


class Stated(Protocol):
    """The settings of an anonymizer: a frozen, keyword-only dataclass, checked at birth.

    Attributes
    ----------
    kind : str
        The kind of data: "table", "matrix", "graph".
    promise : Promise
        What its releases keep.
    engines : mapping of str to str
        By engine that these settings run on, the module that spreads the work. "local" is always
        there; its empty name means `anonymize` itself, another one parts (`Threaded`). "dask" and
        "mpi" stand where the work can be spread (protocols `Farmed` and `Ranked`). A plan that
        names another engine is refused.

    Notes
    -----
    The metadata of a field may state two values: "before", what stood before the setting existed,
    so that hashes of older plans stay, and "stated levels", the default of a plan that states its
    demanded levels instead of drawing or reading them.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    kind: ClassVar[str]

    @property
    def promise(self) -> Promise:
        """See above; it may depend on settings."""
        ...

    @property
    def engines(self) -> Mapping[str, str]:
        """See above; most methods state a constant."""
        ...


class StatedOfTables(Stated, Protocol):
    """The settings of a method of tables: a plan tells some of what it cannot do."""

    def admit_demands(self, demanded: Demanded) -> None:
        """Refuse demands by what a plan tells of them; `admit` does so by what the table tells.

        Raises
        ------
        InputError, LimitError
        """
        ...
