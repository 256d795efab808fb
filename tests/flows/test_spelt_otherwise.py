"""One person is one person, however two files spell the identifier."""

import csv
import json
import unicodedata
import uuid

import polars as pl
import pytest

from anon_core.errors import InputError
from crowdcover.flows import cli
from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.storage.vault.files import read_json
from crowdcover.storage.vault.refusals import SecondReleaseError
from tests.typed import text_rows

PEOPLE = 60
UUIDS = [str(uuid.UUID(int=2**90 + 7 * n)) for n in range(2 * PEOPLE)]
SPELT = {
    "whole numbers with decimals": (lambda n: str(1000 + n), lambda n: f"{1000 + n}.0"),
    "with an exponent": (lambda n: str(10**6 * (1 + n)), lambda n: f"{10**6 * (1 + n):.6e}"),
    "in groups of three": (lambda n: str(98765 + n), lambda n: f"{98765 + n:,}"),
    "with a decimal comma": (lambda n: str(1000 + n), lambda n: f"{1000 + n},00"),
    "in Arabic digits": (
        lambda n: str(1000 + n),
        lambda n: "".join(chr(0x660 + int(digit)) for digit in str(1000 + n)),
    ),
    "with a sign": (lambda n: str(n + 1), lambda n: f"+{n + 1}"),
    "UUIDs in capitals": (lambda n: UUIDS[n], lambda n: UUIDS[n].upper()),
    "UUIDs in braces": (lambda n: UUIDS[n], lambda n: f"{{{UUIDS[n]}}}"),
    "UUIDs without dashes": (lambda n: UUIDS[n], lambda n: UUIDS[n].replace("-", "")),
    "accents apart": (
        lambda n: f"Zoë {n}",
        lambda n: unicodedata.normalize("NFD", f"Zoë {n}"),
    ),
    "in full width": (
        lambda n: f"P-{n}",
        lambda n: "".join(chr(ord(sign) + 0xFEE0) for sign in f"P-{n}"),
    ),
    "blanks around": (lambda n: f"P{n}", lambda n: f"  P{n}\u00a0"),
    "blanks that do not break": (lambda n: f"P {n}", lambda n: f"P\u00a0{n}"),
}


def spellings(place):
    """Every third spelling from a place on, and the others among the slow tests.

    The three tests of all spellings begin at different places: each spelling stays in a fast one.
    """
    return [
        pytest.param(*pair, id=name, marks=() if number % 3 == place else pytest.mark.slow)
        for number, (name, pair) in enumerate(SPELT.items())
    ]


PLAN = """name = "{name}"
[source]
path = "people.csv"
[columns]
pid = {{role = "identifier"}}
age = {{role = "quasi", kind = "numeric"}}
ill = {{role = "sensitive"}}
[privacy]
k = 3
{more}[publish]
path = "releases"
vault = "vault"
"""


def write(folder, spell, number=PEOPLE, **more):
    with (folder / "people.csv").open("w", newline="", encoding="utf-8") as handle:
        rows = [(spell(n), 20 + n % 30, "xyz"[n % 3], *more.values()) for n in range(number)]
        csv.writer(handle).writerows([("pid", "age", "ill", *more), *rows])


def release(folder, name="first", more=""):
    plan = folder / f"{name}.toml"
    plan.write_text(PLAN.format(name=name, more=more), encoding="utf-8")
    return release_plan(ReleasePlan.load(plan)).folder


@pytest.mark.long
@pytest.mark.parametrize(("one", "other"), spellings(0))
def test_a_second_release_of_the_same_people_is_refused(tmp_path, one, other):
    write(tmp_path, one)
    release(tmp_path)
    write(tmp_path, other, PEOPLE - 1)
    with pytest.raises(SecondReleaseError, match="59 people of this source were released already"):
        release(tmp_path, "second")


@pytest.mark.long
@pytest.mark.parametrize(("one", "other"), spellings(1))
def test_a_series_keeps_its_rows(tmp_path, one, other):
    series = '[series]\nrecord = "pid"\n'
    write(tmp_path, one)
    release(tmp_path, more=series)
    write(tmp_path, other)
    assert str(release(tmp_path, more=series)).endswith("v1")  # nothing changed
    write(tmp_path, other, PEOPLE + 6)
    folder = tmp_path / "releases" / "first" / "v2"
    assert release(tmp_path, more=series) == str(folder)
    counts = read_json(folder / "manifest.json")["series"]
    assert (counts["frozen"], counts["left"], counts["new"]) == (PEOPLE, 0, 6)


