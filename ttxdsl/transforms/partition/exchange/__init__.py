"""Exchanges between devices: collectives, halos, and pieces of split dimensions."""
