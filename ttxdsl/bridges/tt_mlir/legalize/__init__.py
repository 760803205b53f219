"""Per-device StableHLO as tt-mlir takes it: `prepare-for-tt-mlir`, one idea a file."""
