"""What a method counts as loss: names that plans state."""

from typing import Literal, get_args

from anon_core.errors import InputError

Loss = Literal["rank", "range", "binary"]
WeightRule = Literal["columns", "cells", "bits"]


def check_loss(loss: str) -> None:
    """Refuse a name that is none of `Loss`; see `tables.loss.loss_table`."""
    if loss not in get_args(Loss):
        raise InputError("loss must be 'rank', 'range' or 'binary'")


def check_weights(weights: str) -> None:
    """Refuse a name that is none of `WeightRule`; see `anonymizers.weights.feature_weights`."""
    if weights not in get_args(WeightRule):
        raise InputError("weights must be 'columns', 'cells' or 'bits'")
