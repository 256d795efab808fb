"""The stages: one verb, one file; disk, processes and Prefect."""
