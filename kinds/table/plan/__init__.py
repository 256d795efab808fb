"""The sections of a plan that only tables have."""
