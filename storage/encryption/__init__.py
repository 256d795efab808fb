"""Encryption at rest: the files of a vault in the age format, and plain copies for a while."""
