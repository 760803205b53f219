"""XLA's HLO text: the collectives of a compiled program, and how often they run."""
