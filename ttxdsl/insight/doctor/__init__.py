"""The mesh that fits a program: groups of dimensions, meshes, and their real costs."""
