"""Programs and arrays that a command line names."""
