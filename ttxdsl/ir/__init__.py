"""What xDSL lacks for every dialect."""
