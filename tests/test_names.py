"""The names of the product say what a function does."""

from textwrap import dedent

import pytest

from tests.names import GOALS, find_empty_names, measure_shares, parse_modules


def planted(folder, text):
    """A product of one module."""
    (folder / "kinds").mkdir()
    (folder / "kinds" / "house.py").write_text(dedent(text), encoding="utf-8")
    return parse_modules(folder)


@pytest.mark.long
def test_shares_of_names_that_say_little_reach_their_goals():
    for what, share in measure_shares(parse_modules()).items():
        assert share <= GOALS[what], what


@pytest.mark.long
def test_no_function_of_a_module_has_an_empty_name():
    assert find_empty_names(parse_modules()) == []


def test_a_planted_empty_name_is_found(tmp_path):
    modules = planted(
        tmp_path,
        """
        def told(): ...
        def _made(): ...
        def kept_rows(): ...
        def count_rows(): ...
        """,
    )
    assert [each.name for each in find_empty_names(modules)] == ["told", "_made"]
    shares = measure_shares(modules)
    assert (shares["one word"], shares["participle"], shares["shared"]) == (0.5, 0.75, 0)
