"""The meaning of shardings: axes, factors, projections and propagation.

The theory of Shardy without any IR: immutable Python values and pure functions,
plain `ValueError`s. Nothing here imports xdsl or another package of ours; reading
this package alone is enough to understand how shardings spread through a program.
"""
