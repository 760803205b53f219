"""The per-device program on the devices that JAX has."""
