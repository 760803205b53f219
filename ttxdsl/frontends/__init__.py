"""From other systems into a module."""
