"""A row that starts anew, for baselines that grow rows and groups; see `Cells`."""

from anon_core.jit.kernel import kernel


@kernel
def restart(r, v, cells):
    """Let row r allow the levels of record v only."""
    cells.member[r] = False
    for a in range(len(cells.ordinal)):
        q = cells.codes[v, a]
        cells.low[r, a], cells.high[r, a] = q, q
        cells.member[r, cells.offsets[a] + q] = True
