"""Theorem 4.1 as a picture (Figure 2 of Epasto et al.): python -m benchmarks.smooth.pictures FILE.

By density of the matrix: the epsilon that randomized response needs for a similarity.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.smooth.figures import DENSITIES
from benchmarks.smooth.theorems import least_epsilon

SHARES = np.linspace(0.02, 0.98, 97)


def draw(path: Path) -> None:
    """Write the picture as PNG; the same bytes each time."""
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for density, shade in zip(DENSITIES, np.linspace(0.35, 0.95, len(DENSITIES)), strict=True):
        needed = [least_epsilon(share, density) for share in SHARES]
        axes.plot(needed, SHARES, color=mpl.colormaps["Blues"](shade), label=f"{density:g}")
        axes.plot(np.log(1 / density), 0.5, "o", color="black", markersize=4)
    axes.set(
        xlabel="epsilon (edge privacy)",
        ylabel="Jaccard similarity",
        xlim=(0, 15),
        ylim=(0, 1),
        title="Randomized response: at 0.5, epsilon is log(1 / density)",
    )
    axes.grid(color="#dddddd")
    axes.legend(title="density", loc="lower right")
    figure.savefig(path, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
