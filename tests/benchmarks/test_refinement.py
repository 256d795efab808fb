"""What `benchmarks.refinement` counts, beside enumerations of small releases."""

import numpy as np
import pytest

from anon_core.anonymizers import Adaptive, KMember, Optimal
from anon_core.tables import encoding
from benchmarks.comparisons.methods import classes_of_mondrian
from benchmarks.risk.refinement import bound, chances_of_rows, number_texts, read_classes
from tests.support.posteriors import World, domain, law_of, read_rows

MAKERS = {
    "even": Adaptive(seats="even"),
    "matchable": Adaptive(seats="matchable"),
    "k-member": KMember(),
    "optimal": Optimal(method="greedy"),
}


def small(seed, people=7, k=3, levels=(3, -4)):
    """A table of few people, and their levels."""
    book, combinations, columns = domain(levels)
    chosen = np.random.default_rng(seed).integers(0, len(combinations), people)
    held = {name: values[chosen] for name, values in columns.items()}
    table = encoding.encode(book, held, np.full(people, k))
    return table, tuple(combinations[each] for each in chosen)


@pytest.mark.long
@pytest.mark.parametrize("name", MAKERS)
def test_against_enumerations(name):
    for seed in range(3):
        table, records = small(seed)
        made = MAKERS[name].anonymize(table)
        world = World(read_rows(made), records, law_of(made))
        texts = number_texts(made)
        assert len(set(texts)) == len(set(world.rows))
        for column, found in enumerate(chances_of_rows(made)):
            for text, chances in zip(world.rows, found, strict=True):
                expected = world.values(text, column)
                assert chances == pytest.approx([float(expected[a]) for a in range(len(chances))])
        masked = [(text, column) for text in set(world.rows) for column in (0, 1)]
        certain = sum(
            sum(world.least(text, column).values())
            for text, column in masked
            if len(text[column]) > 1
        )
        # Seatings that were not drawn could only show less; 300 of these few miss none.
        assert bound(made, 300) == certain
        if name == "optimal":
            assert read_classes(made) <= certain


def test_classes_that_everyone_leaves_alone():
    """Mondrian's rows are of their class, each record as likely; sets and ends are somebody's."""
    table, _ = small(1, people=9)
    made = classes_of_mondrian(table, 3, relaxed=False)
    same, certain = number_texts(made), 0
    for column, found in enumerate(chances_of_rows(made)):
        code = table.codes[column]
        for row, chances in enumerate(found):
            mine = code[same == same[row]]
            assert chances == pytest.approx(np.bincount(mine, minlength=len(chances)) / len(mine))
        for one in set(same):
            values = set(code[same == one].tolist())
            ordinal = table.codebook.attributes[column].ordinal
            certain += 0 if len(values) == 1 else 2 if ordinal else len(values)
    assert read_classes(made) == certain > 0
