"""Changed releases and maps of keys: the audit names what is broken in each of them."""

import gzip
import json
import shutil

import numpy as np
import polars as pl
import pytest

from crowdcover.kinds.graph.kind import KIND
from crowdcover.kinds.graph.pipeline.rows import flatten_rows
from crowdcover.kinds.rows import write_csv
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.files import file_sha256
from tests.contract.alike import Alike
from tests.kinds.graph.orders import GraphOrder, edges
from tests.support.audits import audit_release

FILES = ("edges.parquet", "edges.csv.gz", "codebook.json")


class Copy:
    """The files of a release and its map of keys, to be changed and judged."""

    def __init__(self, order, folder):
        self.order, self.folder = order, folder
        for name in FILES:
            shutil.copy(order.published / name, folder)
        shutil.copy(order.secrets / "matching.parquet", folder)
        self.rows = pl.read_parquet(folder / "edges.parquet")
        self.claim = pl.read_parquet(folder / "matching.parquet").sort("record")

    def write(self, rows):
        rows.write_parquet(self.folder / "edges.parquet")
        write_csv(flatten_rows(rows), self.folder / "edges.csv.gz")

    def rename(self, new):
        """Give each vertex the key that `new` gives its old key, in order again."""
        ends = [self.rows[end].replace_strict(new) for end in ("u", "v")]
        rows = pl.DataFrame({"u": ends[0], "v": ends[1], "p": self.rows["p"]})
        u, v = pl.min_horizontal("u", "v"), pl.max_horizontal("u", "v")
        self.write(rows.select(u.alias("u"), v.alias("v"), "p").sort("u", "v"))

    def move(self, keys):
        self.claim.with_columns(key=pl.Series(keys)).write_parquet(self.folder / "matching.parquet")

    def judged(self, formats=("parquet", "csv")):
        data = self.order.data
        return KIND.judge(
            data, Alike.promise, formats, Reading(data.source), self.folder, self.folder
        )

    def broken(self, formats=("parquet", "csv")):
        return {finding.guarantee for finding in self.judged(formats).broken}


@pytest.fixture
def copy(links, tmp_path):
    return Copy(links, tmp_path)


@pytest.mark.long
def test_the_release_as_it_is_keeps_everything(copy):
    assert copy.broken() == set()
    assert copy.broken(["csv"]) == set()


# ---------------------------------------------------------------- edges


def with_p(copy, p):
    return copy.rows.with_columns(p=pl.Series(p, dtype=pl.Float64))


def test_a_vertex_that_stands_out_by_its_probabilities(copy):
    """All edges of one vertex are certain: whoever knows a small degree can rule it out."""
    data = copy.order.data
    assert data.k == 20
    keys = copy.claim["key"].to_list()[:25]
    some = pl.col("u").is_in(keys) | pl.col("v").is_in(keys)
    p = pl.when(some).then(1.0).otherwise("p")
    copy.write(copy.rows.with_columns(p=p))
    assert copy.broken() == {"obfuscated"}


def test_an_edge_dropped_that_hides_its_ends(copy):
    """Nobody but the ends of one edge can have the known degrees once most edges are gone."""
    copy.write(copy.rows[:1])
    assert copy.broken() == {"obfuscated"}


@pytest.mark.parametrize("p", [0.0, -0.5, 1.000001, 0.1234567, float("nan"), float("inf"), None])
def test_a_probability_that_is_none(copy, p):
    copy.write(with_p(copy, [p, *copy.rows["p"].to_list()[1:]]))
    assert {"probabilities in millionths", "obfuscated"} <= copy.broken(["parquet"])


def test_low_bits_of_a_probability_tell_nothing(copy):
    copy.write(with_p(copy, np.nextafter(copy.rows["p"].to_numpy(), 0)))
    assert "probabilities in millionths" in copy.broken(["parquet"])


@pytest.mark.parametrize("types", [{"p": pl.String}, {"p": pl.Float32}, {"u": pl.Categorical}])
def test_a_parquet_file_of_other_types(copy, types):
    rows = copy.rows.cast(types)
    rows.write_parquet(copy.folder / "edges.parquet")
    assert "no other column" in copy.broken(["csv", "parquet"])


def test_edges_in_the_order_of_the_source(copy):
    """As the makers number them, under the right keys: the order tells who is who."""
    record = dict(zip(copy.claim["key"], copy.claim["record"], strict=True))
    order = np.lexsort(
        tuple(copy.rows[end].replace_strict(record).to_numpy() for end in ("v", "u"))
    )
    copy.write(copy.rows[order.tolist()])
    assert "edges ordered by key" in copy.broken()


