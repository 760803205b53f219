"""Running programs on a virtual device mesh with NumPy."""
