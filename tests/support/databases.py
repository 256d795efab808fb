"""A table in a database."""

import sqlite3

from tests.flows.orders import HEADER, Order, people

QUERY = "select * from people order by random()"


def in_a_database(folder):
    """The order's table in SQLite; the rows come in another order at every query."""
    order = Order(folder)
    path = order.folder / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"create table people ({', '.join(HEADER)})")
        marks = ", ".join("?" * len(HEADER))
        connection.executemany(f"insert into people values ({marks})", people())
    connection.close()
    order.document["source"] = {"uri": f"sqlite:///{path}", "query": QUERY}
    order.write()
    return order
