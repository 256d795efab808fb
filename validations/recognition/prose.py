"""Free text of which nearly every cell has words of its own: a note about one person."""

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.validations.recognition.cells import Cells
from crowdcover.validations.recognition.words import load_words

LEAST_WORDS, LEAST_SIGNS = 3, 12
LONG, LONG_SIGNS = 6, 20  # words and signs of texts that are no names of products if written small
LEAST_ROWS = 10
_NEARLY = 0.8  # of the rows with free text
SMALL = 0.5  # of the words after the first begin with a small letter
_SOME = 0.15  # of the short texts have a word that names of products hardly have
_TRIED = 2_000  # short texts, at least, in which these words are looked for
_KEYS = r"\"[^\"]{1,40}\"\s*:"  # of JSON
START = r"(?:^|\s)[\"'(\[]?"


def find_notes(cells: Cells) -> NDArray[np.bool_]:
    """Cells of free text in words that no other row has, where nearly all free text is so.

    Digits and punctuation tell no two texts apart. Names of products are written in capital letters
    or are short: such texts count only if some of them have words such as `was` or `since`.
    """
    plain = cells.texts.str.replace_all(_KEYS, " ")
    said = plain.str.replace_all(r"[^\p{L}]+", " ").str.strip_chars().str.to_lowercase()
    words = plain.str.count_matches(START + r"\p{L}{2,}")
    signs = said.str.len_chars()
    text = (words >= LEAST_WORDS) & (signs >= LEAST_SIGNS)
    unspaced = said.str.count_matches(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]")
    text |= unspaced >= LONG_SIGNS / 2
    if not text.any():
        return cells.nothing()
    small = plain.str.count_matches(r"\s[\"'(\[]?[\p{Ll}\p{Lo}]\p{L}")
    long = (words >= LONG) & (signs >= LONG_SIGNS) & (small >= SMALL * (words - 1))
    long |= unspaced >= LONG_SIGNS / 2
    kept = np.asarray(text.to_numpy(), dtype=np.bool_)
    frame = pl.DataFrame({"said": said, "rows": cells.rows})
    # Rows of all cells that say the same once digits and punctuation are gone.
    times = frame.select(pl.col("rows").sum().over("said")).to_series().to_numpy()
    short = kept & ~np.asarray(long.to_numpy(), dtype=np.bool_)
    listed = "|".join(map(re.escape, load_words()["prose"]["words"]))
    tried = said.filter(pl.Series(short))
    tried = tried.gather_every(max(1, len(tried) // _TRIED))
    if tried.str.contains(rf"(?:^| )(?:{listed})(?: |$)").sum() < _SOME * len(tried):
        if 2 * short.sum() > kept.sum():  # names of products, some of them long
            return cells.nothing()
        kept &= ~short
    own: NDArray[np.bool_] = kept & (times == 1)
    number = int(own.sum())
    if number < LEAST_ROWS or number < _NEARLY * int(cells.rows[kept].sum()):
        return cells.nothing()
    return own
