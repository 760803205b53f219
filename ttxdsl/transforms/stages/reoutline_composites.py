"""`reoutline-composites`: make composites again of what is left of them on each device.

The ops that `flatten-or-convert-composites` marked become a private function of local
shapes, which a composite of the old name and attributes calls. They stay where that
would not be the same composite any more:

- something else, such as a collective, came between them;
- they are not all in one block, or have effects;
- an operand is not used, or a result is one of the operands;
- the attributes hold the size of something that is split.

Source: tt-mlir's pass of this name, which looks at the first two.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import all_ops
from ttxdsl.transforms.partition.localizer import captured_values
from ttxdsl.transforms.stages.flatten_composites import GROUP, OPERANDS, RESULTS

_COUNTS = frozenset({"num_groups"})
"""Attributes that say into how many parts a dimension is divided."""


@dataclass(frozen=True, slots=True)
class _Outline:
    """A group of ops that can become a composite again.

    Attributes:
        operands: what comes from outside, one an operand of the composite.
        results: what goes there, one a result.
        constants: what is used besides, of which the body gets copies.
    """

    group: DictionaryAttr
    ops: Sequence[Operation]
    operands: Sequence[SSAValue]
    results: Sequence[SSAValue]
    constants: Sequence[stablehlo.ConstantOp]


def _numbers(attribute: Attribute | None) -> Sequence[int]:
    """The numbers of a `array<i64: …>` or dense attribute, those that are integers."""
    if not isinstance(attribute, DenseArrayBase | DenseIntOrFPElementsAttr):
        return ()
    values: Sequence[object] = cast(Any, attribute).get_values()
    return [value for value in values if isinstance(value, int)]


def _places(op: Operation, key: str, count: int) -> Sequence[int]:
    """Return the marks of an op, -1 each if it has none."""
    numbers = _numbers(op.attributes.get(key))
    return numbers if len(numbers) == count else [-1] * count


def _used(op: Operation) -> Iterable[SSAValue]:
    """Return the values that an op uses from outside, in its regions, too."""
    return (*op.operands, *captured_values(op)) if op.regions else op.operands


def _is_movable(ops: Sequence[Operation]) -> bool:
    """Whether all can go to where the last is: nothing between uses what they make."""
    members = set(ops)
    results = {result for op in ops for result in op.results}
    inner: Operation | None = ops[0]
    while inner is not None and inner is not ops[-1]:
        if inner not in members and not results.isdisjoint(_used(inner)):
            return False
        inner = inner.next_op
    return inner is not None


def _in_order(values: dict[int, SSAValue], count: int) -> list[SSAValue] | None:
    """Values by number; None if there is not one of each."""
    return (
        [values[n] for n in range(count)] if sorted(values) == [*range(count)] else None
    )


def _outline(group: DictionaryAttr, ops: Sequence[Operation]) -> _Outline | None:
    """Return the outline that makes a group one op; None if it has changed."""
    if len({op.parent for op in ops}) > 1 or not all(map(is_side_effect_free, ops)):
        return None
    if not _is_movable(ops):
        return None
    members = set(ops)
    operands: dict[int, SSAValue] = {}
    results: dict[int, SSAValue] = {}
    constants: list[stablehlo.ConstantOp] = []
    for op in ops:
        places = iter(_places(op, OPERANDS, len(op.operands)))
        for value in _used(op):
            place = next(places, -1)
            if value.owner in members:
                continue
            if place < 0 and isinstance(value.owner, stablehlo.ConstantOp):
                constants.append(value.owner)  # one of all that are equal
                continue
            if place < 0 or operands.setdefault(place, value) is not value:
                return None
        for value, place in zip(
            op.results, _places(op, RESULTS, len(op.results)), strict=True
        ):
            if place >= 0:
                results[place] = value
            elif any(_outer(use.operation, op) not in members for use in value.uses):
                return None
    sizes = [
        len(cast("ArrayAttr[Attribute]", group.data[k]))
        for k in ("operands", "results")
    ]
    inputs, outputs = _in_order(operands, sizes[0]), _in_order(results, sizes[1])
    if inputs is None or outputs is None:
        return None
    if _says_a_split_size(group, inputs, outputs):
        return None
    return _Outline(group, ops, inputs, outputs, tuple(dict.fromkeys(constants)))


def _outer(op: Operation, beside: Operation) -> Operation | None:
    """The op that is, or has in its regions, a user, in the block of another op."""
    ancestor: Operation | None = op
    while ancestor is not None and ancestor.parent is not beside.parent:
        ancestor = ancestor.parent_op()
    return ancestor


def _integers(attribute: Attribute) -> Iterator[int]:
    """Yield all integers in an attribute."""
    match attribute:
        case IntegerAttr():
            yield attribute.value.data
        case ArrayAttr():
            for element in attribute:
                yield from _integers(element)
        case _:
            yield from _numbers(attribute)


def _says_a_split_size(
    group: DictionaryAttr, operands: Sequence[SSAValue], results: Sequence[SSAValue]
) -> bool:
    """Whether attributes have the size of a dimension that is smaller on a device."""
    attributes = cast("DictionaryAttr", group.data["attributes"]).data
    split: set[int] = set()
    for key, values in (("operands", operands), ("results", results)):
        for whole, value in zip(
            cast("ArrayAttr[Attribute]", group.data[key]), values, strict=True
        ):
            if isinstance(whole, TensorType):
                before = cast("TensorType[Attribute]", whole).get_shape()
                pairs = zip(before, shape_of(value), strict=True)
                differing = [(dim, a) for dim, (a, b) in enumerate(pairs) if a != b]
                split.update(size for _, size in differing)
                if _COUNTS & attributes.keys() and any(dim for dim, _ in differing):
                    return True
    return any(
        n in split for attribute in attributes.values() for n in _integers(attribute)
    )


def _replace_uses(op: Operation, values: Mapping[SSAValue, SSAValue]) -> None:
    """Let an op, and what is in its regions, use other values."""
    for inner in op.walk():
        for index, value in enumerate(inner.operands):
            if value in values:
                inner.operands[index] = values[value]


class _Outliner:
    """A writer of composites and of the functions that they call."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.taken = {op.sym_name.data for op in module.ops if isinstance(op, FuncOp)}

    def _name(self, group: DictionaryAttr) -> str:
        name = f"outlined_{cast('StringAttr', group.data['id']).data}"
        unique, count = name, 0
        while unique in self.taken:
            unique, count = f"{name}_{count}", count + 1
        self.taken.add(unique)
        return unique

    def write(self, outline: _Outline) -> None:
        """Replace the ops by a composite, and make them the body of its function."""
        inputs = [value.type for value in outline.operands]
        outputs = [value.type for value in outline.results]
        group = outline.group.data
        name = self._name(outline.group)
        composite = stablehlo.CompositeOp.create(
            operands=outline.operands,
            result_types=outputs,
            properties={
                "name": group["name"],
                "composite_attributes": group["attributes"],
                "decomposition": SymbolRefAttr(name),
                "version": group["version"],
            },
        )
        composite.location = outline.ops[-1].location
        Rewriter.insert_op(composite, InsertPoint.after(outline.ops[-1]))
        members = set(outline.ops)
        for value, new in zip(outline.results, composite.results, strict=True):
            value.replace_uses_with_if(
                new, lambda use: _outer(use.operation, composite) not in members
            )
        block = Block(arg_types=inputs)
        arguments: dict[SSAValue, SSAValue] = dict(
            zip(outline.operands, block.args, strict=True)
        )
        for constant in outline.constants:
            block.add_op(copy := constant.clone())
            arguments[constant.results[0]] = copy.results[0]
        for op in outline.ops:
            op.detach()
            block.add_op(op)
            _replace_uses(op, arguments)
        block.add_op(ReturnOp(*outline.results))
        function = FuncOp(name, (inputs, outputs), Region(block), "private")
        self.module.body.block.add_op(function)


class ReoutlineCompositesPass(ModulePass):
    """Make composites again of marked ops, and remove the marks."""

    name = "reoutline-composites"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        groups: dict[Attribute, list[Operation]] = {}
        for inner in all_ops(op):
            if (group := inner.attributes.get(GROUP)) is not None:
                groups.setdefault(group, []).append(inner)
        outliner = _Outliner(op)
        for group, ops in groups.items():
            # found one by one: the operands of this may be results of another
            outline = _outline(cast("DictionaryAttr", group), ops)
            if outline is not None:
                outliner.write(outline)
        for ops in groups.values():
            for inner in ops:
                for key in (GROUP, OPERANDS, RESULTS):
                    inner.attributes.pop(key, None)
