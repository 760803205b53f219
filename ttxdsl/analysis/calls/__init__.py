"""Functions and calls, and how often ops run."""
