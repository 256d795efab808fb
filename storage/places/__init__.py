"""Places: local paths and places in object storage, and how they answer."""
