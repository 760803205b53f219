"""The functions that run ops, by dialect."""
