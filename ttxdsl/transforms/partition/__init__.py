"""How each op becomes what one device computes; `table.py` lists them all."""
