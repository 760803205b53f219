"""Which kernel runs an op, by dialect."""
