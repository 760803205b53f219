"""Choosing one strategy for each node of a graph: prices of nodes and edges, and a limit."""