def test_an_edge_that_is_turned_or_doubled_or_a_loop(copy):
    rows = copy.rows
    turned = pl.concat([rows[:1].select(u="v", v="u", p="p"), rows[1:]])
    copy.write(turned.sort("u", "v"))
    assert "edges ordered by key" in copy.broken()
    copy.write(pl.concat([rows[:1], rows]))
    assert "each edge once" in copy.broken()
    copy.write(pl.concat([rows[:1].with_columns(v="u"), rows]))
    assert "each edge once" in copy.broken()


def test_rows_in_another_order(copy):
    copy.write(copy.rows.reverse())
    assert "edges ordered by key" in copy.broken()


# ---------------------------------------------------------------- keys


def test_keys_that_follow_the_source(copy):
    keys = copy.claim["key"].to_list()
    copy.rename(dict(zip(keys, sorted(keys), strict=True)))
    copy.move(sorted(keys))
    assert copy.broken() == {"order tells nothing"}
    copy.rename(dict(zip(keys, sorted(keys)[::-1], strict=True)))
    copy.move(sorted(keys)[::-1])
    assert copy.broken() == {"order tells nothing"}


def test_keys_in_the_order_of_names(copy):
    names = list(dict.fromkeys(each for row in edges() for each in row[:2]))
    keys = copy.claim["key"].to_list()
    by_name = dict(zip(sorted(names), sorted(keys), strict=True))
    new = [by_name[each] for each in names]
    copy.rename(dict(zip(keys, new, strict=True)))
    copy.move(new)
    assert copy.broken() == {"order tells nothing"}


def test_keys_of_another_release(copy, tmp_path):
    other = GraphOrder(tmp_path / "other", edges(draws=8))
    other.release()
    theirs = pl.read_parquet(other.secrets / "matching.parquet")["key"].to_list()
    copy.rename(dict(zip(copy.claim["key"], theirs, strict=True)))
    assert {"known keys", "obfuscated"} <= copy.broken()


@pytest.mark.long
def test_names_of_the_source_as_keys(tmp_path):
    """Names that look like keys, published as they are."""
    rows = edges()
    names = {
        name: f"{7919 * n:016x}" for n, name in enumerate({each for r in rows for each in r[:2]})
    }
    order = GraphOrder(tmp_path, [(names[u], names[v], p) for u, v, p in rows])
    order.release()
    changed = tmp_path / "changed"
    changed.mkdir()
    copy = Copy(order, changed)
    own = list(dict.fromkeys(each for u, v, _ in rows for each in (names[u], names[v])))
    copy.rename(dict(zip(copy.claim["key"], own, strict=True)))
    copy.move(own)
    assert copy.broken() - {"order tells nothing"} == {"fresh keys"}


@pytest.mark.parametrize("key", ["0123456789ABCDEF", "0123456789abcde", "Pnode001Q", ""])
def test_a_key_of_another_form(copy, key):
    keys = copy.claim["key"].to_list()
    copy.rename({**dict(zip(keys, keys, strict=True)), keys[0]: key})
    copy.move([key, *keys[1:]])
    assert "keys of 16 hexadecimal digits" in copy.broken()


def test_two_vertices_with_one_key(copy):
    keys = copy.claim["key"].to_list()
    copy.move([keys[1], *keys[1:]])
    assert {"one key a vertex", "known keys"} <= copy.broken()


@pytest.mark.parametrize(
    "change", [lambda claim: claim[1:], lambda claim: pl.concat([claim, claim[:1]])]
)
def test_a_map_of_other_vertices(copy, change):
    change(copy.claim).write_parquet(copy.folder / "matching.parquet")
    assert "one key a vertex" in copy.broken()


