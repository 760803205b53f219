"""The per-device program that optimizations of collectives ask and change."""
