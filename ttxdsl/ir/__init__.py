"""Tools for IR of any dialect that xDSL lacks."""
