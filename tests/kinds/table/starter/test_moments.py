"""Dates and moments as portals, databases and people write them."""

import datetime

import polars as pl
import pytest

from crowdcover.kinds.dates import to_dates
from crowdcover.kinds.table.starter.moments import formats_of, order_of
from crowdcover.kinds.table.starter.proposals import propose_role

START = datetime.datetime(2019, 3, 4, 13, 5, 6, 789000)
STEP = datetime.timedelta(days=3, hours=5, seconds=7)
MOMENTS = [START + i * STEP for i in range(300)]
PORTALS = (
    "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S%z",
    "%Y-%m-%dT%H:%M:%S%#z", "%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%z",
    "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M:%S UTC", "%Y/%m/%d %H:%M:%S%z", "%d.%m.%Y %H:%M",
    "%d.%m.%Y, %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M%p", "%b %d %Y %I:%M%p", "%d-%b-%Y %H:%M:%S", "%Y%m%d",
    "%Y%m%d%H%M%S", "%Y%m%dT%H%M%SZ", "%Y年%m月%d日", "%B %d, %Y", "%A, %d %B %Y", "%d/%b/%Y",
    "%d%m%Y", "%a, %d %b %Y %H:%M:%S %z", "%a %b %d %H:%M:%S UTC %Y", "%d.%m.%Y",
)  # fmt: skip
SHORT = (
    "%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%y-%m-%d", "%d-%b-%y", "%m/%d/%y %H:%M", "%d.%m.%y %H:%M",
)  # fmt: skip


def written(form, moments=MOMENTS):
    """Moments in a format of polars, which Python does not know in full."""
    python = form.replace("%.f", ".%f").replace("%#z", "Z").replace("%z", "+01:00")
    return [moment.strftime(python) for moment in moments]


@pytest.mark.long
@pytest.mark.parametrize("form", PORTALS)
def test_moments_are_dates(form):
    cells = written(form)
    proposal = propose_role(pl.Series("created", cells))
    assert (proposal.role, proposal.decide) == ("quasi", ())
    assert f'format = "{form}"' in proposal.settings
    assert to_dates(pl.Series(cells), form).to_list() == [moment.date() for moment in MOMENTS]


@pytest.mark.parametrize("form", SHORT)
def test_years_of_two_digits_are_dates_with_a_question(form):
    proposal = propose_role(pl.Series("born_us", written(form)))
    assert (proposal.role, proposal.decide) == ("quasi", ("format", "century"))
    assert {f'format = "{form}"', "century = 1930"} <= set(proposal.settings)
    assert "years of two digits" in proposal.reason


def test_days_without_leading_zeros():
    cells = [f"{moment.month}/{moment.day}/{moment.year} {moment.hour}:05" for moment in MOMENTS]
    assert formats_of(pl.Series(cells)) == ["%m/%d/%Y %H:%M"]
    short = [f"{moment.day}.{moment.month}.{moment.year % 100}" for moment in MOMENTS]
    assert formats_of(pl.Series(short)) == ["%d.%m.%y"]


def test_a_fraction_may_be_absent():
    cells = ["2020-01-05T10:00:00", "2020-01-06T10:00:00.5"]
    assert formats_of(pl.Series(cells)) == ["%Y-%m-%dT%H:%M:%S%.f"]


def test_offsets_may_differ():
    cells = ["2020-01-05T10:00:00+01:00", "2020-07-05T10:00:00+02:00"]
    assert formats_of(pl.Series(cells)) == ["%Y-%m-%dT%H:%M:%S%z"]


@pytest.mark.parametrize(
    "cells",
    [
        ["1.5", "2.25", "10.5"],
        ["10.0.0.1", "10.0.0.2"],
        ["12:30", "13:45"],
        ["2020-13-01", "2020-14-01"],
        ["A1-2020", "A2-2020"],
        ["2020-01", "2020-02"],
        ["99-99-99"],
        ["7", "8"],
        [],
    ],
)
def test_texts_that_are_no_dates(cells):
    assert formats_of(pl.Series(cells, dtype=pl.String)) == []


def test_the_order_of_day_and_month_is_asked_about_only_if_both_fit():
    both = [f"{1 + i % 12:02}/{1 + i % 11:02}/2020 10:00" for i in range(300)]
    assert propose_role(pl.Series("seen", both)).decide == ("format",)
    words = ["May 05 2020", "May 06 2020"] * 100  # one format writes May in full
    assert propose_role(pl.Series("seen", words)).decide == ()


