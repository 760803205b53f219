"""Changes that may help: constraints, arguments, donation, meshes, spellings."""
