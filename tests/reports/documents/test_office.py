"""Documents as DOCX: what stands in the Markdown stands there, and gaps stay marked."""

import io
import re
import sys
from html import unescape

import pytest
from docx import Document
from docx.enum.text import WD_COLOR_INDEX

from crowdcover.kinds import words_of
from crowdcover.reports.documents.filled import fill_template, list_templates
from crowdcover.reports.documents.office import render_document
from tests.reports.samples import HOSTILE, alarming, full, manifest, version
from tests.support.commands import call, refusal

GAP = "[to be filled in: "


def read(text):
    return Document(io.BytesIO(render_document(text)))


def plain(text):
    """Words of the Markdown without its marks."""
    return unescape(re.sub(r"\*\*|`", "", text))


def runs(document):
    paragraphs = list(document.paragraphs)
    for table in document.tables:
        paragraphs += [each for row in table.rows for cell in row.cells for each in cell.paragraphs]
    return [run for each in paragraphs for run in each.runs]


@pytest.mark.parametrize("name", list_templates())
@pytest.mark.parametrize("make", [full, alarming, version])
def test_headings_tables_and_gaps_survive(name, make):
    text = fill_template(name, make(), words_of(make()))
    document = read(text)
    headings = [
        (each.style.name, each.text)
        for each in document.paragraphs
        if each.style.name == "Title" or each.style.name.startswith("Heading")
    ]
    assert headings == [
        ("Title" if marks == "#" else f"Heading {len(marks) - 1}", plain(words))
        for marks, words in re.findall(r"(?m)^(#+) (.+)$", text)
    ]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [line for line in lines if not re.fullmatch(r"[| -]+", line)]
    found = [[cell.text for cell in row.cells] for table in document.tables for row in table.rows]
    assert found == [[plain(cell.strip()) for cell in row[1:-1].split("|")] for row in rows]
    assert len(document.tables) == len(lines) - len(rows)  # a rule in each
    marked = [run.text for run in runs(document) if run.text.startswith(GAP)]
    assert sorted(marked) == sorted(
        plain(each) for each in re.findall(r"\*\*\[to be .+?\]\*\*", text)
    )
    assert all(
        run.bold and run.font.highlight_color == WD_COLOR_INDEX.YELLOW
        for run in runs(document)
        if run.text.startswith(GAP)
    )


@pytest.mark.parametrize("name", list_templates())
def test_every_word_of_the_text_is_there(name):
    text = fill_template(name, full(), words_of(full()))
    document = read(text)
    words = " ".join(run.text for run in runs(document))
    lines = [line for line in text.splitlines() if not re.fullmatch(r"[| -]*", line)]
    for line in lines:
        for part in re.split(r"\*\*|`|\|", re.sub(r"^(#+|-) ", "", line)):
            assert unescape(part).strip() in words, part
    items = [each for each in document.paragraphs if each.style.name == "List Bullet"]
    assert len(items) == sum(line.startswith("- ") for line in text.splitlines())


def test_names_of_columns_are_written_as_they_are():
    stated = manifest(columns=HOSTILE)
    document = read(fill_template("ema", stated, words_of(stated)))
    names = {row.cells[0].text for row in document.tables[0].rows}
    assert {"<script>alert(1)</script>", "a|b", "[red]x[/red]", "w" * 90} <= names


def test_nobody_is_named_as_author():
    properties = read("# Draft\n").core_properties
    assert (properties.author, properties.title) == ("", "Draft")


def test_the_command_writes_it_by_the_ending(released, tmp_path, capsys):
    folder, file = released.folder_of_v1, tmp_path / "draft.DOCX"
    assert call(capsys, "report", folder, "--template", "dpia", "--to", file)[:2] == (0, "")
    title = Document(file).paragraphs[0]
    assert title.text.startswith("Annex to a data protection impact assessment")
    before = file.read_bytes()
    said = refusal(call(capsys, "report", folder, "--template", "dpia", "--to", file), 2)
    assert "exists; it may have what a person filled in" in said
    assert file.read_bytes() == before


def test_a_missing_package_is_named_with_its_extra(released, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "docx", None)
    file = tmp_path / "draft.docx"
    said = refusal(
        call(capsys, "report", released.folder_of_v1, "--template", "ema", "--to", file), 2
    )
    assert "pip install 'crowdcover[office]'" in said
    assert not file.exists()
