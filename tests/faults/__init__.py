"""Faults of the machine: what they may cost a run, tried again and again.

`python -m tests.faults` tries each fault many times and prints the table of docs/reliability.md.
The slow tests try each a few times.
"""
