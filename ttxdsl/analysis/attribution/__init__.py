"""Which part of the source program an op or a collective belongs to."""
