"""Kernels: arrays in, arrays out, no IR."""
