"""Values in the host's memory: what is annotated so, and the loops' stacks that it goes to.

JAX writes an offload as `annotate_device_placement` with `pinned_host`, and its way back
with `device`. An argument that is there has a `mhlo.memory_kind`.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.traits import IsTerminator

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_functions,
)
from ttxdsl.analysis.usage.buffers.layouts import shares_bytes
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.calls.custom import frontend_attribute
from ttxdsl.ir.tensors import value_bytes
from ttxdsl.ir.traversal import ops_of_type

_TARGET = "annotate_device_placement"


def placement(op: Operation) -> str | None:
    """Return where an op says that its result is, if it is such an annotation."""
    if (
        not isinstance(op, stablehlo.CustomCallOp)
        or op.call_target_name.data != _TARGET
    ):
        return None
    return frontend_attribute(op, "_xla_buffer_placement")


@dataclass(frozen=True, slots=True)
class Transfers:
    """The ops that copy to the host's memory, and those that copy from it."""

    there: list[Operation]
    back: list[Operation]


def transfers(module: ModuleOp) -> Transfers:
    """Return the annotations that move something; others say where it is already."""
    on_host = host_values(module)
    there: list[Operation] = []
    back: list[Operation] = []
    for op in ops_of_type(module, stablehlo.CustomCallOp):
        if (place := placement(op)) is not None:
            was_on_host = op.operands[0] in on_host
            if _is_host(place) and not _is_placed(op.operands[0].owner):
                there.append(op)
            elif not _is_host(place) and was_on_host:
                back.append(op)
    return Transfers(there, back)


def _is_host(place: str | None) -> bool:
    return (place or "").endswith("host")


def _is_placed(owner: Operation | Block) -> bool:
    return isinstance(owner, Operation) and _is_host(placement(owner))


def host_values(module: ModuleOp) -> set[SSAValue]:
    """Return the values of which a device holds nothing since the host does."""
    values = _with_parts(
        value
        for op in ops_of_type(module, stablehlo.CustomCallOp)
        if _is_host(placement(op))
        for value in op.results
    )
    for function in entry_functions(module):
        attributes = argument_attributes(function)
        for argument, entry in zip(function.body.block.args, attributes, strict=True):
            kind = entry.get("mhlo.memory_kind")
            if isinstance(kind, StringAttr) and _is_host(kind.data):
                parts = _with_parts([argument])
                if all(_only_moves(value, parts) for value in parts):
                    values |= parts
    return values


def _only_moves(value: SSAValue, on_host: Collection[SSAValue]) -> bool:
    """Return whether no op computes with a value of the host."""
    return all(
        placement(use.operation) is not None
        or use.operation.has_trait(IsTerminator, value_if_unregistered=False)
        or any(result in on_host for result in _handed_on(use))
        for use in value.uses
    )


def _with_parts(seeds: Iterable[SSAValue]) -> set[SSAValue]:
    pending = list(seeds)
    values = set(pending)
    while pending:
        for value in _beside(pending.pop()):
            if value not in values:
                values.add(value)
                pending.append(value)
    return values


def _beside(value: SSAValue) -> Iterator[SSAValue]:
    """Yield what is on the host since a value is: parts of it, and what holds it."""
    for use in value.uses:
        yield from _handed_on(use)
    yield from _behind(value)


def _handed_on(use: Use) -> Iterator[SSAValue]:
    """Yield what is on the host since an operand is."""
    op, index = use.operation, use.index
    match op:
        case stablehlo.DynamicUpdateSliceOp() if index <= 1:
            yield from (op.results[0], op.operands[0])
        case stablehlo.WhileOp():
            yield from _carried(op, index)
        case stablehlo.ReturnOp() if isinstance(op.parent_op(), stablehlo.WhileOp):
            loop = op.parent_op()
            assert isinstance(loop, stablehlo.WhileOp)
            yield from _carried(loop, index)
        case sdy.ManualComputationOp():
            yield op.body.block.args[index]
        case sdy.ReturnOp() if isinstance(op.parent_op(), sdy.ManualComputationOp):
            around = op.parent_op()
            assert around is not None, "it was asked for"
            yield around.results[index]
        case stablehlo.DynamicSliceOp() | stablehlo.SliceOp() if index == 0:
            yield op.results[0]
        case stablehlo.BroadcastInDimOp() if value_bytes(op.results[0]) == (
            value_bytes(op.operands[0])
        ):
            yield op.results[0]
        case _ if shares_bytes(op):
            yield from op.results
        case _:
            pass


def _behind(value: SSAValue) -> Iterable[SSAValue]:
    """Return what a stack on the host was made of."""
    owner = value.owner
    if isinstance(owner, stablehlo.DynamicUpdateSliceOp):
        return owner.operands[:1]
    if isinstance(owner, stablehlo.WhileOp):
        return [
            owner.operands[index] for index, r in enumerate(owner.results) if r is value
        ]
    if not isinstance(owner, Operation) and isinstance(
        loop := owner.parent_op(), stablehlo.WhileOp
    ):
        index = next(at for at, a in enumerate(owner.args) if a is value)
        return _carried(loop, index)
    return ()


def _carried(loop: stablehlo.WhileOp, index: int) -> list[SSAValue]:
    last = loop.body.block.last_op
    assert last is not None, "a loop's body returns"
    return [
        loop.operands[index],
        loop.body.block.args[index],
        last.operands[index],
        loop.results[index],
    ]
