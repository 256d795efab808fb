"""Passwords and plans: a plan that holds one is refused; what it names is found when it is used."""

import json
import subprocess
import sys

import pytest

from crowdcover.flows.plan.passwords import withhold_passwords
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.section import PlanError
from crowdcover.storage.places.credentials import (
    CredentialsError,
    holds_password,
    secret_of,
    states_password,
    with_password,
    without_password,
)

PASSWORD = "zq7pass:w@rd"
SOURCE = "postgresql://reader@db.example:5432/people?sslmode=require"
LEDGER = "postgresql://db.example/ledger?user=writer&connect_timeout=3"
PLAN = """
name = "people"
[source]
uri = {source}
query = "select a, b from people"
{more}
[columns.a]
role = "quasi"
kind = "categorical"
[columns.b]
role = "sensitive"
[privacy]
k = 3
[publish]
ledger = {ledger}
{ledger_more}
"""
HELD = [
    (f"postgresql://reader:{PASSWORD}@db.example:5432/people?sslmode=require", SOURCE),
    (f"postgresql://db.example/ledger?user=writer&p%61ssword={PASSWORD}&connect_timeout=3", LEDGER),
    ("postgresql://u:a/b@c@h/d", "postgresql://u@h/d"),
    ("postgresql://:p@h/d", "postgresql://@h/d"),
    ("postgres://h/d?password=p", "postgres://h/d"),
    ("postgres://h/d?user=u&sslpassword=p;x", "postgres://h/d?user=u"),
    ("s3://AKIA:zq7@bucket/people.csv", "s3://AKIA@bucket/people.csv"),
    ("postgresql://u:p?w@h/d", "postgresql://u@h/d"),
    ("postgresql://u:5?w@h/d", "postgresql://u@h/d"),
    ("postgresql+x://u:p@h/d", "postgresql+x://u@h/d"),
    ("postgresql://h/d?scram_client_key=p", "postgresql://h/d"),
    ("mssql://u@h/d;Pwd=p;x", "mssql://u@h/d"),
    ("s3://b/k?X-Amz-Signature=p&X-Amz-Credential=q&a=1", "s3://b/k?a=1"),
    ("s3://b/k?sig=p", "s3://b/k"),
]
BARE = [
    "postgresql://u@h:5432/d@x",
    "postgresql://h:5432,g:5433/d?target_session_attrs=any",
    "postgresql:///d?host=/run/postgresql",
    "postgresql:///?service=people",
    "postgresql://h/d?sslkey=/run/client.key&passfile=/run/pgpass",
    "postgresql://h:5432/d?user=a@b",
    "postgresql://h:5432,g:5433/d?user=a@b",
    "s3://b/signature=1/*.parquet",
    "sqlite:////tmp/a:b.db",
    "s3://bucket/people.csv",
    "/data/a:b@c.csv",
]


@pytest.fixture
def plan_of(tmp_path):
    def load(source=SOURCE, ledger=LEDGER, more="", ledger_more=""):
        path = tmp_path / "people.toml"
        parts = {"source": json.dumps(source), "ledger": json.dumps(ledger)}
        path.write_text(PLAN.format(**parts, more=more, ledger_more=ledger_more))
        return ReleasePlan.load(path)

    return load


@pytest.mark.parametrize(("uri", "left"), HELD)
def test_a_uri_with_a_password(uri, left):
    assert holds_password(uri)
    assert without_password(uri) == left
    assert not holds_password(left)


@pytest.mark.parametrize("uri", BARE)
def test_a_uri_without_one(uri):
    assert not holds_password(uri)
    assert without_password(uri) == uri


def test_a_plan_that_holds_one_is_refused(plan_of, tmp_path):
    for uri in (HELD[0][0], HELD[4][0]):
        with pytest.raises(PlanError, match=r"source\.uri holds a password.*'env:NAME'") as caught:
            plan_of(source=uri)
        assert "zq7" not in str(caught.value)
        with pytest.raises(PlanError, match=r"publish\.ledger holds a password.*ledger_credential"):
            plan_of(ledger=uri)
    path = plan_of() and tmp_path / "people.toml"
    with pytest.raises(PlanError, match=r"source\.uri holds a password"):
        ReleasePlan.load(path, [f"source.uri={HELD[0][0]}"])
    with pytest.raises(PlanError, match=r"publish\.path holds a password.*AWS_PROFILE"):
        ReleasePlan.load(path, [f"publish.path={HELD[6][0]}"])


@pytest.mark.parametrize(
    "query",
    [
        "select * from postgres_scan('host=h password=zq7', 'public', 'people')",
        "select * from postgres_scan('postgresql://u:zq7@h/d', 'public', 'people')",
        "select * from read_parquet('https://h/k?X-Amz-Signature=zq7')",
        "create or replace secret s (type s3, secret 'zq7'); select 1",
        "select http_get('https://h', headers => {'Authorization': 'Bearer zq7'})",
    ],
)
def test_a_query_that_holds_one_is_refused(plan_of, tmp_path, query):
    path = plan_of() and tmp_path / "people.toml"
    with pytest.raises(PlanError, match=r"source\.query holds a password.*take it out") as caught:
        ReleasePlan.load(path, [f"source.query={json.dumps(query)}"])
    assert "zq7" not in str(caught.value)
    document = {"source": {"uri": SOURCE, "query": query}}
    assert "zq7" not in json.dumps(withhold_passwords(document))


