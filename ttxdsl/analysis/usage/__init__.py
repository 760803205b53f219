"""Communication, memory, work and time of a program."""
