"""Releases of the ACS excerpts of NIST, scored by SDNist."""
