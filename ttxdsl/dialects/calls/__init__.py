"""Custom calls by target: their operands and their effects."""
