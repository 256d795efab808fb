"""A look at the source beside the page, which answers meanwhile: the starter plan, the values."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from crowdcover.flows.cli import describe_failure

SHORT_WAIT = 0.3  # seconds; a small table is looked at by then
Seen = TypeVar("Seen")
Log = Callable[[str], None]


class PageLook(Generic[Seen]):
    """A look that is taken, or has ended.

    Attributes
    ----------
    log : list of str
        What it has done so far, without a value of the source.
    made : Seen or None
        What the look has given; None before its end.
    refusal : str
        Why it has ended early, as the command says it; else empty.
    code : int
        The exit code of a command that ends so.
    """

    def __init__(self, work: Callable[[Log], Seen]) -> None:
        self.log: list[str] = []
        self.made: Seen | None = None
        self.refusal, self.code = "", 0
        self._thread = threading.Thread(target=self._take, args=(work,), daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._thread.is_alive()

    def wait(self, seconds: float | None = None) -> None:
        """Wait for its end, for so long at most."""
        self._thread.join(seconds)

    def _take(self, work: Callable[[Log], Seen]) -> None:
        try:
            self.made = work(self.log.append)
        except BaseException as error:  # noqa: BLE001 - polars panics are no Exceptions
            self.refusal, self.code = describe_failure(error)
