"""The audit of a graph's release.

Everything is recomputed from the plan, the source and the released bytes. Makers and auditor share
`read`, which gives the listed edges of a source, and `rows.flatten_rows`. Beside that nothing of
the makers is used but the vault's map of keys, and that as a claim.

What is promised needs no map: the entropies follow from the known degrees, which the source gives,
and from the degree distributions of all released vertices, whoever they are. The map is needed to
see that each vertex has a key of its own, that the order of keys tells nothing, and how far the
release is from the source at each vertex.
"""

from crowdcover.kinds.graph.judge.audit import audit_graph

__all__ = ["audit_graph"]
