"""What the process that others are forked from has done before the first of them is asked for."""

import gc
import importlib
import os

from tests.flows.processes import let_system_write, without_heartbeats

OURS = (
    "crowdcover.flows.cli",
    "crowdcover.flows.release",
    "crowdcover.flows.look.audit",
    "crowdcover.validations.run",
    "crowdcover.kinds.table.suites.released",
    "crowdcover.reports.pages.page",
)
LATE = (  # what a release imports late
    "fastapi.encoders",
    "graphviz",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "matplotlib.style",
    "prefect.flow_engine",
    "prefect.task_engine",
)

os.fsync = let_system_write  # as in tests/conftest.py
for name in (*OURS, *LATE):
    importlib.import_module(name)
settings = without_heartbeats()  # kept: else they would end with it
settings.__enter__()
gc.freeze()  # else the first collection of a forked process would copy all of this
