"""Fewer bytes between devices: rewrites of the per-device program, one idea a file."""
