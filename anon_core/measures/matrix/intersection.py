"""What several releases of the same users tell together.

Rows of different releases carry fresh keys, so nothing links them but what an attacker knows. The
worst case is counted: somebody who can tell which rows of the releases are of one user, and so
learns a class in each of them. Users with the same classes stay alike.
"""

import numpy as np
from numpy.typing import NDArray


def count_alike_users(class_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the users who share a user's class in every release.

    Parameters
    ----------
    class_of : int64 (releases, n)
        Class of each user's row in each release, -1 where the release does not show the user.

    Returns
    -------
    int64 (n,)
        How many users have the same column, the user included. Who is in other releases than the
        user does not count: the attacker knows in which releases the user is.
    """
    n = class_of.shape[1]
    label = np.zeros(n, dtype=np.int64)
    for classes in class_of:
        # Labels are below n, so that no pair exceeds 64 bits.
        pair = label * (classes.max(initial=-1) + 2) + classes + 1
        label = np.unique(pair, return_inverse=True)[1].astype(np.int64)
    return np.bincount(label, minlength=1)[label].astype(np.int64)
