"""Shardy's passes after propagation."""
