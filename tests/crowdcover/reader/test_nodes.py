"""Questions by the nodes of a hierarchy, against the cells themselves."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdcover as cc
from tests.crowdcover.reader.folders import attribute, folder

LABELS = ("I20", "I21", "J10", "J11", "K00")
TREE = [
    {"name": "I", "level": "chapter", "levels": [0, 1]},
    {"name": "J", "level": "chapter", "levels": [2, 3]},
    {"name": "K", "level": "chapter", "levels": [4, 4]},
]
SHOWN = {"*": LABELS, "I": LABELS[:2], "J": LABELS[2:4], **{each: (each,) for each in LABELS}}


def icd(labels=LABELS, tree=TREE):
    nodes = [
        {"name": node["name"], "levels": node["levels"]}
        for node in tree
        if node["levels"][0] < node["levels"][1]
    ]
    return attribute("icd", labels=labels, nodes=nodes, tree=tree)


def release_of(place, cells, sexes=None, **more):
    """The cells as data.parquet has them."""
    lists = [None if cell == "*" else list(SHOWN[cell]) for cell in cells]
    rows = {"icd": pl.Series(lists, dtype=pl.List(pl.String))}
    if sexes is not None:
        rows["sex"] = sexes
    return cc.read(folder(place, [icd()], rows, **more))


def below(node):
    (found,) = [LABELS[each["levels"][0] : each["levels"][1] + 1] for each in TREE
                if each["name"] == node]  # fmt: skip
    return set(found)


@given(
    cells=st.lists(st.sampled_from([*SHOWN]), min_size=1, max_size=12),
    nodes=st.sets(st.sampled_from("IJK"), min_size=1),
)
def test_a_node_is_the_values_below_it(tmp_path_factory, cells, nodes):
    release = release_of(tmp_path_factory.mktemp("nodes"), cells)
    found = release.count({"icd": [cc.under(node) for node in sorted(nodes)]})
    asked = set().union(*map(below, nodes))
    assert found.certain == sum(set(SHOWN[cell]) <= asked for cell in cells)
    assert found.possible == sum(bool(set(SHOWN[cell]) & asked) for cell in cells)
    assert found == release.count({"icd": sorted(asked)})


@pytest.mark.long
@given(cells=st.lists(st.sampled_from([*SHOWN]), min_size=1, max_size=12), data=st.data())
def test_frequencies_of_a_level_are_counts_of_its_nodes(tmp_path_factory, cells, data):
    sexes = data.draw(st.lists(st.sampled_from("fm"), min_size=len(cells), max_size=len(cells)))
    release = release_of(tmp_path_factory.mktemp("level"), cells, sexes)
    found = release.frequencies("icd", level="chapter")
    assert found["icd"].to_list() == ["I", "J", "K"]
    assert found["expected"].sum() == pytest.approx(len(cells))
    for name, certain, possible, expected, error, share in found.rows():
        count = release.count({"icd": cc.under(name)})
        assert (certain, possible, expected, error) == (*count, count.error)
        assert share == pytest.approx(expected / len(cells))
    within = release.frequencies("icd", by="sex", level="chapter")
    assert set(within["sex"]) == set(sexes)
    turned = release.frequencies("sex", by="icd", by_level="chapter")
    for sex, name, *numbers in within.rows():
        count = release.count({"icd": cc.under(name), "sex": sex})
        assert numbers[:3] == [*count]
        assert turned.filter(icd=name, sex=sex).row(0)[2:5] == (*count,)


def test_values_without_a_node_at_a_level_stand_for_themselves(tmp_path):
    tree = [{"name": "I2*", "level": "2", "levels": [1, 2]}]
    labels = ("(missing)", "I20", "I21", "J")
    entry = icd(labels, tree) | {"has_missing": True}
    rows = {"icd": pl.Series([["I20"], [None], ["J"], None], dtype=pl.List(pl.String))}
    release = cc.read(folder(tmp_path, [entry], rows))
    found = release.frequencies("icd", level=2)
    assert found["icd"].to_list() == ["(missing)", "I2*", "J"]
    assert found["certain"].to_list() == [1, 1, 1]
    assert release.count({"icd": [cc.under("I2*"), None]}).certain == 2


def test_the_tree_is_listed(tmp_path):
    release = release_of(tmp_path, ["I", "J10"], ["f", "m"])
    assert release.tree("icd").rows() == [
        ("chapter", "I", ["I20", "I21"]),
        ("chapter", "J", ["J10", "J11"]),
        ("chapter", "K", ["K00"]),
    ]
    assert release.tree("sex").is_empty()


def test_completed_tables_draw_below_the_node_in_proportion(tmp_path):
    cells = ["J10"] * 60 + ["J11"] * 20 + ["J"] * 4000
    release = release_of(tmp_path, cells, k=2)
    drawn = pl.concat(release.complete(1, seed=3))["icd"][80:]
    assert set(drawn) == {"J10", "J11"}
    # Exact cells are 3 to 1: the power of the shares and one step of EM draw nearer to even.
    assert 0.5 < (drawn == "J10").mean() < 0.75


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda r: r.count({"icd": cc.under("L")}), "no node 'L'; it has 'I', 'J', 'K'; release"),
        (lambda r: r.count({"sex": cc.under("I")}), "'sex' has no node 'I'; it has no hierarchy"),
        (lambda r: r.frequencies("icd", level=1), "has no level 1 of nodes; it has 'chapter'"),
        (lambda r: r.frequencies("sex", level=1), "no level 1 of nodes; it has no hierarchy"),
        (lambda r: r.frequencies("icd", by="sex", by_level=1), "'sex' has no level 1"),
        (lambda r: r.frequencies("icd", by_level=1), "name it in by, too"),
        (lambda r: r.frequencies("icd", by="icd", level="chapter"), "two different columns"),
    ],
)
def test_what_is_no_node_is_refused_with_those_that_are(tmp_path, ask, words):
    release = release_of(tmp_path, ["I", "J10"], ["f", "m"])
    with pytest.raises(cc.ReleaseError, match=words):
        ask(release)


def test_many_nodes_are_not_all_named(tmp_path):
    labels = [f"{number:02}" for number in range(30)]
    tree = [
        {"name": f"n{number}", "level": "1", "levels": [number, number]} for number in range(30)
    ]
    release = cc.read(folder(tmp_path, [icd(labels, tree)], {"icd": [["00"]]}))
    with pytest.raises(cc.ReleaseError, match=r"'n19' and 10 more; release\.tree"):
        release.count({"icd": cc.under("x")})


def test_batches_of_a_series_share_their_nodes(tmp_path):
    """A value that came later lies below the node that an earlier batch has, too."""
    grown = ("I20", "I21", "I22", "J10")
    trees = [
        [{"name": "I", "level": "1", "levels": [0, 1]}],
        [{"name": "I", "level": "1", "levels": [0, 2]}],
    ]
    books = {
        str(number): {"attributes": [icd(labels, tree)]}
        for number, labels, tree in zip((1, 2), (("I20", "I21", "J10"), grown), trees, strict=True)
    }
    lists = [["I20", "I21"], ["I22"], ["I20", "I21", "I22"], ["J10"]]
    rows = {
        "icd": pl.Series(lists, dtype=pl.List(pl.String)),
        "since": pl.Series([1, 2, 2, 1], dtype=pl.Int32),
    }
    place = folder(
        tmp_path, [icd()], rows, book={"batches": books}, roles={"since": {"role": "since"}}
    )
    release = cc.read(place)
    assert release.count({"icd": cc.under("I")}).certain == 3
    assert set(release.tree("icd")["values"][0]) == {"I20", "I21", "I22"}
    assert release.frequencies("icd", level=1)["certain"].to_list() == [3, 1]
