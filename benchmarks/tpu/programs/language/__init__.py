"""Programs of language models."""
