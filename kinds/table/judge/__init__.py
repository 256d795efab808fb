"""The audit of a table's release.

Everything is recomputed from the plan, the source and the released bytes. Of the makers nothing is
used but the vault's canonical matching, and that as a claim: if it pairs all records with all rows
and every row is truthful for its record, then the guarantees hold, whoever made the release.
"""

from kinds.table.judge.rows import audit_rows

__all__ = ["audit_rows"]
