"""Seconds and memory: against records, threads and ranks."""
