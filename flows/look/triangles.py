"""`crowdcover measure`: numbers of a graph, without a plan and without a release."""

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numba

from anon_core.errors import LimitError
from anon_core.measures.graph.triangles import counting, expected
from anon_core.measures.graph.triangles.oriented import Oriented, orient_edges
from crowdcover.storage.source.edges import EdgeList, read_edges

Advanced = Callable[[float], None]

_WORDS = {
    "vertices": "vertices",
    "edges": "edges",
    "loops_left_out": "edges from a vertex to itself, left out",
    "repeated_left_out": "edges that repeat another, left out",
    "triangles": "triangles",
    "edges_in_triangles": "edges that belong to a triangle",
    "most_triangles_of_an_edge": "greatest number of triangles of one edge",
    "vertices_in_triangles": "vertices that belong to a triangle",
    "transitivity": "of the paths of two edges close a triangle (transitivity)",
    "clustering": "of a vertex's pairs of neighbours are joined, on average (clustering)",
    "expected_triangles": "triangles are expected, given the probabilities",
    "deviation": "is the standard deviation of that number",
    "files": "files in the folder of --list",
}


def measure_graph(options: argparse.Namespace) -> dict[str, Any]:
    """Read the graph and count; shows progress on a terminal unless quiet.

    Refused: a file that holds no such graph, and more threads than the machine has.
    """
    if options.list is None and (idle := _list_idle_options(options)):
        raise LimitError(f"{idle[0]} belongs to --list FOLDER")
    if options.engine != "dask" and (options.workers or options.scheduler):
        raise LimitError("--workers belongs to --engine dask; so does --scheduler")
    if options.workers and options.scheduler:
        raise LimitError("--workers starts a cluster; leave it or --scheduler out")
    if options.list is not None and options.uncertain:
        raise LimitError("--uncertain belongs to counting; leave it or --list out")
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if options.threads > most:
        raise LimitError(f"--threads must be 1..{most} on this machine")
    numba.set_num_threads(options.threads or most)
    with _show_progress(quiet=options.quiet) as (said, advanced):
        if options.list is not None:
            return _list_triangles(options, said, advanced)
        said("read")
        edges = read_edges(options.graph, uncertain=options.uncertain, header=options.header)
        said("orient")
        graph = orient_edges(edges.u, edges.v, edges.vertices)
        said("count")
        return _measure_certain_graph(edges, graph, advanced) | _measure_uncertain_graph(
            edges, graph, said, advanced
        )


def _list_idle_options(options: argparse.Namespace) -> list[str]:
    names = ("method", "engine", "workers", "scheduler", "reducers", "memory")
    return [f"--{name}" for name in names if getattr(options, name) is not None]


def _list_triangles(
    options: argparse.Namespace, said: Callable[[str], None], advanced: Advanced
) -> dict[str, Any]:
    from crowdcover.flows.look.listing import list_graph_triangles

    def show_tasks(step: str, done: int, tasks: int) -> None:
        said(step)
        advanced(done / tasks)

    return list_graph_triangles(options, show_tasks)


def format_measures(numbers: Mapping[str, Any]) -> list[str]:
    """Return the numbers for people, a line each."""
    shown = {name: _format_number(value) for name, value in numbers.items()}
    width = max(map(len, shown.values()))
    return [f"{value:>{width}}  {_WORDS[name]}" for name, value in shown.items()]


def _measure_certain_graph(edges: EdgeList, graph: Oriented, advanced: Advanced) -> dict[str, Any]:
    """Count as if each edge existed."""
    of_edge = counting.per_edge(graph, advanced)
    of_vertex = counting.per_vertex(graph, of_edge)
    # Each triangle is counted at its three vertices.
    triangles = int(of_vertex.sum()) // 3
    return {
        "vertices": edges.vertices,
        "edges": graph.edges,
        "loops_left_out": edges.loops,
        "repeated_left_out": edges.repeated,
        "triangles": triangles,
        "edges_in_triangles": int((of_edge > 0).sum()),
        "most_triangles_of_an_edge": int(of_edge.max(initial=0)),
        "vertices_in_triangles": int((of_vertex > 0).sum()),
        "transitivity": counting.compute_transitivity(graph, triangles),
        "clustering": counting.compute_mean_clustering(graph, of_vertex),
    }


def _measure_uncertain_graph(
    edges: EdgeList, graph: Oriented, said: Callable[[str], None], advanced: Advanced
) -> dict[str, Any]:
    if edges.p is None:
        return {}
    said("expect")
    return {
        "expected_triangles": float(expected.compute_expected_triangles(graph, edges.p)),
        "deviation": math.sqrt(expected.compute_triangle_variance(graph, edges.p, advanced)),
    }


def _format_number(value: float) -> str:
    return f"{value:,d}" if isinstance(value, int) else f"{value:,.6f}"


@contextmanager
def _show_progress(*, quiet: bool) -> Iterator[tuple[Callable[[str], None], Advanced]]:
    """Yield what names the present step, and what moves its bar; shown on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn())
    wanted = sys.stderr.isatty() and not quiet
    with Progress(
        *columns, console=Console(stderr=True), transient=True, disable=not wanted
    ) as bar:
        row = bar.add_task("read", total=None)

        def said(step: str) -> None:
            bar.update(row, description=step, total=None)

        def advanced(share: float) -> None:
            bar.update(row, total=1.0, completed=share)

        yield said, advanced
