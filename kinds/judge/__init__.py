"""Judging releases of any kind: floors, traces, drift."""
