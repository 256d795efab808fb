"""The plan: what a person typed, typed and checked."""
