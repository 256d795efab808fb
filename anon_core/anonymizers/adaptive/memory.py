"""Bytes that the adaptive method holds at most, stated before it starts."""

from collections.abc import Callable

from anon_core.anonymizers.adaptive.agreement import LISTED_PER_NEED, maps_memory
from anon_core.anonymizers.adaptive.halves import stand_in
from anon_core.anonymizers.adaptive.schedule import WARM_START_HALVINGS, has_warm_start
from anon_core.anonymizers.adaptive.settings import Settings
from anon_core.covers.named import COVERS
from anon_core.covers.suitor import MESSAGES_AT_ONCE
from anon_core.search.dissimilarity import costs_memory
from anon_core.search.nearest import search_memory
from anon_core.seating.even import even_memory
from anon_core.seating.reseating import reseat_memory
from anon_core.seating.shares import shares_of
from anon_core.tables.records import BinaryTable, Codebook

COUNT_BATCH = 4096  # vertices whose counts travel together


def memory_needed(settings: Settings, table: BinaryTable) -> int:
    """Return the bytes beyond the input: costs and counts of each level, and the cover's part."""
    cover = COVERS[settings.cover]
    iterations = _over_levels(
        settings,
        table,
        lambda level: _of_records(level) + cover.memory(level.k - level.k.dtype.type(1)),
    )
    return max(iterations, _seats_memory(settings, table))


def rank_memory(settings: Settings, table: BinaryTable, *, ranks: int, threads: int) -> int:
    """Return the bytes that a rank holds at most beyond the table.

    Shares of lists are taken as even, and a fifth more. Lists are shared out by the vertex that
    lists. A vertex that many list makes its own rank hold more: among equal records the first are
    listed, and rank 0 owns them.

    Parameters
    ----------
    settings : Settings
    table : BinaryTable
    ranks : int
    threads : int
        Of each rank.
    """
    iterations = _over_levels(
        settings, table, lambda level: _of_rank(level, ranks=ranks, threads=threads)
    )
    return max(iterations, _seats_memory(settings, table))


def _seats_memory(settings: Settings, table: BinaryTable) -> int:
    """Return the bytes that even seats, and then exchanges, take when the iterations are done."""
    if settings.seats != "even":
        return 0
    shares = shares_of(table.k)
    return max(even_memory(table, shares), reseat_memory(table, shares))


def farm_memory(table: BinaryTable) -> int:
    """Return the bytes of what a farm's tasks read, held once more while it is sent."""
    per_record = 2 * table.codebook.features + 5 * len(table.codebook.attributes) + 12
    return table.records * per_record + 8 * int((table.k - 1).sum(dtype="int64"))


def _over_levels(settings: Settings, table: BinaryTable, need: Callable[[BinaryTable], int]) -> int:
    """Return the most bytes held at a time where an iteration on a table takes `need` bytes.

    During the warm start with a part of the records, the counts and the tree of the whole wait.
    """
    most, waiting, book = need(table), 0, table.codebook
    for _ in range(WARM_START_HALVINGS if has_warm_start(settings, table.records) else 0):
        waiting += table.records * (
            2 * book.features + 25 * len(book.attributes) + 8 * book.words + 64
        )
        table = stand_in(table)
        most = max(most, waiting + need(table))
    return most


def _of_records(table: BinaryTable, threads: int | None = None) -> int:
    """Return the bytes that records and levels decide; `threads`: see `costs_memory`."""
    # Beside the costs: counts take 2 bytes a feature, codes are held thrice and once more in the
    # tree, hidden thrice. Reclaiming takes the place of closure and order, 36 bytes an entry, and
    # adds maps and 72 bytes a record. Renaming a cover takes 16 bytes an edge after that.
    book: Codebook = table.codebook
    per_record = 2 * book.features + 34 * len(book.attributes) + 32 * book.words + 216
    return (
        table.records * per_record
        + maps_memory(table.records, book)
        + costs_memory(table.records, book, threads)
    )


def _of_rank(table: BinaryTable, *, ranks: int, threads: int) -> int:
    # Before reclaiming, an entry takes: lists and their predecessors 16 bytes, keys at both ends
    # 16, suitors 2, covers 36. Then a cover, and LISTED_PER_NEED times: lists 4, keys 16, partners
    # 8, marks 4. Messages are held thrice, counts once from each rank.
    # Worst case: a vertex listed by all others stores one key and one partner for each.
    total = int((table.k - 1).sum(dtype="int64"))
    entries, popular = total * 6 // (5 * ranks), total - total // ranks
    travelling = 36 * MESSAGES_AT_ONCE + 2 * COUNT_BATCH * 2 * table.codebook.features * (ranks + 1)
    replicated = _of_records(table, threads) + 8 * table.records * (table.codebook.words + 6)
    at_work = search_memory(table.records, int(table.k.max()), threads)
    return (
        replicated
        + (60 + 32 * LISTED_PER_NEED) * entries
        + 12 * LISTED_PER_NEED * popular
        + at_work
        + travelling
    )
