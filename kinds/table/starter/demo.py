"""The plan of `crowdcover demo`: the Fair survey, which ships inside statsmodels."""

import importlib.util
from pathlib import Path

from crowdcover.kinds.section import PlanError, toml_text

DEMO = """\
# The Fair survey of 1978: what 6,366 women told a magazine about their marriages.
name = "fair"

[source]
path = {path}

[columns.rate_marriage]    # 1 very poor .. 5 very good
role = "quasi"
kind = "numeric"
bins = "none"
[columns.age]
role = "quasi"
kind = "numeric"
bins = "none"
[columns.yrs_married]
role = "quasi"
kind = "numeric"
bins = "none"
[columns.children]
role = "quasi"
kind = "numeric"
bins = "none"
[columns.religious]        # 1 not .. 4 strongly
role = "quasi"
kind = "numeric"
bins = "none"
[columns.educ]             # years of school
role = "quasi"
kind = "numeric"
bins = "none"
[columns.occupation]
role = "quasi"
kind = "categorical"
[columns.occupation_husb]
role = "quasi"
kind = "categorical"
[columns.affairs]          # time spent in affairs: what nobody should learn about anybody
role = "sensitive"
kind = "numeric"

[privacy]
k = 10
mix = "affairs"            # women exchange rows, so that fewer crowds show one value

[checks]
max_uniform = 0.05         # at most 5 % of the women may fit only rows that show one value
"""


def demo_plan(folder: Path) -> Path:
    """Write the demo's plan into a folder and return its path."""
    spec = importlib.util.find_spec("statsmodels")
    if spec is None or spec.origin is None:
        raise PlanError(
            "the demo's table ships inside statsmodels, which is not installed: "
            "pip install 'crowdcover[demo]'"
        )
    table = Path(spec.origin).parent / "datasets" / "fair" / "fair.csv"
    path = folder / "fair.toml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(DEMO.format(path=toml_text(str(table))), encoding="utf-8")
    except OSError:
        raise PlanError(f"{path} cannot be written; choose another --folder") from None
    return path
