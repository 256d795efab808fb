"""Boxes that two columns of degrees are read as."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError
from anon_core.specs.hierarchies import Hierarchy
from crowdcover.storage.source.frames import FrameReading
from crowdcover.storage.source.points import Point
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source, read_source_header

HOME = Point("home", "lat", "lon", 0.25)
NAMES = ["lat", "home", "lon", "age"]
TREES = [(0.1, 0.3, 90.0), (0.01, 0.25, 1.0, 45.0), (0.5, 7.5, 22.5), (5.0,), (22.5, 90.0)]
DEGREES = st.decimals(-90, 90, places=3)


def source_of(path, text, **settings):
    path.write_text(text, encoding="utf-8")
    return Source(path=path, points=(HOME,), **settings)


def box_of(latitude, longitude, **settings):
    frame = pl.DataFrame({"lat": [latitude] * 2, "lon": [longitude] * 2})
    reading = FrameReading(Source(points=(HOME,), **settings), frame)
    return reading.columns(["lat", "lon", "home"], ["home"])["home"][0]


def sides_of(box):
    words = box.split()
    return [tuple(map(Fraction, words[at : at + 3 : 2])) for at in (1, 5)]


@given(DEGREES, st.decimals(-180, 180, places=3), st.sampled_from(TREES))
def test_a_place_lies_in_its_box_and_in_the_wider_ones(latitude, longitude, widths):
    point = replace(HOME, step=widths[0])
    frame = pl.DataFrame({"lat": [str(latitude)] * 2, "lon": [str(longitude)] * 2})
    (box,) = {*FrameReading(Source(points=(point,)), frame).columns([], ["home"])["home"]}
    path = Hierarchy(grid=widths).path_of(box)
    assert path[-1] == box
    assert len(path) == len(widths)
    for width, inside in zip(widths[::-1], path, strict=True):
        for (low, high), at, most in zip(
            sides_of(inside), (latitude, longitude), (90, 180), strict=True
        ):
            assert high - low == Fraction(Decimal(repr(width)))
            assert (low / (high - low)).denominator == 1
            assert low <= Fraction(at) < high or Fraction(at) == high == most


def test_boxes_read_as_people_write_them():
    assert box_of(48.137, 11.575) == "lat 48.00 to 48.25 lon 11.50 to 11.75"
    assert box_of("-0.1", "0") == "lat -0.25 to 0.00 lon 0.00 to 0.25"
    assert box_of(90, -180) == "lat 89.75 to 90.00 lon -180.00 to -179.75"
    assert box_of(" 1e1 ", 180.0) == "lat 10.00 to 10.25 lon 179.75 to 180.00"


@pytest.mark.parametrize(
    ("latitude", "longitude"), [(None, 1.0), (1.0, None), ("", "1"), ("1", " n/a "), (-9.0, 1.0)]
)
def test_a_place_of_one_degree_is_none(latitude, longitude):
    assert box_of(latitude, longitude, missing=("n/a", "-9")) is None


@pytest.mark.parametrize("wrong", ["90.5", "-91", "47,53", "N 47", "nan", "inf", "47.5°"])
def test_what_is_no_latitude_is_counted_and_not_shown(wrong):
    with pytest.raises(InputError, match="column 'lat': 2 of 2 values are no degrees") as refused:
        box_of(wrong, "11.5")
    assert wrong not in str(refused.value)
    assert refused.value.__context__ is None


def test_a_file_has_the_place_beside_its_columns(tmp_path):
    source = source_of(tmp_path / "a.csv", "lat,lon,age\n1.1,2.2,30\n1.3,2.2,40\n")
    reading = Reading(source)
    assert reading.header == read_source_header(source) == ["lat", "lon", "age", "home"]
    frame = reading.columns(NAMES, ["age", "home", "lon"])
    assert frame.columns == ["age", "home", "lon"]
    assert frame["home"].to_list() == [
        "lat 1.00 to 1.25 lon 2.00 to 2.25",
        "lat 1.25 to 1.50 lon 2.00 to 2.25",
    ]


def test_a_file_without_a_header_has_its_own_columns_in_order(tmp_path):
    source = source_of(tmp_path / "a.csv", "1.1,2.2,30\n1.3,2.2,40\n", header=False)
    reading = Reading(source)
    assert reading.header == 4
    assert reading.columns(NAMES, ["home", "age"]).row(1) == (
        "lat 1.25 to 1.50 lon 2.00 to 2.25",
        "40",
    )


def test_rows_that_were_read_before_have_their_place(tmp_path):
    text = "home,age\nlat 1.00 to 1.25 lon 2.00 to 2.25,30\n,40\n"
    reading = Reading(source_of(tmp_path / "a.csv", text, whole=False))
    assert reading.header == ["home", "age"]
    assert reading.columns(["home", "age"], ["home"])["home"].to_list() == [
        "lat 1.00 to 1.25 lon 2.00 to 2.25",
        None,
    ]


def test_a_source_that_has_the_name_already_is_refused(tmp_path):
    reading = Reading(source_of(tmp_path / "a.csv", "lat,lon,home\n1,2,3\n1,2,3\n"))
    for ask in (lambda: reading.header, lambda: reading.columns(NAMES, ["home"])):
        with pytest.raises(InputError, match="has a column 'home' already"):
            ask()
