"""Who is in a release: digests of people, and the ledger that compares releases by them."""
