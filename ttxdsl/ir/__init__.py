"""What xDSL lacks for the ops of every dialect."""
