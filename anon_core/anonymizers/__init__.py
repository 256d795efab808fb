"""The anonymizers by the name that a plan gives them."""

from anon_core.anonymizers.adaptive.adaptive import Adaptive
from anon_core.anonymizers.base import Anonymizer

ANONYMIZERS = {"adaptive": Adaptive}

__all__ = ["ANONYMIZERS", "Adaptive", "Anonymizer"]
