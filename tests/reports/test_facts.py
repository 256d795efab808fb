"""Numbers that every release has."""

from crowdcover.reports.facts import count_published_rows


def test_published_rows_are_those_of_the_version_else_of_the_release():
    assert count_published_rows({"privacy": {"records": 9}}) == 9
    assert count_published_rows({"privacy": {"rows": 4}}) == 4
    assert count_published_rows({"privacy": {"rows": 4, "records": 9}}) == 4
    assert count_published_rows({"privacy": {"records": 9}, "series": {"rows": 12}}) == 12
