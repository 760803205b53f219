"""The part of the source program that an op or a collective belongs to."""
