"""Risks in the words of statistics offices: special uniques, subsets, populations."""
