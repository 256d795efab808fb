"""What a rank will hold, known before any rank is there: a job that cannot fit is not worth its time in a queue."""

from anon_core.anonymizers.adaptive.adaptive import Adaptive
from anon_core.anonymizers.adaptive.agreement import ROOM
from anon_core.engines.local import afford
from anon_core.search.nearest import search_memory
from anon_core.tables.records import BinaryTable

AT_ONCE = 2**20  # messages, more or less, that are under way: a single rank may get them all
COUNTED = 4096  # vertices whose counts travel together


def rank_memory(settings: Adaptive, table: BinaryTable, *, ranks: int, threads: int) -> int:
    """Bytes that any rank holds at most beyond the table; shares of lists are taken as even, and a fifth more.

    Lists are shared out, but not those who are listed: among equals the first are, and they are rank 0's.

    Parameters
    ----------
    settings : Adaptive
    table : BinaryTable
    ranks : int
    threads : int
        Of each rank.
    """
    return settings.over_levels(
        table, lambda level: _level_memory(settings, level, ranks=ranks, threads=threads)
    )


def _level_memory(settings: Adaptive, table: BinaryTable, *, ranks: int, threads: int) -> int:
    # Before reclaiming: lists and their predecessors 16 bytes an entry, keys at both ends 16, suitors 2, covers 36. Then a
    # cover, and ROOM times: lists 4, keys 16, partners 8, marks 4. A batch of messages thrice, of counts from every rank.
    # Whom all others list has a key and a partner for each of them.
    total = int((table.k - 1).sum(dtype="int64"))
    entries, popular = total * 6 // (5 * ranks), total - total // ranks
    travelling = 36 * AT_ONCE + 2 * COUNTED * 2 * table.codebook.features * (ranks + 1)
    replicated = settings.memory_of_records(table, threads) + 8 * table.records * (
        table.codebook.words + 6
    )
    at_work = search_memory(table.records, int(table.k.max()), threads)
    return replicated + (60 + 32 * ROOM) * entries + 12 * ROOM * popular + at_work + travelling


def afford_rank(
    settings: Adaptive, table: BinaryTable, *, ranks: int, threads: int, memory: int | None
) -> None:
    """Raise LimitError where a rank needs more bytes than are allowed."""
    need = rank_memory(settings, table, ranks=ranks, threads=threads)
    afford(need, table, memory, where=f" on each of {ranks} ranks", instead="take more ranks")
