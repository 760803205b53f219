"""Sharding propagation: engine, strategies, priorities."""
