"""The sections of a plan that only graphs have."""
