"""From ttir to ttnn."""
