"""The score of steveng9/Reconstruction, and its error by bootstrap."""

import numpy as np

DRAWS = 200


def score(truth, right, weight=None):
    """Rarity-weighted accuracy of one column, 0..100.

    A right guess counts n / (how many of the n targets have that value). So it is the mean over
    the values of the share of right guesses among those who have the value.

    Parameters
    ----------
    truth : int (targets,)
        The value of each target, as a number from 0.
    right : bool (targets,)
    weight : float (targets,), optional
        How often each target counts; values of no target do not count.
    """
    of, hit = np.bincount(truth, weight), np.bincount(truth, right * _ones(right, weight))
    return 100 * (hit[of > 0] / of[of > 0]).mean()


def _ones(right, weight):
    return np.ones(len(right)) if weight is None else weight


def scores(truth, right, generator, draws=DRAWS):
    """The mean score of the columns, and of bootstrap draws of the targets.

    Parameters
    ----------
    truth, right : dict of str to array
        By column, as of `score`.

    Returns
    -------
    float, float (draws,)
    """
    columns = list(truth)
    count = len(truth[columns[0]])
    mean = float(np.mean([score(truth[name], right[name]) for name in columns]))
    drawn = np.empty(draws)
    for number in range(draws):
        weight = np.bincount(generator.integers(0, count, count), minlength=count)
        drawn[number] = np.mean([score(truth[name], right[name], weight) for name in columns])
    return mean, drawn
