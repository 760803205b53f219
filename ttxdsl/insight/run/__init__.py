"""A program run per device, beside the same program on one device."""
