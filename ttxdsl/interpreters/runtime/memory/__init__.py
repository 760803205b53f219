"""Memory of arrays: the prediction for a run, and the bytes that are free."""
