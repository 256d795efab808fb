"""The log of a run without Prefect: on standard error, in the form of Prefect's lines."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from crowdcover.tasks.orchestration.json_lines import JsonLines, writes_json_logs
from crowdcover.tasks.orchestration.terminal import find_screen


class _Lines(logging.Formatter):
    """The time, the level, plan and stage, the message."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line; never with a traceback, which may quote values."""
        when = datetime.fromtimestamp(record.created).isoformat(" ", "milliseconds").split(" ")[1]
        names = (getattr(record, f"{each}_run_name", "") for each in ("flow", "task"))
        where = " ".join(filter(None, names)) or record.name
        return f"{when} | {record.levelname:<7} | {where} - {record.getMessage()}"


@contextmanager
def write_plain_log(*, quiet: bool) -> Iterator[None]:
    """Write what the work inside logs, unless `quiet`; a screen that is open shows it itself."""
    if quiet:
        yield
        return
    logger, handler = logging.getLogger("crowdcover"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if writes_json_logs() else _Lines())
    before = logger.level, logger.propagate
    logger.setLevel(logging.INFO)
    logger.propagate = False  # where Prefect is imported, its root logger writes lines as well
    if find_screen() is None:
        logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.level, logger.propagate = before
