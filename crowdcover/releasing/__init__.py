"""From a frame to a checked release in memory: the pipeline's own course, without its disk."""
