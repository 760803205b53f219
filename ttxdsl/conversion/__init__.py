"""Lowerings: StableHLO to ttir, ttir to ttnn."""
