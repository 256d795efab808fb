"""Messages in the order of the ranks that receive them."""

import numpy as np

from anon_core.jit.kernel import kernel


@kernel
def sort_by_owner(messages, per, sizes, sorted_messages):  # sizes (ranks,) zeroed
    """Sort messages by the rank that owns their first vertex, `per` a rank; count them by rank."""
    for index in range(len(messages)):
        sizes[messages[index, 0] // per] += 1
    fill = np.cumsum(sizes) - sizes
    for index in range(len(messages)):
        owner = messages[index, 0] // per
        for column in range(messages.shape[1]):
            sorted_messages[fill[owner], column] = messages[index, column]
        fill[owner] += 1
