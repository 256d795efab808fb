"""What counts as an outage, how long is waited, and what is said meanwhile."""

import errno
import sqlite3

import pytest

from anon_core.errors import InputError
from crowdcover.storage.places import outages
from crowdcover.storage.places.objects import ObjectPath, StoreError
from crowdcover.storage.places.outages import (
    ask_again,
    list_pauses,
    wait_out_outages,
)
from crowdcover.storage.places.place import place_of

SECRET = "postgresql://zq7user:zq7password@db.example/people"


class Store:
    """Answers after some failures."""

    def __init__(self, fails, error):
        self.fails, self.error, self.asked = fails, error, 0

    def __call__(self):
        self.asked += 1
        if self.asked <= self.fails:
            raise self.error
        return "the answer"


def driver_error(name, message="", module="driver", bases=(Exception,), **facts):
    made = type(name, bases, {"__module__": module})(message)
    for key, value in facts.items():
        setattr(made, key, value)
    return made


def answered(status):
    """What a driver of S3 makes of an answer with a status."""
    error = OSError(errno.EIO, "words of the server")
    error.__cause__ = driver_error(
        "ClientError", response={"ResponseMetadata": {"HTTPStatusCode": status}}
    )
    return error


OUTAGES = [
    driver_error("OperationalError", module="sqlite3", sqlite_errorname="SQLITE_BUSY"),
    driver_error("OperationalError", module="sqlite3", sqlite_errorname="SQLITE_BUSY_SNAPSHOT"),
    ConnectionRefusedError(),
    TimeoutError(),
    driver_error("OperationalError", sqlstate="57P01"),
    driver_error("OperationalError", sqlstate="57P03"),
    driver_error("OperationalError", sqlstate="08006"),
    driver_error("OperationalError", sqlstate="53300"),
    driver_error("OperationalError", sqlstate="55P03"),
    driver_error("OperationalError", "... server closed the connection unexpectedly"),
    driver_error("OperationalError", "FATAL:  the database system is starting up"),
    driver_error("ComputeError", "IO: SSL connection has been closed unexpectedly"),
    driver_error("OperationalError", "No such file or directory\n\tIs the server running locally"),
    driver_error("OperationalError", "lookup: Temporary failure in name resolution"),
    driver_error("OperationalError", (20009, b"DB-Lib error"), "pymssql._pymssql"),
    driver_error("OperationalError", (40613, b"not available"), "pymssql._pymssql"),
    driver_error("EndpointConnectionError", bases=(type("HTTPClientError", (Exception,), {}),)),
    answered(503),
    answered(429),
    driver_error("HttpError", code=500),
    driver_error("SubmitException", "sbatch: error: Unable to contact slurm controller"),
]
REFUSALS = [
    driver_error("OperationalError", module="sqlite3", sqlite_errorname="SQLITE_FULL"),
    ValueError("connection"),
    InputError("the database did not answer: connection refused"),
    PermissionError(),
    FileNotFoundError(),
    ImportError(),
    sqlite3.OperationalError("database is locked, connection refused"),
    driver_error("IOException", "connection refused", "_duckdb"),
    driver_error("ProgrammingError", "connection refused", sqlstate="42P01"),
    driver_error("OperationalError", sqlstate="28P01"),
    driver_error("OperationalError", sqlstate="08004"),
    driver_error("OperationalError", sqlstate="57014"),
    driver_error("OperationalError", sqlstate="53100"),
    driver_error("OperationalError", 'FATAL:  password authentication failed for user "x"'),
    driver_error("OperationalError", "could not translate host name: Name or service not known"),
    driver_error("OperationalError", (18456, b"DB-Lib error 20002"), "pymssql._pymssql"),
    driver_error("SSLError", "certificate", bases=(ConnectionError,)),
    answered(400),
    answered(501),
    driver_error("SubmitException", "sbatch: error: invalid partition specified: nights"),
]


@pytest.mark.parametrize("error", OUTAGES, ids=repr)
def test_an_outage_is_waited_out(waited, error):
    store, said = Store(3, error), []
    with wait_out_outages(said.append):
        assert ask_again("the ledger", store) == "the answer"
    assert (store.asked, waited) == (4, [1, 2, 4])
    assert said == [
        f"waiting for the ledger ({type(error).__name__}): try {number} of at most 8 in {pause} s"
        for number, pause in ((2, 1), (3, 2), (4, 4))
    ]


@pytest.mark.parametrize("error", REFUSALS, ids=repr)
def test_a_refusal_is_never_asked_again(waited, error):
    store, said = Store(1, error), []
    with pytest.raises(type(error)), wait_out_outages(said.append):
        ask_again("the source", store)
    assert (store.asked, waited, said) == (1, [], [])


