"""Pages in one file that loads nothing: a release, and the checks of a run."""
