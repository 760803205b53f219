"""The design's own stages and the passes between them; one pass a file."""
