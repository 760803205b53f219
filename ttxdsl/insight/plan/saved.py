"""Saved activations: what a loop over layers stacks up for the loop of the gradients."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from ttxdsl.analysis.attribution.words import Words
from ttxdsl.analysis.usage.buffers.host import host_values, placement
from ttxdsl.analysis.usage.buffers.layouts import shares_bytes, uses
from ttxdsl.analysis.usage.needs import place_of
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of, value_bytes
from ttxdsl.ir.traversal import all_ops

_MOVES = (stablehlo.BroadcastInDimOp, stablehlo.TransposeOp, stablehlo.ConvertOp)


@dataclass(frozen=True, slots=True)
class SavedActivation:
    """The part of one value that each layer saves.

    JAX does not write the names of `checkpoint_name`, but their lines.

    Attributes:
        name: of the op that makes it, or `carry` of what the loop hands on.
        type: of the value of one layer.
        layers: iterations that save it.
        layer_bytes: of a device, for one layer.
        position: of its `checkpoint_name`, else of that op or of the loop.
        called: by its author.
        on_host: whether it is in the host's memory, as `jax.checkpoint` may offload it.
    """

    name: str
    type: str
    layers: int
    layer_bytes: int
    position: str | None
    called: str | None = None
    on_host: bool = False

    @property
    def bytes(self) -> int:
        """Of all layers."""
        return self.layers * self.layer_bytes

    def data(self) -> dict[str, Any]:
        """The activation as JSON."""
        return {**asdict(self), "bytes": self.bytes}


def stacks(module: ModuleOp) -> list[tuple[stablehlo.WhileOp, int]]:
    """Return the loops' operands that they fill part by part for another loop."""
    stacked: list[tuple[stablehlo.WhileOp, int]] = []
    for op in all_ops(module):
        if not isinstance(op, stablehlo.WhileOp):
            continue
        assert op.body.block.last_op is not None, "a loop's body returns"
        for index, end in enumerate(op.body.block.last_op.operands):
            is_stacked = isinstance(end.owner, stablehlo.DynamicUpdateSliceOp)
            if is_stacked and any(
                isinstance(user, stablehlo.WhileOp)
                for user, _ in uses(op.results[index])
            ):
                stacked.append((op, index))
    return stacked


def saved_values(module: ModuleOp) -> set[SSAValue]:
    """Return the values of stacks before the loop that fills them, and behind it."""
    return {
        value
        for loop, index in stacks(module)
        for value in (loop.operands[index], loop.results[index])
    }


def saved_activations(
    module: ModuleOp,
    words: Words | None = None,
    held: Mapping[SSAValue, int] | None = None,
) -> tuple[SavedActivation, ...]:
    """Return what layers save, that of most bytes first.

    Args:
        held: the bytes of stacks that a compiler stores as a narrower type.
    """
    words, held = words or Words(), held or {}
    on_host = host_values(module)
    activations: list[SavedActivation] = []
    for loop, index in stacks(module):
        last = loop.body.block.last_op
        assert last is not None, "a loop's body returns"
        update = last.operands[index].owner
        assert isinstance(update, stablehlo.DynamicUpdateSliceOp)
        saved = kept = _behind_moves(update.update)
        if isinstance(kept.owner, stablehlo.ReducePrecisionOp):
            # JAX marks so what a policy saves, on the line of its checkpoint_name
            saved = _behind_moves(kept.owner.operand)
        place = kept.op if isinstance(kept, OpResult) else loop
        maker = saved.op.name if isinstance(saved, OpResult) else "carry"
        layers = shape_of(update.results[0])[0] // max(1, shape_of(update.update)[0])
        ends = loop.operands[index], loop.results[index]
        held_bytes = min(held.get(value) or value_bytes(value) for value in ends)
        activations.append(
            SavedActivation(
                maker.rpartition(".")[2],
                str(saved.type),
                layers,
                min(value_bytes(update.update), held_bytes // max(1, layers)),
                frame.position if (frame := place_of(place)) else None,
                words.value(saved),
                loop.results[index] in on_host,
            )
        )
    return tuple(sorted(activations, key=lambda activation: -activation.bytes))


def _behind_moves(value: SSAValue) -> SSAValue:
    """Return what a part of a stack is made of, before it is given another shape."""
    while isinstance(value, OpResult) and (
        shares_bytes(value.op)
        or isinstance(value.op, _MOVES)
        or placement(value.op) is not None
    ):
        value = value.op.operands[0]
    return value