@pytest.mark.parametrize(
    "query",
    [
        "select * from people where password = 'x' and token = 'y'",
        "select * from people where note like '%password=%'",
        "select secret, 'see https://h/k?page=1' from people",
    ],
)
def test_a_query_that_holds_none(query):
    assert not states_password(query)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("https://h/k.csv?X-Amz-Signature=zq7", "source.path is an address that is not read"),
        ("abfs://zq7@h/k.csv", "source.path is an address that is not read"),
        ("s3://", "source.path names no bucket"),
    ],
)
def test_an_address_that_is_not_read(plan_of, tmp_path, address, words):
    path = plan_of() and tmp_path / "people.toml"
    with pytest.raises(PlanError, match=words) as caught:
        ReleasePlan.load(path, [f"source.path={address}"])
    assert "zq7" not in str(caught.value)


@pytest.mark.parametrize("stated", ["zq7", "env:", "env:a b", "env:A=1", "prefect:A_b", "vault:x"])
def test_what_is_no_place_for_a_password(plan_of, stated):
    for where in ({"more": f'credentials = "{stated}"'},):
        with pytest.raises(PlanError, match=r"credentials must be 'env:NAME'") as caught:
            plan_of(**where)
        assert "zq7" not in str(caught.value)
    with pytest.raises(PlanError, match=r"ledger_credentials must be 'env:NAME'"):
        plan_of(ledger_more=f'ledger_credentials = "{stated}"')


def test_where_it_lies_decides_nothing(plan_of):
    assert plan_of().sha256 == plan_of(more='credentials = "env:PEOPLE"').sha256


def test_a_password_is_found_when_it_is_used(plan_of, tmp_path, monkeypatch):
    plan = plan_of(
        more='credentials = "env:PEOPLE_PASSWORD"',
        ledger_more=f'ledger_credentials = "file:{tmp_path}/ledger"',
    )
    with pytest.raises(CredentialsError, match="no password was found at env:PEOPLE_PASSWORD"):
        with_password(plan.data.source.uri, plan.data.source.credentials)
    monkeypatch.setenv("PEOPLE_PASSWORD", PASSWORD)
    (tmp_path / "ledger").write_text("zq7 other\n")
    with pytest.raises(CredentialsError, match=r"can be read by every account.*chmod it to 600"):
        _ = plan.publish.ledger_uri
    (tmp_path / "ledger").chmod(0o640)
    whole = with_password(plan.data.source.uri, plan.data.source.credentials)
    assert whole == f"{SOURCE}&password=zq7pass%3Aw%40rd"
    assert plan.publish.ledger_uri == f"{LEDGER}&password=zq7%20other"
    frozen = plan.freeze(tmp_path / "vault" / "plans")
    assert "zq7" not in frozen.read_text()
    assert ReleasePlan.load(frozen) == plan
    assert "zq7" not in repr(plan)


def test_only_a_containers_own_folder_is_open_to_all(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "crowdcover.storage.places.credentials.OPEN_TO_ALL", (str(tmp_path / "secrets"),)
    )
    for name in ("secrets", "secrets-old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "people").write_text(PASSWORD)
        (tmp_path / name / "people").chmod(0o644)
    assert secret_of(f"file:{tmp_path}/secrets/people") == PASSWORD
    for way in ("secrets-old/people", "secrets/../secrets-old/people"):
        with pytest.raises(CredentialsError, match="can be read by every account"):
            secret_of(f"file:{tmp_path}/{way}")


@pytest.mark.long
def test_a_process_that_is_started_finds_it(plan_of, tmp_path, monkeypatch):
    """Served plans and plans side by side run in processes of their own."""
    monkeypatch.setenv("PEOPLE_PASSWORD", PASSWORD)
    frozen = plan_of(more='credentials = "env:PEOPLE_PASSWORD"').freeze(tmp_path / "vault/plans")
    words = (
        "import sys; from pathlib import Path; from crowdcover.flows.plan.plan import ReleasePlan; "
        "from crowdcover.storage.places.credentials import secret_of; "
        "print(secret_of(ReleasePlan.load(Path(sys.argv[1])).source.credentials))"
    )
    command = [sys.executable, "-c", words, str(frozen)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == PASSWORD


def test_a_block_of_prefect(server):
    from prefect.blocks.system import Secret

    Secret(value=PASSWORD).save("people-db", overwrite=True)
    assert secret_of("prefect:people-db") == PASSWORD
    with pytest.raises(CredentialsError, match="no password was found at prefect:nobody"):
        secret_of("prefect:nobody")


def test_what_the_vault_keeps_is_withheld_nevertheless():
    document = {"source": {"uri": HELD[0][0]}, "publish": {"ledger": HELD[1][0], "path": "x"}}
    assert withhold_passwords(document) == {
        "source": {"uri": SOURCE},
        "publish": {"ledger": LEDGER, "path": "x"},
    }


def test_plans_of_older_vaults_lose_theirs(plan_of, tmp_path):
    folder = tmp_path / "vault" / "plans"
    folder.mkdir(parents=True)
    older, other = folder / "people-0.json", folder / "people-1.json"
    older.write_text(json.dumps({"name": "people", "source": {"uri": HELD[0][0], "query": "q"}}))
    other.write_bytes(b"age-encryption.org/v1 \xff")
    plan_of().freeze(folder)
    assert json.loads(older.read_text())["source"] == {"uri": SOURCE, "query": "q"}
    assert other.read_bytes() == b"age-encryption.org/v1 \xff"
    assert older.stat().st_mode & 0o777 == 0o600
