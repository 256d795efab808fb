"""What series of releases cost, month by month."""
