"""From a description of factors to an `OpShardingRule`.

The rule of an op is written as a sequence of `Factor`s: how large each is, which
dimension of each operand and result it is a part of, and what sharding it costs.
Factors that share a dimension are listed major to minor. `assemble` numbers them and
turns the description around, to one mapping a tensor:

    dot = [Factor(8, (0, None), 0), Factor(16, (None, 1), 1),
           Factor(4, (1, 0), None, FactorType.REDUCTION)]

is `([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction={k}`.
"""

from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.factors import OpShardingRule, TensorMapping

Shape = tuple[int, ...]

Dims = int | tuple[int | None, ...] | None
"""Where a factor is, among the operands or among the results.

A tuple has one entry a tensor: its dimension, or None where the factor is not in the
tensor. One number means this dimension of every tensor that has it, so not of scalars;
None means no tensor.
"""


class FactorType(Enum):
    """The cost to an op of a sharding of the factor, the same on all its tensors."""

    PASS_THROUGH = auto()
    """Nothing."""
    REDUCTION = auto()
    """An all-reduce of the results. Never in a result."""
    NEED_REPLICATION = auto()
    """The op cannot compute on shards: the factor is gathered first."""
    PERMUTATION = auto()
    """Neighbours exchange the borders of their shards."""


class Factor(NamedTuple):
    """One sub-dimension that operands and results share.

    A factor of size 1 says nothing about a dimension that has other factors, so it is
    kept only in dimensions that it makes up alone.

    Args:
        operands: its dimension in each operand.
        results: its dimension in each result.
        kind: what sharding it costs.
        blocked: whether propagation must not carry shardings along it.
        local: whether devices can share the op out along it, each with its part of what
            has the factor, where `kind` does not tell: unless it says that the factor
            is needed whole they can. Parts of what a result lacks are combined then.
    """

    size: int
    operands: Dims
    results: Dims
    kind: FactorType = FactorType.PASS_THROUGH
    blocked: bool = False
    local: bool | None = None

    @property
    def is_local(self) -> bool:
        """Whether devices can share the op out along it."""
        if self.local is None:
            return self.kind is not FactorType.NEED_REPLICATION
        return self.local


class Shapes(NamedTuple):
    """The shapes of an op's operands and results; `()` for what is not a tensor."""

    operands: tuple[Shape, ...]
    results: tuple[Shape, ...]

    @staticmethod
    def of(op: Operation) -> "Shapes | None":
        """Return the shapes around `op`, or None when one is not static."""
        operands = _static_shapes(op.operands)
        results = _static_shapes(op.results)
        if operands is None or results is None:
            return None
        return Shapes(operands, results)


def _static_shapes(values: Iterable[SSAValue]) -> tuple[Shape, ...] | None:
    shapes = tuple([shape_of(value) for value in values])
    for shape in shapes:
        if shape and min(shape) < 0:
            return None
    return shapes


def pointwise(
    sizes: Iterable[int],
    kind: Callable[[int], FactorType] = lambda dim: FactorType.PASS_THROUGH,
) -> Iterator[Factor]:
    """One factor a dimension, in that dimension of every tensor that has it."""
    for dim, size in enumerate(sizes):
        yield Factor(size, dim, dim, kind(dim))


def resized(op: Operation, kind: FactorType, *, blocked: bool) -> Iterator[Factor]:
    """Pointwise factors of the operand's sizes, special where the result's differ.

    Args:
        op: an op whose first result has the rank of its first operand.
        kind: of the factors whose dimension changes its size.
        blocked: whether those are blocked.
    """
    before, after = shape_of(op.operands[0]), shape_of(op.results[0])
    for dim, (size, new_size) in enumerate(zip(before, after, strict=True)):
        if size == new_size:
            yield Factor(size, dim, dim)
        else:
            yield Factor(size, dim, dim, kind, blocked)


def assemble(
    shapes: Shapes, factors: Iterable[Factor], *, is_custom: bool = False
) -> OpShardingRule:
    """Number the factors and map every dimension to its own.

    A dimension that no factor names gets one of size 1 for itself: it cannot be
    sharded through this op.
    """
    operands: list[list[list[int]]] = [[[] for _ in shape] for shape in shapes.operands]
    results: list[list[list[int]]] = [[[] for _ in shape] for shape in shapes.results]
    sizes: list[int] = []
    members: dict[FactorType, list[int]] = {kind: [] for kind in FactorType}
    blocked: list[int] = []

    for index, factor in enumerate(factors):
        sizes.append(factor.size)
        members[factor.kind].append(index)
        if factor.blocked:
            blocked.append(index)
        _place(operands, factor.operands, index, factor.size)
        _place(results, factor.results, index, factor.size)

    return OpShardingRule(
        operands=_mappings(operands, sizes),
        results=_mappings(results, sizes),
        factor_sizes=tuple(sizes),
        reduction=tuple(members[FactorType.REDUCTION]),
        need_replication=tuple(members[FactorType.NEED_REPLICATION]),
        permutation=tuple(members[FactorType.PERMUTATION]),
        blocked=tuple(blocked),
        is_custom=is_custom,
    )


def _place(tensors: list[list[list[int]]], dims: Dims, factor: int, size: int) -> None:
    if dims is None:
        return
    if isinstance(dims, int):
        dims = tuple(dims if dims < len(tensor) else None for tensor in tensors)
    for tensor, dim in zip(tensors, dims, strict=True):
        if dim is not None and (size != 1 or not tensor[dim]):
            tensor[dim].append(factor)


def _mappings(
    tensors: list[list[list[int]]], sizes: list[int]
) -> tuple[TensorMapping, ...]:
    """Freeze, giving every dimension without factors a new one, added to `sizes`."""
    for tensor in tensors:
        for dim in tensor:
            if not dim:
                dim.append(len(sizes))
                sizes.append(1)
    return tuple(tuple(tuple(dim) for dim in tensor) for tensor in tensors)
