"""Documents for regulators, filled from a release: as Markdown, or as a text document."""
