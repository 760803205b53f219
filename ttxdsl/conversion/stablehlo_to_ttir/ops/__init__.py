"""Lowerings of StableHLO ops to ttir, one family a file."""
