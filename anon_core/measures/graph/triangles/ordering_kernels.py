"""Counting sort of triangles by one of their three vertices."""

from anon_core.jit.kernel import kernel


@kernel
def count_column(rows, column, counts):  # rows int32 (t, 3), counts int64 (n,)
    """Count the rows with each vertex in a column."""
    for t in range(len(rows)):
        counts[rows[t, column]] += 1


@kernel
def move_rows(rows, column, at, out):  # at int64 (n,), out int32 (t, 3)
    """Write each row at the next place of its vertex in a column."""
    for t in range(len(rows)):
        x = rows[t, column]
        place = at[x]
        at[x] = place + 1
        out[place, 0], out[place, 1], out[place, 2] = rows[t, 0], rows[t, 1], rows[t, 2]
