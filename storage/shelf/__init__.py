"""The shelf: where the releases of one name stand."""
