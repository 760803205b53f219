"""A pure-Python compiler on xDSL for StableHLO programs sharded with Shardy."""

__version__ = "0.1.0"