def test_the_longest_outage(waited):
    """A minute and more is survived; what is raised in the end is the last error."""
    store = Store(99, ConnectionRefusedError(SECRET))
    said = []
    with pytest.raises(ConnectionRefusedError), wait_out_outages(said.append):
        ask_again("the source", store)
    assert store.asked == 8
    assert waited == [1, 2, 4, 8, 16, 32, 57]
    assert sum(waited) == outages.LONGEST_WAIT
    assert not any("zq7" in line or "example" in line for line in said)


def test_slow_tries_count(waited, monkeypatch):
    """A driver that takes 50 s to fail is not asked eight times."""
    clock = iter(range(0, 10**6, 25))  # it is read twice after each failure
    monkeypatch.setattr("crowdcover.storage.places.outages.time.monotonic", lambda: next(clock))
    store = Store(99, ConnectionRefusedError())
    with pytest.raises(ConnectionRefusedError), wait_out_outages(lambda _: None):
        ask_again("the source", store)
    assert 2 <= store.asked < 8
    assert store.asked == len(waited) + 1


def test_nobody_waits_outside_of_a_run(waited):
    with pytest.raises(ConnectionRefusedError):
        ask_again("the source", Store(1, ConnectionRefusedError()))
    assert waited == []


@pytest.mark.parametrize(
    ("stated", "pauses"),
    [("0", []), ("1", [1]), ("2.5", [1, 1.5]), ("600", [1, 2, 4, 8, 16, 32, 64, 128, 256, 89])],
)
def test_the_variable_says_how_long(monkeypatch, stated, pauses):
    monkeypatch.setenv(outages.WAIT_VARIABLE, stated)
    assert list_pauses() == pauses


@pytest.mark.parametrize("stated", ["", "soon", "-1", "inf", "nan", "1e9"])
def test_what_is_no_number_of_seconds_changes_nothing(monkeypatch, stated):
    monkeypatch.setenv(outages.WAIT_VARIABLE, stated)
    assert sum(list_pauses()) == outages.LONGEST_WAIT


class Bucket:
    """A driver of object storage that is away for some calls; `lost`: only its answers are."""

    def __init__(self, fails=0, *, lost=False):
        self.fails, self.lost, self.objects = fails, lost, {}

    def _meet_outage(self):
        self.fails -= 1
        if self.fails >= 0:
            raise ConnectionResetError(SECRET)

    def cat_file(self, url):
        self._meet_outage()
        return self.objects[url]

    def pipe_file(self, url, content, mode="overwrite"):
        if not self.lost:
            self._meet_outage()
        if mode == "create" and url in self.objects:
            raise FileExistsError(url)
        self.objects[url] = content
        self._meet_outage()

    def rm_file(self, url):
        if not self.lost:
            self._meet_outage()
        if self.objects.pop(url, None) is None:
            raise FileNotFoundError(url)
        self._meet_outage()


@pytest.fixture
def bucket(monkeypatch):
    made = Bucket()
    monkeypatch.setattr("fsspec.filesystem", lambda *_, **__: made)
    return made


def test_objects_are_asked_again(waited, bucket):
    place, said = place_of("s3://people/v1/data"), []
    bucket.objects[place.url], bucket.fails = b"rows", 2
    with wait_out_outages(said.append):
        assert place.read_bytes() == b"rows"
    start = "waiting for the object storage of s3://people (ConnectionResetError): try"
    assert said == [f"{start} 2 of at most 8 in 1 s", f"{start} 3 of at most 8 in 2 s"]
    bucket.fails = 99
    with (
        pytest.raises(StoreError, match="does not answer") as caught,
        wait_out_outages(said.append),
    ):
        place.read_bytes()
    assert "zq7" not in f"{caught.value} {said} {caught.value.__context__}"


def test_the_answer_to_a_removal_is_lost(waited, bucket):
    """The second try finds nothing: the first one has removed it."""
    place = ObjectPath("gs://people/v1/manifest.json")
    bucket.objects[place.url], bucket.fails, bucket.lost = b"{}", 1, True
    with wait_out_outages(lambda _: None):
        place.unlink()
    assert bucket.objects == {}
    with pytest.raises(FileNotFoundError), wait_out_outages(lambda _: None):
        place.unlink()


def test_the_answer_to_a_write_is_lost(waited, bucket):
    """The second try is told that the object is there; who writes compares the content."""
    place = ObjectPath("s3://people/v1/manifest.json")
    bucket.fails, bucket.lost = 1, True
    with pytest.raises(FileExistsError), wait_out_outages(lambda _: None):
        place.create(b"{}")
    assert bucket.objects == {place.url: b"{}"}
