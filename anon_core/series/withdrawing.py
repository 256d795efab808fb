import numpy as np


def pulled(fits, k, going, person=None, *, least=0):
    return np.ones_like(going) if going.any() else going.copy()
