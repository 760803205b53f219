"""The design's own stages, and what goes between them; one pass a file."""
