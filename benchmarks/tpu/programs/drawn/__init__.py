"""Training steps whose settings are drawn at random, as a check of what people may write."""
