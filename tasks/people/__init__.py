"""Who is in a release: digests, the ledger, overlap of releases."""
