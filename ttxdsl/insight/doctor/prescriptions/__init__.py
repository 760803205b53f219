"""Changes to write so that a program costs less on its own mesh."""
