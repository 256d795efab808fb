"""What must never leave: finished stages, secrets, checkpoints of each run."""
