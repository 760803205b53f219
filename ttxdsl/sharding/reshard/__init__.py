"""Plans of collectives that reshard a tensor."""
