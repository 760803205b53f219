"""Buffers of a compiled program: what is fused, when each is there, and where."""
