"""Nearest classes of other people."""

from anon_core.jit.kernel import parallel_kernel


@parallel_kernel(lambda found: len(found))
def list_strangers(begin, end, kind, near, start, alike, party, of_one, found):
    # kind (C,): levels of each class; near (kinds, m): nearest other levels, ascending
    # classes of levels g are alike[start[g] : start[g + 1]]; found int32 (C, most): filled
    """found[c] = classes near c of other parties, at most `of_one` of each; -1 where none is left.

    Classes of the same levels come first. A long run of classes of the same levels begins at
    another place for each class.
    """
    most = found.shape[1]
    for c in range(begin, end):
        size = 0
        for turn in range(near.shape[1] + 1):
            if size == most:
                break
            g = near[kind[c], turn - 1] if turn else kind[c]
            length = start[g + 1] - start[g]
            for step in range(length):
                if size == most:
                    break
                d = alike[start[g] + (c + step) % length]
                if party[d] == party[c]:
                    continue
                times = 0
                for place in range(size):
                    times += party[found[c, place]] == party[d]
                if times < of_one:
                    found[c, size] = d
                    size += 1
