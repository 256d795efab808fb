"""What a release keeps, by the selection of edges: python -m benchmarks.graphs.figure FILE [N].

At the same k and eps, over N seeds (5): reliability discrepancy (mean |R - R~| over sampled pairs
of vertices), degree error (mean absolute change of an expected degree) and clustering error
(absolute change of 3 expected triangles over the expected wedges). Prints a line for each graph,
demand and selection, and writes the picture as PNG.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from anon_core.anonymizers.uncertain_graph.obfuscate import Obfuscate
from anon_core.errors import InfeasibleError
from anon_core.measures.graph.degrees import Degrees, UncertainEdges
from anon_core.measures.graph.discrepancy import estimate_discrepancy
from anon_core.measures.graph.structure import compute_expected_clustering, degree_change
from benchmarks.graphs.sets import load

CELLS = (("collins", 60, 0.05), ("collins", 100, 0.05), ("krogan", 60, 0.01), ("krogan", 100, 0.01))
METHODS = {
    "planned (default)": Obfuscate(),
    "degree": Obfuscate(selection="degree"),
    "relevance": Obfuscate(selection="relevance"),
    "anonymity": Obfuscate(selection="anonymity"),
    "utility": Obfuscate(selection="utility"),
    "betweenness": Obfuscate(selection="betweenness"),
    "uniqueness": Obfuscate(selection="uniqueness"),
    "random": Obfuscate(selection="random"),
    "Rep-An, planned": Obfuscate(start="representative"),
    "Rep-An, uniqueness": Obfuscate(start="representative", selection="uniqueness"),
}
MEASURES = ("reliability discrepancy", "degree error", "clustering error")
SHADES = {"planned (default)": "#08519c", "relevance": "#4292c6"}
REPRESENTED, OTHERS = "#b35806", "#777777"


def judged(graph, made):
    """The three measures, and the parts of degree that are added."""
    source = UncertainEdges(graph.u, graph.v, graph.p, graph.records)
    released = UncertainEdges(made.u, made.v, made.p, graph.records)
    change = degree_change(Degrees.of(source), Degrees.of(released))
    apart = abs(
        compute_expected_clustering(source).coefficient
        - compute_expected_clustering(released).coefficient
    )
    return [
        estimate_discrepancy(source, released).mean,
        change.error,
        apart,
        change.after / change.before - 1,
    ]


def measured(graph, maker, seeds):
    """The figures of each seed whose demands are met, (met, 4)."""
    rows = []
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(graph.records)
        try:
            rows.append(judged(graph, maker.anonymize(graph, tie_order=order)))
        except InfeasibleError:
            continue
    return np.array(rows).reshape(-1, 4)


def told(cell, method, rows, seeds):
    name, k, eps = cell
    if not len(rows):
        print(f"{name} ({k}, {eps}) {method}: out of reach")
        return
    mean, spread = rows.mean(axis=0), np.ptp(rows, axis=0)
    print(
        f"{name} ({k}, {eps}) {method}: discrepancy {mean[0]:.4f} (range {spread[0]:.4f}), "
        f"degree error {mean[1]:.2f} ({spread[1]:.2f}), clustering error {mean[2]:.4f} "
        f"({spread[2]:.4f}), added degree {100 * mean[3]:+.0f} %, {len(rows)} of {seeds} seeds",
        flush=True,
    )


def draw(path: Path, found):
    """Write the picture: a dot for each seed, a line at their mean."""
    figure = Figure(figsize=(11, 7.2), layout="constrained")
    shape = len(MEASURES), len(CELLS)
    panels = figure.subplots(*shape, sharex="row", sharey=True, squeeze=False)
    names = list(METHODS)[::-1]
    for column, cell in enumerate(CELLS):
        panels[0, column].set_title("{}, k = {}, eps = {}".format(*cell))
        for row, measure in enumerate(MEASURES):
            axes = panels[row, column]
            axes.set_xlabel(measure)
            axes.grid(axis="x", color="#dddddd")
            axes.set_yticks(range(len(names)), names)
            for at, name in enumerate(names):
                values = found[cell, name][:, row]
                shade = SHADES.get(name, REPRESENTED if name.startswith("Rep") else OTHERS)
                axes.plot(values, np.full(len(values), at), "o", color=shade, ms=4, alpha=0.6)
                if len(values):
                    axes.plot([values.mean()] * 2, [at - 0.35, at + 0.35], color=shade, lw=2)
                else:
                    axes.text(0, at, "out of reach", va="center", color=shade, fontsize=8)
    for axes in panels[:, 0]:
        axes.set_xlim(left=-0.03 * axes.get_xlim()[1])
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main(path, seeds):
    found = {}
    for cell in CELLS:
        graph = load(*cell)
        for method, maker in METHODS.items():
            found[cell, method] = measured(graph, maker, seeds)
            told(cell, method, found[cell, method], seeds)
    draw(path, found)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5)
