"""What Shardy does to a module after propagation."""
