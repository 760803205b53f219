"""Programs of images."""
