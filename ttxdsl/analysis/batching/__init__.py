"""Dimensions that are split together, and the batch among them."""
