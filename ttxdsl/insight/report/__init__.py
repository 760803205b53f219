"""What a compiled program does, as data: its collectives and what they cost."""
