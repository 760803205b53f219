"""Values in the host's memory: what is annotated so, and the loops' stacks that it goes to.

JAX writes an offload as `annotate_device_placement` with `pinned_host`, and its way back
with `device`.
"""

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from ttxdsl.analysis.usage.buffers.fusion import shares_bytes
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import value_bytes
from ttxdsl.ir.traversal import all_ops

_TARGET = "annotate_device_placement"


def placement(op: Operation) -> str | None:
    """Return where an op says that its result is, if it is such an annotation."""
    if (
        not isinstance(op, stablehlo.CustomCallOp)
        or op.call_target_name.data != _TARGET
    ):
        return None
    attributes = op.attributes.get("mhlo.frontend_attributes")
    if not isinstance(attributes, DictionaryAttr):
        return None
    kind = attributes.data.get("_xla_buffer_placement")
    return kind.data if isinstance(kind, StringAttr) else None


def offloads(module: ModuleOp) -> list[Operation]:
    """Return the annotations that send something to the host."""
    return [op for op in all_ops(module) if (placement(op) or "").endswith("host")]


def host_values(module: ModuleOp) -> set[SSAValue]:
    """Return the values of which a device holds nothing since the host does."""
    pending: list[SSAValue] = [v for op in offloads(module) for v in op.results]
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
            case stablehlo.DynamicSliceOp() | stablehlo.SliceOp() if index == 0:
                yield op.results[0]
            case stablehlo.BroadcastInDimOp() if value_bytes(op.results[0]) == (
                value_bytes(value)
            ):
                yield op.results[0]
            case _ if shares_bytes(op):
                yield from op.results
            case _:
                pass
    yield from _behind(value)


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
