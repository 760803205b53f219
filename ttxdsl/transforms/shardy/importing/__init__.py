"""What Shardy does to a module before propagation."""
