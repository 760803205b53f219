"""Other systems: JAX, XLA, tt-mlir and MPI."""
