"""From a global program to that of one device: `pipeline.py` has the order."""
