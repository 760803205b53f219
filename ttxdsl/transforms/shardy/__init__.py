"""Shardy's passes under their names, one a file, as Shardy groups them."""
