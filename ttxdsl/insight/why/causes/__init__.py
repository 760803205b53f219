"""Causes of shardings and collectives, read off one compilation."""
