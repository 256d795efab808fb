"""What an analyst gets from a release, held against its source."""
