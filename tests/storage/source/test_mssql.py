"""SQL Server by its driver, against a stand-in for its protocol; no SQL Server was asked."""

import sys

import pytest

from anon_core.errors import InputError
from crowdcover.storage.places.credentials import with_password
from crowdcover.storage.source.databases import query_database
from crowdcover.storage.source.drivers.mssql import connection_options
from tests.storage.source.tds import serving
from tests.support.sources import quiet

PASSWORD = "zq7;p@ss {w}"


@pytest.fixture
def server(monkeypatch):
    pytest.importorskip(
        "pymssql", reason="the driver is not installed: pip install 'crowdcover[mssql]'"
    )
    monkeypatch.setenv("ZQ7", PASSWORD)
    with serving(PASSWORD) as server:
        yield server


def uri_of(server, database="people", more="encryption=off"):
    return f"mssql://ann@127.0.0.1:{server.server_address[1]}/{database}?{more}"


def ask(server, statement="select b, a from people", uri=None):
    rows = query_database(with_password(uri or uri_of(server), "env:ZQ7"), statement)
    return rows.unpack_columns(rows.names), rows.sha256


# The driver remembers the gravest error of a connection: the milder ones come first here.
def test_a_server_that_is_not_there(server):
    with pytest.raises(InputError, match=r"no server answers at the host and port of source.uri"):
        query_database("mssql://ann@127.0.0.1:1/people", "select 1")


def test_rows_of_one_moment(server):
    frame, sha256 = ask(server)
    assert frame.sort("b").rows() == [(None, None), (1, "zq7 y"), (2, "x")]
    assert ask(server)[1] == sha256
    assert server.notes[0] == ("ann", PASSWORD, "people")
    moment = server.notes.index("set transaction isolation level serializable")
    assert moment < server.notes.index("select b, a from people")


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "words"),
    [
        (207, "source.query names a column that is not there"),
        (208, "source.query names a table or schema that is not there"),
        (102, "source.query is not one statement"),
        (229, "grant select"),
        (245, "correct its casts"),
        (1205, "run again later"),
        (51000, "check source.uri and source.query"),
    ],
)
def test_a_query_that_is_refused(server, number, words, capfd):
    with pytest.raises(InputError, match=rf"error {number}\).*{words}") as caught:
        ask(server, f"select error {number}")
    quiet(caught.value)
    assert "zq7" not in "".join(capfd.readouterr())


def test_logins_that_are_refused(server, monkeypatch):
    with pytest.raises(InputError, match=r"no database of that name; correct source.uri") as caught:
        ask(server, uri=uri_of(server, "zq7none"))
    quiet(caught.value)
    with pytest.raises(InputError, match="the database did not answer"):
        ask(server, uri=uri_of(server, more="encryption=require"))
    monkeypatch.setenv("ZQ7", "zq7wrong")
    with pytest.raises(InputError, match=r"refused the login; correct the user") as caught:
        ask(server)
    quiet(caught.value)


def test_a_server_that_is_gone(server):
    with pytest.raises(InputError, match=r"run again later") as caught:
        ask(server, "select gone")
    quiet(caught.value)


def test_what_the_driver_is_given():
    given = connection_options("mssql://a%40b@h/d?password=p%3B")
    assert (given["user"], given["password"], given["port"]) == ("a@b", "p;", "1433")
    assert given["encryption"] == "require"
    for address in ("mssql://h", "mssql:///d", "mssql://h:zq7/d", "mssql://h/d?zq7=1"):
        with pytest.raises(InputError, match=r"is not understood; write mssql://") as caught:
            connection_options(address)
        quiet(caught.value)


def test_without_the_driver(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymssql", None)
    with pytest.raises(InputError, match=r"SQL Server needs the driver.*crowdcover\[mssql\]"):
        query_database("mssql://h/d", "select 1")
