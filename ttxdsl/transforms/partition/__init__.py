"""The rewriting of each op to what one device computes; `table.py` lists them all."""
