"""`crowdcover measure` for people and scripts."""

import json
import subprocess
import sys

import polars as pl
import pytest

from crowdcover.flows import cli
from tests.anon_core.measures.graph.triangles.graphs import skewed
from tests.faults.disks import NoMountError, disk
from tests.support.commands import call, refusal

# Two triangles with a common edge, a path, a loop and a repeated edge.
GRAPH = "a b 1.0\nb c 0.5\nc a 0.5\nb d 1\nd c 1\nd e 0.25\na a 1\nc b 0.5\n"
NUMBERS = {
    "vertices": 5,
    "edges": 6,
    "loops_left_out": 1,
    "repeated_left_out": 1,
    "triangles": 2,
    "edges_in_triangles": 5,
    "most_triangles_of_an_edge": 2,
    "vertices_in_triangles": 4,
    "transitivity": 3 * 2 / (1 + 3 + 3 + 3),
    "clustering": pytest.approx((1 + 2 / 3 + 2 / 3 + 1 / 3) / 5),
}


@pytest.fixture
def graph(tmp_path):
    (tmp_path / "graph.txt").write_text(GRAPH)
    return tmp_path / "graph.txt"


def test_json(capsys, graph):
    code, out, err = call(capsys, "measure", graph, "--triangles", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == NUMBERS


def test_uncertain_edges(capsys, graph):
    """The triangle abc exists with 1/4, bcd with 1/2, both with 1/4."""
    code, out, _ = call(capsys, "measure", graph, "--triangles", "--uncertain", "--json")
    assert code == 0
    deviation = (1 / 4 + 1 / 2 + 2 * 1 / 4 - (3 / 4) ** 2) ** 0.5
    moments = {"expected_triangles": 0.75, "deviation": pytest.approx(deviation)}
    assert json.loads(out) == NUMBERS | moments


def test_lines_for_people(capsys, graph):
    code, out, err = call(capsys, "measure", graph, "--triangles", "--threads", "1", "--quiet")
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[:5] == [
        "5 vertices",
        "6 edges",
        "1 edges from a vertex to itself, left out",
        "1 edges that repeat another, left out",
        "2 triangles",
    ]
    assert len(lines) == len(NUMBERS)


def test_refusals(capsys, graph, tmp_path):
    refusal(call(capsys, "measure", tmp_path / "none.csv", "--triangles"), 3)
    words = refusal(call(capsys, "measure", graph, "--triangles", "--threads", "100000"), 2)
    assert "--threads must be 1.." in words
    graph.write_text("a b\nc\nd e\n")
    assert "1 of 3 edges lack an end" in refusal(call(capsys, "measure", graph, "--triangles"), 3)
    code, out, err = call(capsys, "measure", graph)
    assert (code, out) == (2, "")
    assert "--triangles" in err


@pytest.mark.long
def test_the_command_starts_without_prefect_and_great_expectations(graph):
    program = (
        "import sys; from crowdcover.flows.cli import main\n"
        "try: main()\n"
        "finally: print(sorted({'prefect', 'great_expectations', 'dask'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program, "measure", str(graph), "--triangles", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.endswith("}\n[]\n")


def test_the_command_is_listed():
    assert "measure" in cli.COMMANDS


def listed(folder):
    rows = pl.concat([pl.read_parquet(file) for file in sorted(folder.iterdir())])
    assert rows.columns == ["u", "v", "w"]
    return sorted(rows.rows())


def test_a_list_of_all_triangles(capsys, graph, tmp_path):
    """By the names that the file has, in their order."""
    folder = tmp_path / "made" / "list"
    code, out, err = call(
        capsys, "measure", graph, "--triangles", "--list", folder, "--reducers", 3, "--json"
    )
    assert (code, err) == (0, "")
    expected = {name: NUMBERS[name] for name in list(NUMBERS)[:5]}
    assert json.loads(out) == {**expected, "files": len(list(folder.iterdir()))}
    assert listed(folder) == [("a", "b", "c"), ("b", "c", "d")]
    assert [path.name for path in folder.parent.iterdir()] == ["list"]
    words = refusal(call(capsys, "measure", graph, "--triangles", "--list", folder), 2)
    assert "stands already" in words


def test_names_that_are_numbers_stay_numbers(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("9,10\n10,11\n11,9\n")
    call(capsys, "measure", tmp_path / "a.csv", "--triangles", "--list", tmp_path / "list")
    assert listed(tmp_path / "list") == [(9, 10, 11)]


def test_refusals_of_a_list(capsys, graph, tmp_path):
    there = ("measure", graph, "--triangles")
    assert "--reducers belongs to --list" in refusal(call(capsys, *there, "--reducers", 3), 2)
    into = (*there, "--list", tmp_path / "list")
    for more, words in (
        (("--uncertain",), "--uncertain belongs to counting"),
        (("--memory", "9KiB"), "--memory must be at least 65536 bytes"),
        (("--memory", "0B"), "--memory must be at least 65536 bytes"),
        (("--workers", 3), "--workers belongs to --engine dask"),
        (
            ("--engine", "dask", "--workers", 3, "--scheduler", "tcp://127.0.0.1:9"),
            "--workers starts a cluster",
        ),
    ):
        assert words in refusal(call(capsys, *into, *more), 2)
    code, _, err = call(capsys, *into, "--memory", "much")
    assert code == 2
    assert "must be a number and a unit, as 64MiB" in err
    inside = (*there, "--list", graph / "list")
    assert "cannot be written (Not a directory)" in refusal(call(capsys, *inside), 2)
    beyond = ("measure", tmp_path / "none.csv", "--triangles", "--list", tmp_path / "a" / "list")
    assert "was not found" in refusal(call(capsys, *beyond), 3)
    graph.write_text("a b\nc\nd e\n")
    assert "1 of 3 edges lack an end" in refusal(call(capsys, *into), 3)
    assert [path.name for path in tmp_path.iterdir()] == ["graph.txt"]


def list_here(capsys, folder):
    """List the triangles of a drawn graph into `here`; the command for another list of them."""
    u, v, _ = skewed(2000, 20_000, 7)
    pl.DataFrame({"u": u, "v": v}).write_parquet(folder / "a.parquet")
    there = ("measure", folder / "a.parquet", "--triangles", "--list")
    assert call(capsys, *there, folder / "here")[0] == 0
    return there


def test_both_methods_list_the_same_triangles(capsys, tmp_path):
    there = list_here(capsys, tmp_path)
    assert call(capsys, *there, tmp_path / "vc", "--method", "vc", "--reducers", 5)[0] == 0
    assert listed(tmp_path / "vc") == listed(tmp_path / "here")


@pytest.mark.slow
def test_workers_list_the_same(capsys, tmp_path):
    there = list_here(capsys, tmp_path)
    assert call(capsys, *there, tmp_path / "there", "--engine", "dask")[0] == 0
    here, there = (
        {p.name: p.read_bytes() for p in (tmp_path / x).iterdir()} for x in ("here", "there")
    )
    assert here == there


@pytest.mark.slow
def test_a_disk_without_room_for_the_pieces_is_named_and_nothing_stays(capsys, tmp_path):
    there = list_here(capsys, tmp_path)
    refused = 0
    for kilobytes in (16, 64, 256, 512, 1024, 4096, 16_384):
        room = tmp_path / f"disk-{kilobytes}"
        try:
            with disk(room, kilobytes):
                done = call(capsys, *there, room / "list")
                if done[0]:
                    words = refusal(done, 2)
                    assert "cannot be written (No space left on device); make room there" in words
                    assert list(room.iterdir()) == []
                    refused += 1
                else:
                    assert listed(room / "list") == listed(tmp_path / "here")
        except NoMountError:
            pytest.skip("mounting a small file system needs root")
    assert 2 <= refused <= 6


@pytest.mark.slow
def test_a_disk_that_workers_fill_is_named(capsys, tmp_path):
    there = list_here(capsys, tmp_path)
    try:
        with disk(tmp_path / "disk", 512):
            done = call(capsys, *there, tmp_path / "disk" / "list", "--engine", "dask")
            assert "cannot be written (No space left on device)" in refusal(done, 2)
            assert list((tmp_path / "disk").iterdir()) == []
    except NoMountError:
        pytest.skip("mounting a small file system needs root")
