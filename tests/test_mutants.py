"""The hand-made mutants can be planted: `make mutants` runs them, slowly."""

from tests.mutants import MUTANTS, ROOT


def test_each_line_stands_once_in_its_file():
    lines = {m.name: (ROOT / m.file).read_text(encoding="utf-8").count(m.line) for m in MUTANTS}
    assert {name for name, count in lines.items() if count != 1} == set()
    assert len(lines) == len(MUTANTS)
