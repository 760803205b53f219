"""Sharding rules of ops: one registry, one file an op family."""
