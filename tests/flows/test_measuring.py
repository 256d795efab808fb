"""`crowdcover measure` for people and scripts."""

import json
import subprocess
import sys

import pytest

from flows import cli
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


def test_the_command_starts_without_prefect_and_great_expectations(graph):
    program = (
        "import sys; from flows.cli import main\n"
        "try: main()\n"
        "finally: print(sorted({'prefect', 'great_expectations', 'dask'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program, "measure", str(graph), "--triangles", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.endswith("}\n[]\n")


def test_the_command_is_listed():
    assert "measure" in cli.COMMANDS
