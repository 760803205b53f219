"""The ways to split a model that everybody knows, which are always compiled.

- data parallel: the batch, over all devices;
- tensor parallel: the families that one axis can split together, Megatron's way, over all
  devices, or over some while the batch is split over the others;
- fully sharded (FSDP): the axis of the batch splits parameters, too, each along one
  dimension; they are gathered where they are used. Also beside an axis of tensor
  parallelism, and with a batch that a further axis splits, which then has two;
- FSDP with the batch kept: products inside are constrained to their part of the batch, so
  that it is parameters which are gathered and not activations which are exchanged;
- expert parallel: the axis of the batch splits experts, too.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import gcd

from ttxdsl.insight.doctor.groups import Analysis, ArgumentDim, Family, divisors
from ttxdsl.insight.doctor.meshes import (
    BATCH_KEPT,
    Axis,
    Candidate,
    Constraint,
    argument_bytes,
    bundles,
    candidate_of,
)

FULLY_SHARDED = "fsdp"
"""The axis that splits the batch and parameters."""

_SMALLEST = 0.01
"""Of the bytes of the largest argument: smaller ones are not worth gathering."""

_MATRIX = 2
"""Dimensions of what each expert has of a parameter."""

_MOST = 0.9
"""The least share of the experts' bytes that their matrices have; routers have the rest."""

_ALIKE = 1.05
"""Of the least bytes: axes of tensor parallelism that leave so many are alike."""

_TENSOR_PARALLEL = 2
"""How many sizes of an axis beside the batch are tried, the best by the estimate."""


