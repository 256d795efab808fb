"""The notebooks of the docs print what they hold."""

import nbformat
import pytest

from tests.notebooks import NOTEBOOKS, list_texts, run_notebook


def test_there_are_three_and_they_name_no_one_s_machine():
    assert [path.name[0] for path in NOTEBOOKS] == ["1", "2", "3"]
    for path in NOTEBOOKS:
        text = path.read_text("utf-8")
        assert "/home/" not in text
        assert "/work" not in text
        assert "Error" not in text


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_holds(path):
    kept = list_texts(nbformat.read(path, as_version=4))
    assert list_texts(run_notebook(path)) == kept
    assert len(kept) > 3
