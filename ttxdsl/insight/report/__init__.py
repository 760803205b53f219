"""The collectives of a compiled program and their costs, as data."""
