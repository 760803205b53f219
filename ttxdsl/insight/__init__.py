"""Answers about programs, as data."""
