"""Starter plans: a proposed role for every column of a table, with its reason.

header.py: is the first row names?   markers.py: texts that mean "not given"
names.py: what a name says           values.py: figures about a column's values
proposals.py: the rules              writing.py: the plan's text
"""
