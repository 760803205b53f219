"""Passes, one a file, named as the pass."""
