"""Releases that many tests begin with: made once a session, found as they were made."""

import shutil

from tests.flows.orders import Order


class Standing:
    """Orders with one release, each in a folder of its own.

    A vault remembers places, so the folder is put back where it stood, and not copied elsewhere. A
    test may change all that is in it.
    """

    def __init__(self, folder):
        self.folder, self.numbers = folder, {}

    def __call__(self, make=Order, *arguments, seed=None, **sections):
        """Return the order `make(folder, *arguments, **sections)`, released once."""
        key = repr((make.__module__, make.__qualname__, arguments, seed, sections))
        known = key in self.numbers
        number = self.numbers.setdefault(key, len(self.numbers))
        folder, kept = self.folder / str(number), self.folder / f"{number}-kept"
        if known:
            shutil.rmtree(folder)
            shutil.copytree(kept, folder, symlinks=True)
        order = make(folder, *arguments, **sections)
        if not known:
            if seed is not None:
                order.fix_seed(seed)
            order.release()
            shutil.copytree(folder, kept, symlinks=True)
        return order
