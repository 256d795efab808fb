"""The secret matching: which record sits in which row."""
