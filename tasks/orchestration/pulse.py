"""A sign of life: no stage is silent for long, however large its data is."""

import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

EVERY = 5.0  # seconds without a line until a stage says that it is at work


class Silence:
    """Knows since when nothing was logged; threads share it."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def note_line(self) -> None:
        """Note that something is logged now."""
        self._last = time.monotonic()

    def measure_seconds(self) -> float:
        """Return how long nothing was logged."""
        return time.monotonic() - self._last


@contextmanager
def tell_of_work(name: str, silence: Silence, log: Callable[[str], None]) -> Iterator[None]:
    """Log every `EVERY` seconds that a stage is at work, unless something else is logged."""
    began, over = time.monotonic(), threading.Event()
    silence.note_line()

    def break_silence() -> None:
        while not over.wait(max(0.05, EVERY - silence.measure_seconds())):
            if silence.measure_seconds() >= EVERY:
                # A log that fails tells the message of its error nowhere, and stops no stage.
                with suppress(Exception):
                    log(f"{name}: at work for {time.monotonic() - began:.0f} s")

    # The log is that of the flow run, which threads find in their context.
    run = contextvars.copy_context().run
    thread = threading.Thread(target=run, args=(break_silence,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
