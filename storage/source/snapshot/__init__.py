"""What was read of a source: kept as it was at one moment, in memory or in a file."""
