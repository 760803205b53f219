"""Other spellings that take more than a few lines: when they are right, and the rewrite."""
