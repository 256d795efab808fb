"""Outages: which errors of a store are ones, and how long a run waits for the end of one.

A store is a source, a ledger, object storage, a target or a scheduler. In an outage it does not
answer, or not now: its server restarts, the network is cut. A store that answers no refuses, and is
never asked again. What cannot be told apart counts as an outage: a server that is down, and an
address at which there never was one.

A question is asked again as a whole, so it must leave nothing half done: a query, a transaction,
one object.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from anon_core.errors import AnonymityError

WAIT_VARIABLE = "CROWDCOVER_WAIT"
LONGEST_WAIT = 120.0  # seconds from the first failure to the last try, unless the variable says
_FIRST = 1.0  # seconds of the first pause; each is twice the one before
_Result = TypeVar("_Result")
_SAY: ContextVar[Callable[[str], None] | None] = ContextVar("says that a run waits", default=None)

# SQLSTATEs: the server ends or begins its work, has no free connection, must undo a deadlock, or a
# lock was not free in time, such as one that a connection holds which was cut.
_STATES = {"57P01", "57P02", "57P03", "53300", "40001", "40P01", "55P03"}
_NOT_AWAY = {"08004", "08P01"}  # of class 08, connections: rejected, and a protocol that differs
# Of SQL Server and its client library: as above; then those of its service on Azure.
_MSSQL_NUMBERS = {1205, 20002, 20003, 20004, 20006, 20009, 20017, 20047, 40197, 40501, 40613}
# Of drivers that state neither, in small letters.
_PHRASES = (
    *("connection refused", "connection reset", "connection timed out", "timeout expired"),
    *("no route to host", "network is unreachable", "temporary failure in name resolution"),
    # libpq says this where the socket of a local server is missing.
    "is the server running",
    *("server closed the connection", "connection has been closed", "terminating connection"),
    *("could not receive data from server", "could not send data to server", "broken pipe"),
    *("the database system is", "sorry, too many clients", "too many connections"),
    *("i/o timeout", "login-request"),
    *("unable to contact slurm controller", "socket timed out on send/recv"),
)
# Classes of drivers of object storage; the names of a class and of those that it is made of count.
_CLASSES = {
    *("ConnectionError", "HTTPClientError", "ResponseStreamingError", "IncompleteReadError"),
    *("ClientConnectionError", "ClientPayloadError", "TimeoutError"),
}
_CERTIFICATES = {"SSLError", "ClientConnectorCertificateError", "ClientSSLError"}
_HTTP_STATUS = {408, 429, 500, 502, 503, 504}


@contextmanager
def wait_out_outages(say: Callable[[str], None]) -> Iterator[None]:
    """Let the work inside wait for the end of outages, and say so; other work does not wait."""
    token = _SAY.set(say)
    try:
        yield
    finally:
        _SAY.reset(token)


def ask_again(what: str, ask: Callable[[], _Result]) -> _Result:
    """Return what a store answers; during an outage it is asked again, after longer pauses.

    `what` names the store in the log, without an address. The error of the last try is raised.
    """
    say = _SAY.get()
    if say is None:
        return ask()
    pauses, longest, first = list_pauses(), _read_longest(), 0.0
    for number, pause in enumerate(pauses, start=2):
        try:
            return ask()
        except AnonymityError:
            raise
        except Exception as error:
            first = first or time.monotonic()
            # Tries take time, too: drivers of object storage ask several times by themselves.
            left = longest - (time.monotonic() - first)
            if left <= 0 or not is_outage(error):
                raise
            kind, pause = type(error).__name__, min(pause, left)  # noqa: PLW2901
        tries = f"try {number} of at most {len(pauses) + 1}"
        say(f"waiting for {what} ({kind}): {tries} in {pause:.3g} s")
        time.sleep(pause)
    return ask()


def list_pauses() -> list[float]:
    """Seconds between the tries of a question; none where the variable says 0."""
    left, pause, pauses = _read_longest(), _FIRST, []
    while left > 0:
        pauses.append(min(pause, left))
        left, pause = left - pause, 2 * pause
    return pauses


def _read_longest() -> float:
    stated = os.environ.get(WAIT_VARIABLE, "")
    # Whatever is no number of seconds: a run must not fail because of it.
    return float(stated) if re.fullmatch(r"\d{1,6}(\.\d+)?", stated) else LONGEST_WAIT


def is_outage(error: BaseException) -> bool:
    """Whether an error of a driver says that its store does not answer now."""
    names = {each.__name__ for each in type(error).__mro__}
    package = type(error).__module__.partition(".")[0].lstrip("_")
    if package in ("sqlite3", "duckdb") or names & _CERTIFICATES:
        return is_locked(error)
    if isinstance(number := _find_number(error), int):
        return number in _MSSQL_NUMBERS
    if state := str(getattr(error, "sqlstate", None) or ""):
        return state in _STATES or (state.startswith("08") and state not in _NOT_AWAY)
    if names & _CLASSES or _find_http_status(error) in _HTTP_STATUS:
        return True
    text = str(error).lower()
    return any(phrase in text for phrase in _PHRASES)


def is_locked(error: BaseException) -> bool:
    """Whether another process holds a file of SQLite, and longer than its driver waits."""
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _find_number(error: BaseException) -> Any:
    """The number of an error of SQL Server, which its driver gives alone or with a text."""
    if not type(error).__module__.startswith("pymssql"):
        return None
    first = error.args[0] if error.args else None
    return first[0] if isinstance(first, tuple) and first else first


def _find_http_status(error: BaseException) -> int | None:
    """The status of an answer of object storage; drivers keep it in the error that they replace."""
    for each in (error, error.__cause__):
        answer = getattr(each, "response", None)
        if isinstance(answer, dict):
            status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
        else:
            status = getattr(each, "code", None)
        if isinstance(status, int):
            return status
    return None
