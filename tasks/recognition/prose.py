"""Free text of which nearly every cell has words of its own: a note about one person."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tasks.recognition.cells import Cells

LEAST_WORDS, LEAST_SIGNS = 4, 20
LEAST_ROWS = 20
NEARLY = 0.8  # of the rows with free text
KEYS = r"\"[^\"]{1,40}\"\s*:"  # of JSON


def find_notes(cells: Cells) -> NDArray[np.bool_]:
    """Cells of free text in words that no other row has, where nearly all free text is so.

    Digits and punctuation tell no two texts apart.
    """
    plain = cells.texts.str.replace_all(KEYS, " ")
    said = plain.str.replace_all(r"[^\p{L}]+", " ").str.strip_chars().str.to_lowercase()
    words = plain.str.count_matches(r"(?:^|\s)[\"'(\[]?\p{L}{2,}")
    long = (words >= LEAST_WORDS) & (said.str.len_chars() >= LEAST_SIGNS)
    long |= said.str.count_matches(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]") >= LEAST_SIGNS / 2
    if not long.any():
        return cells.nothing()
    kept = np.asarray(long.to_numpy(), dtype=np.bool_)
    frame = pl.DataFrame({"said": said, "rows": cells.rows})
    times = frame.select(pl.col("rows").sum().over("said")).to_series().to_numpy()
    own: NDArray[np.bool_] = kept & (times == 1)
    number = int(own.sum())
    if number < LEAST_ROWS or number < NEARLY * int(cells.rows[kept].sum()):
        return cells.nothing()
    return own
