"""Op sharding rules as data: which dimensions of which tensors belong together.

A factor is a sub-dimension. A rule maps every dimension of every operand and result
to factors, major to minor, like einsum text: `([i, k], [k, j])->([i, j])`.

Source: Shardy's `OpShardingRuleAttr`.
"""

from __future__ import annotations

from dataclasses import dataclass

DimMapping = tuple[int, ...]
"""Factor indices of one dimension, major to minor; empty is the null mapping `*`."""

TensorMapping = tuple[DimMapping, ...]
"""One `DimMapping` a dimension of the tensor."""


@dataclass(frozen=True, slots=True)
class OpShardingRule:
    """How an op may be partitioned. Factor groups hold sorted factor indices."""

    factor_sizes: tuple[int, ...]
    operands: tuple[TensorMapping, ...]
    results: tuple[TensorMapping, ...]
    reduction: tuple[int, ...] = ()
    need_replication: tuple[int, ...] = ()
    permutation: tuple[int, ...] = ()
    blocked: tuple[int, ...] = ()
    is_custom: bool = False
