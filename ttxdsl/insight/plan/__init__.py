"""Whether a step fits the devices, how long it takes, and what would change that."""
