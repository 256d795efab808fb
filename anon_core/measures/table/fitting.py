import numpy as np


def fitting_rows(codes, cells):
    m, n = codes.shape
    starts = [0]
    out = []
    for v in range(n):
        ok = np.ones(
            cells.cell.shape[1] if hasattr(cells.cell, "shape") else len(cells.cell[0]), bool
        )
        for j in range(m):
            ok &= cells.levels[j][cells.cell[j], codes[j, v]]
        r = np.flatnonzero(ok).astype(np.int32)
        out.append(r)
        starts.append(starts[-1] + len(r))
    return np.array(starts, dtype=np.int64), np.concatenate(out)
