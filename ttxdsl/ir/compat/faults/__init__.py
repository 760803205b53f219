"""Mends to errors of xDSL 0.74, and to texts that it cannot read."""
