"""[publish] of a plan: where a release goes, who approves it, which database it is loaded into."""
