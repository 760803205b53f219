"""What a program sends, holds and computes."""
