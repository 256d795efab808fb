"""A process that dies before one write to object storage."""

import os
import signal

from crowdcover.storage.places.objects import ObjectPath
from tests.flows.orders import FILES

WRITES = 2 + len(FILES)  # the mark, the files, one of them twice, the manifest


def die_before(number):
    """Kill this process in place of one of its writes."""
    done = []

    def counted(real):
        def write(self, *arguments):
            if len(done) == number:
                os.kill(os.getpid(), signal.SIGKILL)
            done.append(self)
            return real(self, *arguments)

        return write

    for name in ("create", "create_from", "write_bytes", "unlink"):
        setattr(ObjectPath, name, counted(getattr(ObjectPath, name)))
