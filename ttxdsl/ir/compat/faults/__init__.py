"""Mends to what xDSL 0.74 gets wrong or cannot read."""
