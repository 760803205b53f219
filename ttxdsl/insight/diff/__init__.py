"""The differences between two programs."""