def test_moments_of_a_database_need_a_zone():
    seen = pl.Series("seen", MOMENTS, dtype=pl.Datetime("us", "UTC"))
    proposal = propose_role(seen)
    assert (proposal.role, proposal.decide) == ("quasi", ("timezone",))
    assert 'timezone = "UTC"' in proposal.settings
    assert propose_role(seen.dt.replace_time_zone(None)).decide == ()


def test_orders():
    assert order_of("%B %d, %Y") == order_of("%m/%d/%y") == ("m", "d", "Y")


@pytest.mark.parametrize("name", ["login_date", "date of id issue", "Telefonat am", "name day"])
def test_a_date_is_no_name_and_no_number(name):
    assert propose_role(pl.Series(name, written("%Y-%m-%d %H:%M:%S%.f"))).role == "quasi"


@pytest.mark.parametrize("form", ["%d.%m.%Y, %H:%M Uhr", "%H:%M:%S"])
def test_what_looks_like_times_is_asked_about(form):
    moments = [
        datetime.datetime(1900 + at, 1 + at % 12, 1 + at % 28, at % 24, at, at) for at in range(60)
    ]
    proposal = propose_role(pl.Series("x", written(form, moments)))
    assert (proposal.role, proposal.decide) == ("identifier", ("role",))


WORDED = {
    "German": "{d}. {} {y}:Januar Februar März Dezember",
    "German, March spelt out": "{d}. {} {y}:Jan Feb Maerz Dez",
    "German months": "{} {y}:Januar Februar März Mai",
    "Spanish": "{d} de {} de {y}:enero febrero marzo diciembre",
    "Spanish months": "{} de {y}:enero febrero marzo abril",
    "French": "{d} {} {y}:janvier février mars août",
    "Italian": "{d}-{}-{y}:gen feb mar apr",
    "Portuguese": "{d} de {} de {y}:janeiro fevereiro março abril",
    "Dutch": "{d} {} {y}:januari februari maart april",
    "Polish": "{d} {} {y} r.:stycznia lutego marca grudnia",
    "Czech": "{d}. {} {y}:ledna února března prosince",
    "Turkish": "{d} {} {y}:Ocak Şubat Mart Ağustos",
    "Russian": "{d} {} {y}:января февраля марта апреля",
    "Greek": "{d} {} {y}:Ιανουαρίου Μαρτίου Μαΐου Δεκεμβρίου",
    "Arabic": "{d} {} {y}:يناير فبراير مارس أبريل",
    "Hindi": "{d} {} {y}:जनवरी फ़रवरी मार्च अप्रैल",
    "Finnish": "{d}. {} {y}:tammikuuta helmikuuta toukokuuta joulukuuta",
    "English months": "{} {y}:Jan February March Apr.",
    "ISO weeks": "{y}-W{n}",
    "bare weeks": "{y}W{n}",
    "days of weeks": "{y}-W{n}-3",
    "calendar weeks": "KW {n}/{y}",
    "quarters": "Q{q} {y}",
    "years first": "{y}-Q{q}",
    "Chinese months": "{y}年{q}月",
    "Korean months": "{y}년 {q}월",
    "months by number": "{y}-{n}",
    "months before years": "{n}/{y}",
}


def worded(form, number=60):
    form, _, months = form.partition(":")
    return [
        form.format(
            months.split()[at % 4] if months else "",
            d=1 + at % 28,
            y=1960 + at,
            n=f"{1 + at % 12:02}",
            q=1 + at % 4,
        )
        for at in range(number)
    ]


@pytest.mark.long
@pytest.mark.parametrize("what", WORDED)
def test_times_that_no_format_reads_are_known_and_asked_about(what):
    texts = worded(WORDED[what])
    rare, shared = propose_role(pl.Series("x", texts)), propose_role(pl.Series("x", texts[:12] * 6))
    assert [(each.role, each.decide) for each in (rare, shared)] == [
        ("drop", ("role",)),
        ("quasi", ("role",)),
    ]
    assert rare.reason.startswith("times that no format reads")
    assert shared.settings == ('kind = "categorical"',)


@pytest.mark.parametrize(
    "texts",
    ["May Smith|April Jones|June Hall", "Mart 7|Walmart 8|Target 9", "Q1|Q2|Q3", "week 1|week 2"],
)
def test_words_without_a_year_are_no_times(texts):
    proposal = propose_role(pl.Series("x", texts.split("|") * 20))
    assert "times" not in proposal.reason
