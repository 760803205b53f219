"""Analyses of a module: its calls, its solved functions, its batch dimensions."""
