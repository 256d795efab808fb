"""k-marginal of our releases beside published figures."""

from matplotlib.figure import Figure

PUBLISHED = {  # of 2019, the same ten columns: docs/benchmarks.md
    "synthpop CART": 988,
    "AIM, ε = 1": 976,
    "sdcMicro, k = 6": 907,
    "sdcMicro, k = 12": 860,
}


def draw(found, picture):
    """A bar for each release and each published figure, best first."""
    best = {}
    for (k, _, _), score in found.items():
        best[k] = max(score, best.get(k, 0))
    bars = {name: (score, "#9ecae1") for name, score in PUBLISHED.items()}
    bars |= {f"crowdcover, k = {k}": (score, "#08519c") for k, score in best.items()}
    names = sorted(bars, key=lambda name: bars[name][0])
    figure = Figure(figsize=(7, 0.4 * len(names) + 0.7), layout="constrained")
    axes = figure.subplots()
    scores = [bars[name][0] for name in names]
    drawn = axes.barh(names, scores, color=[bars[name][1] for name in names])
    axes.bar_label(drawn, [f"{score:.0f}" for score in scores], padding=3)
    axes.set(xlabel="k-marginal (1000: no difference); axis from 800", xlim=(800, 1010))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=110, metadata={"Software": None})
