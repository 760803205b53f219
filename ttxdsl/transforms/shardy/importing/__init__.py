"""Shardy's passes before propagation."""
