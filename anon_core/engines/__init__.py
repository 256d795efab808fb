"""Where an anonymizer runs; the same bytes everywhere."""