@pytest.mark.long
def test_numbers_of_another_type_are_the_same_people(tmp_path):
    """Parquet with floats after CSV with whole numbers."""
    write(tmp_path, lambda n: str(1000 + n))
    release(tmp_path)
    frame = pl.read_csv(tmp_path / "people.csv").with_columns(pl.col("pid").cast(pl.Float64))
    frame[:-1].write_parquet(tmp_path / "people.parquet")
    plan = PLAN.format(name="second", more="").replace("people.csv", "people.parquet")
    (tmp_path / "second.toml").write_text(plan, encoding="utf-8")
    with pytest.raises(SecondReleaseError, match="59 people"):
        release_plan(ReleasePlan.load(tmp_path / "second.toml"))


@pytest.mark.long
def test_numbers_with_leading_zeros_are_other_people(tmp_path):
    write(tmp_path, lambda n: f"{n + 1}")
    release(tmp_path)
    write(tmp_path, lambda n: f"0{n + 1}", PEOPLE - 1)
    assert release(tmp_path, "second").endswith("v1")


def test_two_spellings_in_one_column_are_one_person_and_said_so(tmp_path):
    write(tmp_path, lambda n: str(n // 2) if n % 2 else f"{n // 2}.0")
    with pytest.raises(InputError) as refused:
        release(tmp_path)
    assert "60 of 60 rows share their value with another row" in str(refused.value)
    assert "(30 of the values differ from another one in spelling only)" in str(refused.value)


def test_rows_of_one_person_are_so_however_spelt(tmp_path):
    write(tmp_path, lambda n: str(n // 2) if n % 2 else f"{n // 2}.0", 120)
    folder = release(tmp_path, more='person = "pid"\n')
    assert read_json(tmp_path / folder / "manifest.json")["privacy"]["people"] == 60
    (path,) = tmp_path.glob("vault/runs/*/ingest/stage.json")
    notes = " ".join(read_json(path)["facts"]["notes"])
    assert "60 identifiers differ from another one in spelling only" in notes


# ---------------------------------------------------------------- requests to withdraw


def withdraw(folder, *lines, code=0, more=()):
    listed = folder / "leavers.txt"
    listed.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    plan = str(folder / "first.toml")
    with pytest.raises(SystemExit) as ended:
        cli.main(["withdraw", str(listed), "--plan", plan, "--json", *more])
    assert ended.value.code == code


@pytest.mark.long
@pytest.mark.parametrize(("one", "other"), spellings(2))
def test_people_withdraw_by_any_spelling(tmp_path, capsys, one, other):
    series = '[series]\nrecord = "pid"\n'
    write(tmp_path, one)
    release(tmp_path, more=series)
    withdraw(tmp_path, "pid", other(1), other(2))
    told = json.loads(capsys.readouterr().out)
    assert (told["asked"], told["in_the_last_version"], told["in_no_version"]) == (2, 2, 0)
    folder = release(tmp_path, more=series)
    assert text_rows(tmp_path / "releases" / "first" / "v2").height == PEOPLE - 2
    assert folder.endswith("v2")


@pytest.mark.long
def test_a_request_in_which_nobody_is_found_is_refused(tmp_path, capsys):
    series = '[series]\nrecord = "pid"\n'
    write(tmp_path, lambda n: str(1000 + n))
    release(tmp_path, more=series)
    withdraw(tmp_path, "01000", "nobody", code=3)
    refused = capsys.readouterr().err
    assert "none of the 2 identifiers in leavers.txt names somebody" in refused
    assert "--unpublished" in refused
    assert "nobody\n" not in refused
    withdraw(tmp_path, "pid", code=3)
    assert "names nobody" in capsys.readouterr().err
    withdraw(tmp_path, "1000", "nobody")
    told = json.loads(capsys.readouterr().out)
    assert (told["asked"], told["in_the_last_version"], told["in_no_version"]) == (2, 1, 1)
    withdraw(tmp_path, "nobody-else", more=["--unpublished"])
    assert json.loads(capsys.readouterr().out)["withdrawn_in_all"] == 3


@pytest.mark.long
def test_people_who_left_before_may_withdraw(tmp_path, capsys):
    series = '[series]\nrecord = "pid"\n'
    write(tmp_path, lambda n: str(1000 + n))
    release(tmp_path, more=series)
    write(tmp_path, lambda n: str(1001 + n), PEOPLE - 1)
    release(tmp_path, more=series)
    withdraw(tmp_path, "1000.0")
    told = json.loads(capsys.readouterr().out)
    assert (told["in_the_last_version"], told["in_earlier_versions"]) == (0, 1)
