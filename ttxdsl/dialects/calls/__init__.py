"""Custom calls by target: what their operands are, and what they do."""
