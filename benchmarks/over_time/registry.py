"""A registry released every month: python -m benchmarks.registry [PEOPLE] [--picture FILE] ...

Draws a registry of Adult with numbered people (20,000): each month 3 % join, 1 % leave and 2 % get
another occupation. Releases each month as the next version of one series (k = 10, income carried),
by the real course in a temporary folder, and beside it a fresh release of the same month's table,
both by --method.

Prints for each month the rows of the version, the new ones, the share of the rows before that were
withdrawn although their people stay, the rows pulled along, who waits, how many people have fewer
than k rows left where income connects rows, and NCP of the whole version and of the fresh release.
Writes a picture as PNG where it is asked for.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from benchmarks import data_file
from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import ReleasePlan

COLUMNS = {  # name: place in the file, lines of the plan
    "age": (0, 'role = "quasi"\nkind = "numeric"'),
    "workclass": (1, 'role = "quasi"\nkind = "categorical"'),
    "education": (3, 'role = "quasi"\nkind = "categorical"'),
    "marital-status": (5, 'role = "quasi"\nkind = "categorical"'),
    "occupation": (6, 'role = "quasi"\nkind = "categorical"'),
    "race": (8, 'role = "quasi"\nkind = "categorical"'),
    "sex": (9, 'role = "quasi"\nkind = "categorical"'),
    "hours-per-week": (12, 'role = "quasi"\nkind = "numeric"'),
    "native-country": (13, 'role = "quasi"\nkind = "categorical"'),
    "income": (14, 'role = "sensitive"'),
}
JOIN, LEAVE, CHANGE = 0.03, 0.01, 0.02
TOLD = "month rows new reissued pulled held_back linked ncp fresh"


def main(people, months, maker, picture):
    series = f'[series]\nrecord = "id"\nconstant = ["income"]\n{maker}'
    print(TOLD, flush=True)
    lines = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for month, table in enumerate(registry(people, months), 1):
            table.write_csv(folder / "registry.csv")
            version = release(folder, "registry", series)
            fresh = release(folder, f"fresh-{month}", maker)
            lines.append(line(version, fresh))
            print(*lines[-1].values(), flush=True)
    if picture:
        draw(lines, picture)


def registry(people, months):
    """The table of each month, rows in a drawn order."""
    pool = adult()
    generator = np.random.default_rng(5)
    joins = int(JOIN * people)
    if people + joins * (months - 1) > pool.height:
        raise SystemExit(f"Adult has {pool.height} rows: take fewer people or months")
    table = named(pool[:people], 0)
    for month in range(months):
        yield table.sample(fraction=1, shuffle=True, seed=month)
        table = table.filter(pl.Series(generator.random(table.height) >= LEAVE))
        changes = pl.Series(generator.random(table.height) < CHANGE)
        other = table["occupation"].sample(fraction=1, shuffle=True, seed=months + month)
        column = pl.when(changes).then(other).otherwise(pl.col("occupation"))
        first = people + joins * month
        coming = named(pool[first : first + joins], first)
        table = pl.concat([table.with_columns(column.alias("occupation")), coming])


def adult():
    """The columns of Adult that are used, in a drawn order."""
    frame = pl.read_csv(data_file("adult/adult.data.gz"), has_header=False, infer_schema=False)
    columns = [pl.nth(place).str.strip_chars().alias(name) for name, (place, _) in COLUMNS.items()]
    return frame.drop_nulls("column_2").select(columns).sample(fraction=1, shuffle=True, seed=1)


def named(rows, first):
    """Rows with the numbers of their people."""
    numbers = pl.Series("id", [f"{number:06d}" for number in range(first, first + rows.height)])
    return rows.insert_column(0, numbers)


def release(folder, name, section):
    """The manifest of a release of the table as it is now."""
    columns = "".join(f"[columns.{each}]\n{lines}\n" for each, (_, lines) in COLUMNS.items())
    plan = folder / f"{name}.toml"
    plan.write_text(
        f'name = "{name}"\n[source]\npath = "registry.csv"\nmissing = ["?"]\noptional = true\n'
        f'[columns.id]\nrole = "identifier"\n{columns}[privacy]\nk = 10\n{section}'
        "[checks.drift]\nnew_categories = 0.01\n"
        f'[publish]\npath = "releases"\nvault = "vault-{name}"\n',
        encoding="utf-8",
    )
    published = Path(release_plan(ReleasePlan.load(plan)).folder)
    return json.loads((published / "manifest.json").read_text(encoding="utf-8"))


def line(version, fresh):
    """The figures of a month."""
    series = version["series"]
    now = series["versions"][-1]
    before = [each["rows"] for each in series["versions"][:-1]][-1:] or [0]
    assert series["below_k"] == series["histories_below_k"] == 0
    again = series["changed"] + series["pulled"]
    return {
        "month": now["number"],
        "rows": now["rows"],
        "new": now["new"],
        "reissued": round(again / max(1, before[0]), 4),
        "pulled": now["pulled"],
        "held_back": now["held_back"],
        "linked": series["linked_below_k"],
        "ncp": round(series["gcp"], 5),
        "fresh": round(fresh["utility"]["gcp"], 5),
    }


def draw(lines, picture):
    """What stays from month to month, and what it costs in information."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    months = [each["month"] for each in lines]
    stay = [each["rows"] - each["new"] for each in lines]
    left.bar(months, stay, color="#4292c6", label="as in the version before")
    left.bar(months, [each["new"] for each in lines], bottom=stay, color="#b35806", label="new")
    left.set(xlabel="version", ylabel="published rows", xticks=months)
    left.set_ylim(top=1.2 * max(each["rows"] for each in lines))
    left.yaxis.set_major_formatter("{x:,.0f}")
    left.legend(frameon=False, loc="upper left", ncols=2)
    for name, label, colour in (
        ("ncp", "version of the series", "#08519c"),
        ("fresh", "fresh release of that month", "#777777"),
    ):
        lost = [100 * each[name] for each in lines]
        right.plot(months, lost, "o-", color=colour, label=label)
    right.set(xlabel="version", ylabel="information lost (NCP, %)", xticks=months)
    right.set_ylim(0, 110 * max(each["ncp"] for each in lines))
    right.legend(frameon=False, loc="lower right")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("people", nargs="?", type=int, default=20_000)
    parser.add_argument("--months", type=int, default=12)
    parser.add_argument("--method", choices=["k-member", "adaptive"], default="k-member")
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    chosen = f'[anonymizer]\nname = "{given.method}"\n'
    chosen += 'seats = "matchable"\n' if given.method == "adaptive" else ""
    main(given.people, given.months, chosen, given.picture)
