"""Audits, comparisons and lists: nothing here changes a vault or a release."""
