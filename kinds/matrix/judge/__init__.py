"""The audit of a matrix's release.

Everything is recomputed from the plan, the source and the released bytes. Makers and auditor share
`read`, which gives users and items of a source, `rows.flatten_rows`, and `items.item_columns`,
which names the columns that the plan makes items of. Beside that nothing of the makers is used but
the vault's row map, and that as a claim: if it pairs all records with all rows, then the classes
are counted by the content of the rows, and majorities in the source.
"""

from crowdcover.kinds.matrix.judge.rows import audit_matrix

__all__ = ["audit_matrix"]
