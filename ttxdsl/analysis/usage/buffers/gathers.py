"""Gathers that XLA repeats for readers far away, rather than hold what they give.

XLA's partitioner gathers an operand for each product that needs it whole, and makes one of two
gathers only if that keeps it for a short time: if the height of the first one's readers, the
longest way to the end of the block, is at most a threshold more than that of the second
(`ScheduleAwareCollectiveOpsCSE`). What the layers of one turn gather for what a checkpoint
computes again is so gathered anew for the gradients, but for the layer behind which they begin.

Measured of libtpu 0.0.52, in the ops of our programs: readers 94, 95 and 115 apart share a gather
(DeepSeek 2, Mistral, GPT-3), readers 123 and more apart do not (queries of Qwen 3 1.7B, two
layers a turn of Gemma 2, six of Gemma 3, four of OLMo 3).
"""

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from ttxdsl.analysis.usage.buffers.layouts import uses
from ttxdsl.dialects import stablehlo

_MOVES = (stablehlo.TransposeOp, stablehlo.ConvertOp)


def repeated_gathers(
    ops: Sequence[Operation], threshold: int
) -> dict[Operation, list[SSAValue]]:
    """Return what is gathered anew for an op of a block, for the first that needs it then.

    Args:
        ops: of a block, in the order in which they run.
        threshold: how much higher than a gather the readers of one before it may be.
    """
    heights: dict[Operation, int] = {}
    for op in reversed(ops):
        users = (use.operation for result in op.results for use in result.uses)
        heights[op] = 1 + max((heights.get(user, -1) for user in users), default=-1)
    position = {op: index for index, op in enumerate(ops)}
    repeated: dict[Operation, list[SSAValue]] = {}
    for op in ops:
        if not isinstance(op, stablehlo.AllGatherOp):
            continue
        gathered = op.results[0]
        readers = [pair for pair in _products(gathered) if pair[0] in heights]
        readers.sort(key=lambda pair: -heights[pair[0]])
        lowest, last = heights[op], position[op]
        for reader, way in readers:
            if lowest > heights[reader] + 1 + threshold and reader is not readers[0][0]:
                later = (step for step in way if position.get(step, -1) > last)
                first = next(later, reader)
                repeated.setdefault(first, []).append(gathered)
            lowest, last = heights[reader], max(last, position[reader])
    return repeated


def _products(
    value: SSAValue, way: Sequence[Operation] = ()
) -> Iterator[tuple[Operation, Sequence[Operation]]]:
    """Yield the products that read a value, each with the moves that lead to it and itself."""
    for user, _ in uses(value):
        if isinstance(user, _MOVES):
            yield from _products(user.results[0], (*way, user))
        elif isinstance(user, stablehlo.DotGeneralOp):
            yield user, (*way, user)
