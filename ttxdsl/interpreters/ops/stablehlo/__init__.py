"""StableHLO on NumPy, by families of ops."""
