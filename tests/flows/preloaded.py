"""What the process that others are forked from has done before the first of them is asked for."""

import gc
import importlib

from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

OURS = ("flows.cli", "flows.release", "flows.audit", "validations.run", "validations.suites.released", "reports.page")
LATE = (  # what a release imports late
    "fastapi.encoders",
    "graphviz",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "matplotlib.style",
    "prefect.flow_engine",
    "prefect.task_engine",
)

for name in (*OURS, *LATE):
    importlib.import_module(name)
quiet = temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None})  # heartbeats cost each run a second
quiet.__enter__()
gc.freeze()  # else the first collection of a forked process would copy all of this
