"""Programs compiled again with one change, and what that shows."""
