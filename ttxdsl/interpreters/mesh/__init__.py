"""Values on a mesh of devices, and the collectives on them."""
