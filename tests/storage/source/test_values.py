"""Texts are changed by their distinct ones."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdcover.storage.source import values


def strip(texts):
    stripped = texts.str.strip_chars()
    return stripped.set(stripped == "b", None)


@given(st.lists(st.sampled_from([None, "", "a", " a", "b ", "\xa0é", "x" * 20])), st.booleans())
def test_each_text_is_changed_alone(texts, estimated):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "_MANY", 0 if estimated else 100)
        parts = [pl.Series("^a$", part, pl.String) for part in (texts[:3], texts[3:])]
        column = pl.concat(parts)
        found = values.map_texts(column, strip)
    assert found.to_list() == strip(column.alias("")).to_list()


def test_equal_texts_are_changed_once():
    seen = []
    column = pl.Series(["a", None, "b "] * 100)
    found = values.map_texts(column, lambda texts: seen.append(len(texts)) or strip(texts))
    assert found.to_list() == ["a", None, None] * 100
    assert seen == [3]
