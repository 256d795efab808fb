"""What touches disk, processes, retries and Prefect."""
