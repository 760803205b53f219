"""The ops of ttir and ttnn."""
