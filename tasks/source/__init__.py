"""Files and databases into frames."""
