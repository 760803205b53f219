"""Programs that are bytes: StableHLO's portable artifacts, MLIR bytecode, jax.export's."""
