"""Facts about values: ranges, counting, what arguments become."""
