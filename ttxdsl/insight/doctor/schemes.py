"""The ways to split a model that everybody knows, which are always compiled.

- data parallel: the batch, over all devices;
- tensor parallel: the families that one axis can split together, Megatron's way, over all
  devices, or over some while the batch is split over the others;
- fully sharded (FSDP): the axis of the batch splits parameters, too, each along one
  dimension; they are gathered where they are used. Also beside an axis of tensor
  parallelism, and with a batch that a further axis splits, which then has two;
- FSDP with the batch kept: products inside are constrained to their part of the batch, so
  that it is parameters which are gathered and not activations which are exchanged.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from ttxdsl.insight.doctor.groups import Analysis, ArgumentDim, Family, divisors
from ttxdsl.insight.doctor.meshes import (
    Axis,
    Candidate,
    argument_bytes,
    bundles,
    candidate_of,
)

FULLY_SHARDED = "fsdp"
"""The axis that splits the batch and parameters."""

_SMALLEST = 0.01
"""Of the bytes of the largest argument: smaller ones are not worth gathering."""

_ALIKE = 1.05
"""Of the least bytes: axes of tensor parallelism that leave so many are alike."""

_TENSOR_PARALLEL = 2
"""How many sizes of an axis beside the batch are tried, the best by the estimate."""


def schemes(
    analysis: Analysis,
    devices: int,
    sizes: Sequence[int],
    seconds: Callable[[tuple[Axis, ...]], float],
) -> Iterator[Candidate]:
    """The candidates that are always compiled, those that are known best first.

    Args:
        analysis: of a program without shardings.
        devices: how many there are.
        sizes: the bytes of each argument, whole.
        seconds: the estimated time of a mesh.
    """
    if analysis.batch is None:
        return
    batch = analysis.families[analysis.batch]
    if batch.splits(devices):
        yield candidate_of(analysis, [Axis((analysis.batch,), devices)])
        yield from _sharded(analysis, devices, (), sizes)
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
    both.sort(key=lambda one: one[0])
    for _, rows, tensor in both[:_TENSOR_PARALLEL]:
        yield candidate_of(analysis, [rows, tensor])
        yield from _sharded(analysis, rows.size, (tensor,), sizes)
    alone = _tensor_parallel(analysis, devices, sizes, lambda one: seconds((one,)))
    if alone is not None:
        yield candidate_of(analysis, [alone])
    if devices % 2 == 0 and devices > 2 and batch.splits(devices):
        yield from _sharded(
            analysis, devices // 2, (Axis((analysis.batch,), 2),), sizes
        )


def _beside(
    seconds: Callable[[tuple[Axis, ...]], float], rows: Axis, one: Axis
) -> float:
    return seconds((rows, one))


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
    assert analysis.batch is not None
    inputs = {dim.argument for dim in analysis.families[analysis.batch].arguments}
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
    analysis: Analysis, size: int, others: Sequence[Axis], sizes: Sequence[int]
) -> Iterator[Candidate]:
    """An axis of FSDP beside others, without constraints inside and with them."""
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
    inputs = {dim.argument for dim in batch.arguments}
    parameters = list(_parameters(analysis.families, inputs, size, taken, sizes))
    if not parameters or not rows:
        return
    candidate = replace(
        base,
        axes=(*base.axes, (FULLY_SHARDED, size)),
        splits=(*(base.splits or ()), (*rows, *parameters)),
    )
    yield candidate
    if analysis.products:
        names = [
            name
            for (name, _), axis in zip(base.axes, others, strict=True)
            if analysis.batch in axis.families
        ]
        yield replace(
            candidate, kept=(*names, FULLY_SHARDED), products=analysis.products
        )


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
