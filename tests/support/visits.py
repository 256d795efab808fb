"""A source in monthly partitions."""

import random
from pathlib import Path

from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import ReleasePlan
from tests.flows.orders import Order

PARTITION = {"column": "junk", "by": "month"}


RANGE = "2014-01..2014-05"


def visits(months=5, people=16, draws=3, rare=()):
    """Rows of visits: each month most people come, some of them twice; few in months of `rare`."""
    chance = random.Random(draws)
    rows = []
    for month in range(1, months + 1):
        for person in range(3 if month in rare else people):
            if chance.random() < 0.2 and month not in rare:
                continue
            for _ in range(chance.choice([1, 1, 2])):
                rows.append(
                    (
                        f"ident-{person:05d}",
                        chance.randint(18, 80),
                        chance.choice(["ulm", "bonn"]),
                        chance.choice(["yes", "no"]),
                        f"illness-{chance.randint(0, 4)}",
                        f"note-{len(rows)}",
                        f"2014-{month:02}-{chance.randint(1, 28):02}",
                    )
                )
    chance.shuffle(rows)
    return rows


def visited(folder, rows=None, partition=PARTITION, **sections):
    """An order of visits by month; crowds are of people."""
    return Order(
        folder,
        visits() if rows is None else rows,
        **{
            "source": {"partition": partition},
            "series": {"constant": []},
            "privacy": {"k": 4, "person": "ssn"},
            "anonymizer": {"name": "adaptive"},
            "checks": {"drift": "off"},
            **sections,
        },
    )


def release_one(plan, named):
    return Path(release_plan(ReleasePlan.load(Path(plan), named)).folder)
