"""Which mesh fits a program: groups of dimensions, meshes, and what each really costs."""
