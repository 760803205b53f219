"""The same program through XLA on virtual CPU devices, beside ours. Needs JAX."""
