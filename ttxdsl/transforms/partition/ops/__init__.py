"""The rewriting of each family of ops for one device."""
