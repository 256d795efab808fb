"""Adaptive anonymity: an iterated b-edge cover of small weight (Khan et al.)."""
