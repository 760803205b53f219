"""Memory of arrays: what a run will hold, and what is free."""
