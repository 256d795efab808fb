"""Where an anonymizer runs: engines, batch jobs, progress."""
