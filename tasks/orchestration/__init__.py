"""What all stages share of Prefect and of checks: the task decorator, the log, the gates."""
