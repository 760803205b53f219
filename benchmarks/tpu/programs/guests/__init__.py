"""Twenty steps as twenty guests write them, planned before libtpu was asked of any."""
