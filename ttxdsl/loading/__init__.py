"""Text and bytes to modules and back, files, plug-ins, and worker processes."""
