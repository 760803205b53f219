"""xDSL dialects: sdy, StableHLO, CHLO and the Tenstorrent dialects."""
