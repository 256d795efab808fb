"""Documents for regulators: every figure is one of the manifest, what it lacks is a gap."""

import re

import pytest

from crowdcover.kinds import words_of
from crowdcover.reports import facts
from crowdcover.reports.documents.filled import fill_template, list_templates
from crowdcover.reports.quantities import count, one_in, percent
from tests.reports.samples import HOSTILE, alarming, full, manifest, old, version
from tests.support.commands import call, refusal

TEMPLATES = ["dpia", "ema", "hipaa", "sp800-188"]
SHOWN = re.compile(r"(\S[^|*\n]*?) \(`([^`]+)`\)")


def fill(name, stated):
    return fill_template(name, stated, words_of(stated))


def value_at(stated, place):
    for key in place.split("/"):
        stated = stated[key]
    return stated


def test_there_are_four_documents():
    assert list_templates() == TEMPLATES


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("stated", [manifest(), full(), alarming(), old(), version()])
def test_every_figure_is_that_of_its_place(name, stated):
    text = fill(name, stated)
    shown = SHOWN.findall(text)
    assert len(shown) > 2
    for figure, place in shown:
        if place in stated and isinstance(stated[place], (list, dict)):
            continue  # a section, behind words
        value = value_at(stated, place)
        forms = (
            [str(value)]
            if isinstance(value, str)
            else [count(value), percent(value), one_in(value)]
        )
        assert any(figure.endswith(form) for form in forms), (figure, place)
    assert facts.title_of(stated).split()[0] in text.splitlines()[0]
    assert text.count("**[to be filled in: ") > 2


@pytest.mark.parametrize(
    ("name", "section", "key"),
    [
        ("dpia", "source", "rows"),
        ("ema", "anonymizer", "name"),
        ("hipaa", "anonymizer", "name"),
        ("sp800-188", "source", "rows"),
    ],
)
def test_what_the_manifest_lacks_is_a_gap(name, section, key):
    stated, gap = manifest(), f"**[to be filled in: {section}/{key} is not in the manifest]**"
    assert gap not in fill(name, stated)
    del stated[section][key]
    assert gap in fill(name, stated)


@pytest.mark.parametrize("name", TEMPLATES)
def test_names_of_columns_stay_text(name):
    text = fill(name, manifest(columns=HOSTILE))
    assert "<script>" not in text
    assert "\x1b" not in text
    assert "[a](https" not in text
    lines = [line for line in text.splitlines() if "w" * 90 in line]
    assert lines
    table = [line for line in text.splitlines() if line.startswith("| ")]
    assert {line.count("|") for line in table if "quasi-identifier" in line} == {4}


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_command_prints_or_writes_it(name, released, tmp_path, capsys):
    folder, file = released.folder_of_v1, tmp_path / "draft.md"
    code, text, _ = call(capsys, "report", folder, "--template", name)
    assert code == 0
    assert text.startswith("# ")
    assert call(capsys, "report", folder, "--template", name, "--to", file)[:2] == (0, "")
    assert file.read_text(encoding="utf-8") == text
    said = refusal(call(capsys, "report", folder, "--template", name, "--to", file), 2)
    assert "exists; it may have what a person filled in" in said
