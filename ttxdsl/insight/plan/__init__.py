"""Plans of a step: whether it fits, how long it takes, and what would change that."""
