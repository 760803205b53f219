"""Mends to where xDSL 0.74 takes more time or memory than a program needs."""
