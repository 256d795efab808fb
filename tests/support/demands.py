"""Demands of users in a file of their own."""

import polars as pl


def demands(order, k_of, extra=()):
    users = pl.read_csv(order.source)["user"].unique().sort().to_list() + list(extra)
    frame = pl.DataFrame({"user": users, "k": [k_of(each) for each in users]})
    frame.write_csv(order.folder / "demands.csv")
    order.write(privacy={"k": {"path": "demands.csv"}})
