"""What stays on disk or is read from it; knows no Prefect and no kind of data."""
