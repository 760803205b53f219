"""Finding the batch of a program that nobody annotated.

Dimensions that a sharding rule maps to one factor must be split together. Joining
them over the whole program gives groups; the batch is the group whose splitting
spares the devices the most work while nothing but final reductions communicates: the
reduced values flow to the results without meeting the group again, as gradients and
losses do. In

    x[b, d] -> h = x @ w1[d, f] -> y = h @ w2[f, e]

`{x.0, h.0, y.0}` splits both products and needs nothing; `{w1.1, h.1, w2.0}` needs a
reduction of y.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import ShapedType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ttxdsl.remarks import emit_remark
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.factors import OpShardingRule, TensorMapping

Dim = tuple[SSAValue, int]
"""One dimension of one value."""

OPERATIONS_PER_ELEMENT_SENT = 64
"""How many multiply-adds cost what sending one element costs; only ranks choices."""


def _shape(value: SSAValue) -> tuple[int, ...]:
    return value.type.get_shape() if isinstance(value.type, ShapedType) else ()


class _Groups:
    """Disjoint sets of dimensions, joined by union with path halving."""

    def __init__(self) -> None:
        self._parent: dict[Dim, Dim] = {}

    def find(self, dim: Dim) -> Dim:
        parent = self._parent.setdefault(dim, dim)
        while parent != dim:
            above = self._parent[parent]
            self._parent[dim] = above
            dim, parent = above, self._parent[above]
        return dim

    def join(self, a: Dim, b: Dim) -> None:
        self._parent[self.find(a)] = self.find(b)

    def members(self) -> Iterator[Dim]:
        return iter(list(self._parent))


@dataclass
class _Touch:
    """What splitting one factor of one op means."""

    op: Operation
    dims: list[Dim]
    work: int
    reduces: bool
    allowed: bool

    @property
    def reduced_elements(self) -> int:
        """Elements whose partial sums the devices must add up."""
        if not self.reduces:
            return 0
        return sum(prod(_shape(result)) for result in self.op.results)


@dataclass
class _Candidate:
    """All that splitting one group means for the program."""

    dims: list[Dim] = field(default_factory=list[Dim])
    touches: list[_Touch] = field(default_factory=list[_Touch])

    @property
    def gain(self) -> int:
        """Operations that the devices share, less what final reductions cost."""
        work = sum(touch.work for touch in self.touches)
        reduced = sum(touch.reduced_elements for touch in self.touches)
        return work - OPERATIONS_PER_ELEMENT_SENT * reduced


def _major_dims(
    values: tuple[SSAValue, ...], mappings: tuple[TensorMapping, ...], factor: int
) -> list[Dim]:
    """Dimensions whose major part is the factor: splitting them splits the factor."""
    return [
        (value, dim)
        for value, mapping in zip(values, mappings, strict=True)
        for dim, factors in enumerate(mapping)
        if factors and factors[0] == factor
    ]


def _minor_use(mappings: tuple[TensorMapping, ...], factor: int) -> bool:
    return any(factor in factors[1:] for mapping in mappings for factors in mapping)


def _touches_of(op: Operation, rule: OpShardingRule) -> Iterator[_Touch]:
    values = (*op.operands, *op.results)
    mappings = (*rule.operands, *rule.results)
    work = prod(rule.factor_sizes)
    refused = {*rule.need_replication, *rule.permutation, *rule.blocked}
    for factor in range(len(rule.factor_sizes)):
        dims = _major_dims(values, mappings, factor)
        if dims:
            allowed = factor not in refused and not _minor_use(mappings, factor)
            yield _Touch(op, dims, work, factor in rule.reduction, allowed)


def _unknown(op: Operation) -> Iterator[_Touch]:
    """An op without a rule works on whole tensors."""
    for value in (*op.operands, *op.results):
        for dim in range(len(_shape(value))):
            yield _Touch(op, [(value, dim)], 0, False, False)


def _candidates(function: FuncOp) -> dict[Dim, _Candidate]:
    groups = _Groups()
    touches: list[_Touch] = []
    for argument in function.body.block.args:
        for dim in range(len(_shape(argument))):
            groups.find((argument, dim))
    for op in function.body.block.ops:
        if isinstance(op, ReturnOp):
            continue
        rule = sharding_rule(op)
        found = list(_touches_of(op, rule) if rule else _unknown(op))
        touches.extend(found)
        for touch in found:
            first, *others = touch.dims
            groups.find(first)
            for other in others:
                groups.join(first, other)
    candidates: dict[Dim, _Candidate] = {}
    for dim in groups.members():
        candidates.setdefault(groups.find(dim), _Candidate()).dims.append(dim)
    for touch in touches:
        candidates[groups.find(touch.dims[0])].touches.append(touch)
    return candidates


def _splits_evenly(candidate: _Candidate, count: int) -> bool:
    sizes = (_shape(value)[dim] for value, dim in candidate.dims)
    return all(size > 0 and size % count == 0 for size in sizes)


def _splits_once(candidate: _Candidate) -> bool:
    """No tensor has two dimensions in the group: one axis can only split one."""
    return len({value for value, _ in candidate.dims}) == len(candidate.dims)


def _only_final_reductions(candidate: _Candidate, function: FuncOp) -> bool:
    """Whether no reduced value meets the group again on its way to the results."""
    reduced: set[SSAValue] = set()
    touched: set[Operation] = set()
    for touch in candidate.touches:
        touched.add(touch.op)
        if touch.reduces:
            reduced.update(touch.op.results)
    if not reduced:
        return True
    for op in function.body.block.ops:
        if any(operand in reduced for operand in op.operands):
            if op in touched:
                return False
            reduced.update(op.results)
    return True


def _named(dims: dict[int, int]) -> str:
    return ", ".join(f"dimension {dim} of argument {arg}" for arg, dim in dims.items())


def find_batch_dimensions(function: FuncOp, count: int) -> dict[int, int]:
    """For each argument to split over `count` devices, the dimension to split.

    An empty answer means that every device computes the whole program. The choice
    and its reason are emitted as a remark.
    """
    arguments: dict[SSAValue, int] = {
        argument: index for index, argument in enumerate(function.body.block.args)
    }
    best: tuple[tuple[int, ...], dict[int, int], _Candidate] | None = None
    for candidate in _candidates(function).values():
        dims = {
            arguments[value]: dim
            for value, dim in sorted(
                ((v, d) for v, d in candidate.dims if v in arguments),
                key=lambda pair: arguments[pair[0]],
            )
        }
        if not (
            dims
            and _splits_evenly(candidate, count)
            and _splits_once(candidate)
            and all(touch.allowed for touch in candidate.touches)
            and _only_final_reductions(candidate, function)
        ):
            continue
        first = next(iter(dims.items()))
        rank = (candidate.gain, -first[0], -first[1])
        if best is None or rank > best[0]:
            best = (rank, dims, candidate)
    name = f"'@{function.sym_name.data}'"
    if best is None:
        emit_remark(
            f"every one of the {count} devices computes all of {name}: no argument"
            " dimension that they can share evenly runs through the program without"
            " communication in between",
            function,
        )
        return {}
    _, dims, candidate = best
    reductions = sum(touch.reduces for touch in candidate.touches)
    after = (
        f"{reductions} final reduction{'s' * (reductions > 1)} communicate"
        f"{'s' * (reductions == 1)}"
        if reductions
        else "nothing communicates"
    )
    emit_remark(
        f"batch of {name}: {_named(dims)} split over {count} devices;"
        f" {len(candidate.touches)} ops share the work and {after}",
        function,
    )
    return dims
