"""What must never leave: finished stages, secrets, checkpoints, approvals."""
