"""What all stages share of Prefect: the task decorator, the log, the gates."""