def schemes(
    analysis: Analysis,
    devices: int,
    sizes: Sequence[int],
    seconds: Callable[[tuple[Axis, ...]], float],
    *,
    trains: bool = False,
) -> Iterator[Candidate]:
    """The candidates that are always compiled, what an expert starts with first.

    A training step holds gradients and the optimizer's state beside parameters: it begins
    with FSDP, alone and beside other axes, and products keep their batch. What
    only reads its parameters begins with data and tensor parallelism.

    Args:
        sizes: the bytes of each argument, whole.
        seconds: the estimated time of a mesh.
        trains: whether parameters become results, see `trains_parameters`.
    """
    if analysis.batch is None:
        return
    batch = analysis.families[analysis.batch]
    sharded = partial(_sharded, analysis, sizes=sizes)
    whole: list[Candidate] = []
    fully: list[Candidate] = []
    mixed: list[Candidate] = []
    tensors: list[Candidate] = []
    if batch.splits(devices):
        whole.append(candidate_of(analysis, [Axis((analysis.batch,), devices)]))
        fully += sharded(devices, ())
    both: list[tuple[float, Axis, Axis]] = []
    for size in divisors(devices):
        if not 1 < size < devices or not batch.splits(devices // size):
            continue
        rows = Axis((analysis.batch,), devices // size)
        tensor = _tensor_parallel(
            analysis, size, sizes, partial(_beside, seconds, rows)
        )
        if tensor is not None:
            both.append((seconds((rows, tensor)), rows, tensor))
    both.sort(key=lambda priced: priced[0])
    for _, rows, tensor in both[:_TENSOR_PARALLEL]:
        tensors.append(candidate_of(analysis, [rows, tensor]))
        mixed += sharded(rows.size, (tensor,))
    alone = _tensor_parallel(analysis, devices, sizes, lambda axes: seconds((axes,)))
    if alone is not None:
        tensors.append(candidate_of(analysis, [alone]))
    if devices % 2 == 0 and devices > 2 and batch.splits(devices):
        mixed += sharded(devices // 2, (Axis((analysis.batch,), 2),))
    experts = list(_expert_parallel(analysis, devices, sizes))
    if not trains:
        yield from (*whole, *fully, *tensors, *mixed, *experts)
        return
    ordered = (*fully, *experts, *mixed)
    yield from (scheme for scheme in (*fully, *experts) if scheme.constraints)
    yield from (scheme for scheme in mixed if scheme.constraints)
    yield from whole
    yield from (scheme for scheme in ordered if not scheme.constraints)
    yield from tensors


def trains_parameters(
    analysis: Analysis, becomes: Iterable[int], sizes: Sequence[int]
) -> bool:
    """Return whether a program gives parameters back, as a training step does.

    Args:
        becomes: the arguments that become results; those with the batch, as
            caches, are no parameters.
    """
    if analysis.batch is None:
        return False
    inputs = _inputs(analysis)
    least = _SMALLEST * max(sizes, default=0)
    return any(at not in inputs and sizes[at] >= least for at in becomes)


def _inputs(analysis: Analysis) -> set[int]:
    """The arguments that have the batch."""
    assert analysis.batch is not None
    return {dim.argument for dim in analysis.families[analysis.batch].arguments}


def _expert_parallel(
    analysis: Analysis, devices: int, sizes: Sequence[int]
) -> Iterator[Candidate]:
    """The axis of the batch splits experts, too: tokens go to them and come back.

    With more devices than experts a further axis is one of FSDP; with as many, other
    parameters stay whole, or are split as by FSDP.
    """
    assert analysis.batch is not None
    family = _experts(analysis, sizes)
    if family is None:
        return
    batch = analysis.batch
    analysis = _narrowed(analysis, family)
    size = gcd(analysis.families[family].size, devices)
    if size == 1 or not analysis.families[batch].splits(devices):
        return
    axis = Axis((batch, family), size)
    if size < devices:
        yield from _sharded(analysis, devices // size, (axis,), sizes)
        return
    yield from _sharded(analysis, devices, (), sizes, family)
    candidate = candidate_of(analysis, [axis])
    names = [name for name, _ in candidate.axes]
    yield from _with_batch_kept(analysis, candidate, names, {family})


def _experts(analysis: Analysis, sizes: Sequence[int]) -> int | None:
    """The family of experts, if one is: of most bytes, which are matrices of each.

    A router has the experts, too, but as its last dimension.
    """
    able: list[tuple[int, int]] = []
    for at, family in enumerate(analysis.families):
        if at == analysis.batch or family.stacked:
            continue
        whole = sum(sizes[dim.argument] for dim in family.arguments)
        matrices = sum(sizes[dim.argument] for dim in _leading(analysis, family))
        if matrices > _MOST * whole:
            able.append((matrices, at))
    return max(able, default=(0, None))[1]


def _leading(analysis: Analysis, family: Family) -> tuple[ArgumentDim, ...]:
    """Return the parameters' dimensions with only layers before and a matrix after."""
    inputs = _inputs(analysis)
    stacked = {
        (dim.argument, dim.dim)
        for stacked_family in analysis.families
        if stacked_family.stacked
        for dim in stacked_family.arguments
    }
    ranks: Counter[int] = Counter(
        dim.argument for member in analysis.families for dim in member.arguments
    )
    return tuple(
        dim
        for dim in family.arguments
        if dim.argument not in inputs
        and all((dim.argument, at) in stacked for at in range(dim.dim))
        and ranks[dim.argument] - dim.dim > _MATRIX
    )


def _narrowed(analysis: Analysis, family: int) -> Analysis:
    """The analysis in which only matrices of experts are split by the experts."""
    families = list(analysis.families)
    leading = _leading(analysis, families[family])
    families[family] = replace(families[family], arguments=leading)
    return replace(analysis, families=tuple(families))


def _beside(
    seconds: Callable[[tuple[Axis, ...]], float], rows: Axis, columns: Axis
) -> float:
    return seconds((rows, columns))


def _tensor_parallel(
    analysis: Analysis,
    size: int,
    sizes: Sequence[int],
    seconds: Callable[[Axis], float],
) -> Axis | None:
    """Of the axes that leave least of the parameters on a device the fastest."""
    axes = [
        Axis(families, size)
        for families in bundles(analysis, size)
        if analysis.batch not in families
    ]
    inputs = _inputs(analysis)
    held = [
        argument_bytes(
            candidate_of(analysis, [axis]),
            [0 if index in inputs else bytes_ for index, bytes_ in enumerate(sizes)],
        )
        for axis in axes
    ]
    fine = [
        axis
        for axis, bytes_ in zip(axes, held, strict=True)
        if bytes_ <= _ALIKE * min(held)
    ]
    return min(fine, key=seconds, default=None)


def _sharded(
    analysis: Analysis,
    size: int,
    others: Sequence[Axis],
    sizes: Sequence[int],
    experts: int | None = None,
) -> Iterator[Candidate]:
    """An axis of FSDP beside others, without constraints inside and with them.

    Parameters with experts, if these are given, are split along them.
    """
    assert analysis.batch is not None
    batch = analysis.families[analysis.batch]
    base = candidate_of(analysis, others)
    taken = {
        (dim.argument, dim.dim): parts
        for (_, parts), dims in zip(base.axes, base.splits or (), strict=True)
        for dim in dims
    }
    rows = [
        dim
        for dim in batch.arguments
        if dim.size % (size * taken.get((dim.argument, dim.dim), 1)) == 0
    ]
    along = [axis for axis in others if analysis.batch in axis.families]
    at_home = {family for axis in along for family in axis.families}
    at_home -= {analysis.batch}
    first: tuple[ArgumentDim, ...] = ()
    name = FULLY_SHARDED
    if experts is not None:
        first = analysis.families[experts].splits(size)
        at_home.add(experts)
        name = f"{FULLY_SHARDED}+{analysis.families[experts].name}"
    settled = _inputs(analysis) | {dim.argument for dim in first}
    parameters = [
        *first,
        *_parameters(analysis.families, settled, size, taken, sizes),
    ]
    if not parameters or not rows:
        return
    # tensor parallelism has the last axis, whose devices are neighbours
    axes = list(zip(others, base.axes, base.splits or (), strict=True))
    before = [(axis, dims) for other, axis, dims in axes if other in along]
    behind = [(axis, dims) for other, axis, dims in axes if other not in along]
    ordered = [*before, ((name, size), (*rows, *parameters)), *behind]
    candidate = replace(
        base,
        axes=tuple(axis for axis, _ in ordered),
        splits=tuple(dims for _, dims in ordered),
    )
    names = [axis for (axis, _), _ in before]
    yield from _with_batch_kept(analysis, candidate, (*names, name), at_home)


def _with_batch_kept(
    analysis: Analysis,
    candidate: Candidate,
    names: Sequence[str],
    at_home: set[int],
) -> Iterator[Candidate]:
    """Return a candidate as it is and with products that keep the batch.

    Products of experts are left out: they are sharded along the same axis already.
    """
    yield candidate
    constraints = tuple(
        Constraint.of_batch(product, tuple(names))
        for product in analysis.products
        if not at_home & product.families
    )
    if constraints:
        yield replace(candidate, note=BATCH_KEPT, constraints=constraints)


def _parameters(
    families: Sequence[Family],
    inputs: set[int],
    size: int,
    taken: dict[tuple[int, int], int],
    sizes: Sequence[int],
) -> Iterator[ArgumentDim]:
    """One dimension of each argument that is worth it: the largest that is left whole."""
    least = _SMALLEST * max(sizes)
    best: dict[int, ArgumentDim] = {}
    for family in families:
        for dim in () if family.stacked else family.arguments:
            if dim.argument in inputs or sizes[dim.argument] < least:
                continue
            if (dim.argument, dim.dim) in taken or dim.size % size:
                continue
            known = best.get(dim.argument)
            if known is None or (dim.size, -dim.dim) > (known.size, -known.dim):
                best[dim.argument] = dim
    return iter(sorted(best.values(), key=lambda dim: dim.argument))
