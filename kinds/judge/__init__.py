"""Judging releases of any kind: limits, traces, drift."""
