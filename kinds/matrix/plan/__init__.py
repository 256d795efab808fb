"""The sections of a plan that only matrices have."""
