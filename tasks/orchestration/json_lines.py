"""Log records as lines of JSON, for machines that collect them: CROWDCOVER_LOGS=json."""

import json
import logging
import os
import sys
from datetime import UTC, datetime
from typing import Any

# What Prefect adds to its records, and the plain log to its own.
OF_PREFECT = ("flow_name", "flow_run_name", "flow_run_id", "task_name", "task_run_name")


def writes_json_logs() -> bool:
    """Whether logs and refusals are lines of JSON: CROWDCOVER_LOGS=json."""
    return os.environ.get("CROWDCOVER_LOGS") == "json"


def write_line(severity: int, message: str) -> None:
    """Write a line that no log shows on standard error, in the form of the log if that is JSON."""
    line = format_line(severity, message) if writes_json_logs() else f"crowdcover: {message}"
    sys.stderr.write(f"{line}\n")


def format_line(severity: int, message: str) -> str:
    """A line that no log shows, in the form of those that one does."""
    record = logging.LogRecord("crowdcover", severity, "", 0, message, None, None)
    return JsonLines().format(record)


class JsonLines(logging.Formatter):
    """One line a record. Of an exception it holds the type: a traceback may quote values."""

    def __init__(self, *_: Any, **__: Any) -> None:
        # Configurations of logging pass a format; the fields of a line are fixed.
        super().__init__()

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "severity": record.levelname,
            "name": record.name,
            "message": record.getMessage(),
        }
        entry |= {name: getattr(record, name) for name in OF_PREFECT if hasattr(record, name)}
        if record.exc_info and record.exc_info[0] is not None:
            entry["error"] = record.exc_info[0].__name__
        return json.dumps(entry, default=str)  # no value may cost the line