@pytest.mark.long
def test_a_map_that_swaps_vertices_changes_no_promise_but_numbers(tmp_path):
    """Entropies depend on no map. How far each vertex is off does, and is measured again."""
    from anon_core.anonymizers.uncertain_graph.obfuscate import Obfuscate

    order = GraphOrder(tmp_path, privacy={"k": 5})
    with pytest.MonkeyPatch.context() as patch:
        from anon_core.anonymizers import ANONYMIZERS

        patch.setitem(ANONYMIZERS, "uncertain_graph", Obfuscate)
        order.release()
        changed = tmp_path / "changed"
        changed.mkdir()
        copy = Copy(order, changed)
        before = copy.judged()
        keys = copy.claim["key"].to_list()
        copy.move(keys[7:] + keys[:7])
        after = copy.judged()
        assert before.passed
        assert after.passed
        one, other = (audit.measured.sections() for audit in (before, after))
        assert one["privacy"] == other["privacy"]
        assert one["protection"]["hides_among"] == other["protection"]["hides_among"]
        assert one["utility"]["degree_error"] < other["utility"]["degree_error"]
        shutil.copy(changed / "matching.parquet", order.secrets)
        told = audit_release(order.published, order.plan)
        assert {each.guarantee for each in told.broken} == {"numbers as measured"}


# ---------------------------------------------------------------- files


@pytest.mark.long
def test_a_probability_changed_or_an_edge_dropped_in_a_published_folder(released_once):
    """Too little to be seen in any entropy: the hashes of the files tell, then the vault's."""
    order = released_once(GraphOrder)
    folder = order.published
    rows = pl.read_parquet(folder / "edges.parquet")
    p = rows["p"].to_list()
    for changed in (rows.with_columns(p=pl.Series([p[0] + 1e-6, *p[1:]])), rows[1:]):
        changed.write_parquet(folder / "edges.parquet")
        write_csv(flatten_rows(changed), folder / "edges.csv.gz")
        broken = {each.guarantee for each in audit_release(folder, order.plan).broken}
        assert "files as published" in broken
        manifest = folder / "manifest.json"
        before = manifest.read_text()
        stated = json.loads(before)
        stated["files"] |= {name: file_sha256(folder / name) for name in FILES}
        manifest.write_text(json.dumps(stated))
        broken = {each.guarantee for each in audit_release(folder, order.plan).broken}
        assert "manifest as published" in broken
        manifest.write_text(before)


def test_formats_that_differ(copy):
    write_csv(flatten_rows(copy.rows[1:]), copy.folder / "edges.csv.gz")
    assert copy.broken() == {"same table in every format"}


@pytest.mark.parametrize("text", ["0.0500000", "5e-2", "+0.050000", "0.05", " 0.050000"])
def test_a_probability_of_a_csv_file_that_is_written_in_another_way(copy, text):
    rows = flatten_rows(copy.rows)
    copy.write(with_p(copy, [0.05, *copy.rows["p"].to_list()[1:]]))
    texts = rows.with_columns(p=pl.Series([text, *rows["p"].to_list()[1:]]))
    write_csv(texts, copy.folder / "edges.csv.gz")
    assert "no traces in the files" in copy.broken(["csv"])


@pytest.mark.parametrize("more", [gzip.compress(b"", mtime=1), b"\0" * 7])
def test_a_csv_file_that_goes_on_after_its_edges(copy, more):
    path = copy.folder / "edges.csv.gz"
    path.write_bytes(path.read_bytes() + more)
    assert copy.broken() == {"no traces in the files"}


def test_another_column_or_a_missing_one(copy):
    copy.write(copy.rows.with_columns(weight=pl.lit(1)))
    assert "no other column" in copy.broken()
    copy.write(copy.rows.drop("p"))
    assert {"no other column", "obfuscated"} <= copy.broken()
    copy.write(copy.rows.with_columns(pl.col("p").cast(pl.Float32)))
    assert "no other column" in copy.broken(["parquet"])


def test_the_wording_of_older_codebooks_stands(copy):
    """0.1.0 said that probabilities are in millionths, although files held fractions."""
    text = (copy.folder / "codebook.json").read_text()
    assert "a fraction with up to six digits such as 0.25" in text
    older = text.replace("a fraction with up to six digits such as 0.25", "in millionths")
    (copy.folder / "codebook.json").write_text(older)
    assert copy.broken() == set()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + " ",
        lambda text: text.replace('"vertices": 40', '"vertices": 41'),
        lambda text: text.replace('{"reading"', '{"names": ["Pnode001Q"], "reading"'),
        lambda text: "",
        lambda text: text.replace("random", "source's"),
    ],
)
def test_a_codebook_that_tells_something_else(copy, change):
    path = copy.folder / "codebook.json"
    path.write_text(change(path.read_text()))
    assert "codebook of the source" in copy.broken()


def test_files_that_cannot_be_read(copy):
    (copy.folder / "edges.parquet").write_bytes(b"PAR1")
    assert copy.broken() == {"readable files"}
