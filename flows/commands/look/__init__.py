"""Commands that read a release, a vault or a graph."""
