"""The audit of a table's release.

Everything is recomputed from the plan, the source and the released bytes. Of the makers nothing is
used but two claims of the vault. The first is its canonical matching: if it pairs all records with
all rows and every row is truthful for its record, then the guarantees on crowds hold, whoever made
the release. The second is read where even seats are promised: the records that hold each row.
"""

from crowdcover.kinds.table.judge.rows import audit_release, audit_rows

__all__ = ["audit_release", "audit_rows"]
