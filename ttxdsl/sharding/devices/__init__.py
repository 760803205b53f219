"""Meshes and device lists."""
