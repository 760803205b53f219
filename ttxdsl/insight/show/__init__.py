"""Which device holds which slice of a value."""
