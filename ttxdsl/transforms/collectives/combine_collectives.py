"""`combine-collectives`: make independent small collectives one op of many operands.

Each collective costs a latency. Those of one kind, device groups and element type are
joined, as XLA's combiners do: all_reduces up to `Machine.combine_bytes`, gathers and
exchanges only where latency is half of their time, since their larger results live
longer. Gathers of one dimension that follow each other are one along all their axes:
a link that knows single axes can still run it one axis after the other.

**Why it is right.** A collective of many operands does to each what one of it alone
would. `independence.py` shows that the block can be put in order. Two gathers put the
parts of the first one's groups behind each other, in the order of the second's, which
is one gather in groups of groups. Each time there are fewer collectives, and as many
bytes.
"""

from collections.abc import Hashable, Sequence

from xdsl.ir import Attribute, Block, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.attribution.origins import joined, optimized
from ttxdsl.costs.machines import GENERIC
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of, value_bytes
from ttxdsl.transforms.collectives.independence import independent_groups, put_in_order
from ttxdsl.transforms.collectives.narrow_all_gathers import gathered_in_steps
from ttxdsl.transforms.collectives.program.bytes_sent import is_mostly_latency
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.single_ops import erase_unused
from ttxdsl.transforms.partition.exchange.combiner import combiner_of

NAME = "combine-collectives"

_CHANNEL = "channel_handle"
"""What tells collectives apart that do the same."""


def combine_collectives(program: DeviceProgram, block: Block) -> bool:
    """Combine the collectives of a block, and return True if any were combined."""
    followed = _join_steps(program, block)
    numbers = _Numbers()
    kinds = {
        op: kind
        for op in program.sending(block)
        if (kind := _kind(op, numbers)) is not None
    }
    if len(set(kinds.values())) == len(kinds):
        return followed
    groups = independent_groups(kinds, _bytes_made, GENERIC.combine_bytes)
    if groups:
        put_in_order(block, [_join(ops) for ops in groups])
        program.has_new_ops(block)
    return followed or bool(groups)


def _join_steps(program: DeviceProgram, block: Block) -> bool:
    """Gather at once what is gathered along one axis after the other."""
    changed = False
    for op in program.sending(block):
        if not isinstance(op, stablehlo.AllGatherOp) or len(op.operands) > 1:
            continue
        axes, held = gathered_in_steps(program, op)
        dim = op.all_gather_dim.value.data
        gathered = shape_of(held)[dim] * program.size(axes)
        # a program may give a gather another size than its groups
        if held is op.operands[0] or gathered != shape_of(op.results[0])[dim]:
            continue
        whole = program.all_gather_at_once(held, op, axes, dim, NAME)
        op.results[0].replace_all_uses_with(whole)
        erase_unused(op.results)
        changed = True
    return changed


class _Numbers:
    """A number for each attribute, the same for equal ones.

    Stage 11 writes the very same attribute again and again: each is hashed once.
    """

    def __init__(self) -> None:
        self._of_object: dict[int, int] = {}
        self._of_equal: dict[Attribute, int] = {}

    def of(self, attribute: Attribute) -> int:
        """Return the number of an attribute, which something else has to keep."""
        number = self._of_object.get(id(attribute))
        if number is None:
            number = self._of_equal.setdefault(attribute, len(self._of_equal))
            self._of_object[id(attribute)] = number
        return number


def _kind(op: Operation, numbers: _Numbers) -> Hashable:
    """Return what collectives that are joined have in common, None of one that stays."""
    match op:
        case stablehlo.AllReduceOp():
            combined = combiner_of(op.computation)
            if combined is None:
                return None
        case stablehlo.AllGatherOp() | stablehlo.AllToAllOp():
            if not is_mostly_latency(op):
                return None
            combined = None
        case _:
            return None
    elements = {numbers.of(element_of(value)) for value in (*op.operands, *op.results)}
    named = sorted(
        [
            (name, -1 if name == _CHANNEL else numbers.of(value))
            for name, value in (*op.properties.items(), *op.attributes.items())
        ]
    )
    return type(op), combined, frozenset(elements), tuple(named)


def _bytes_made(op: Operation) -> int:
    return sum(map(value_bytes, op.results))


def _join(ops: Sequence[Operation]) -> Operation:
    """Write one collective where the last of several stood."""
    first, last = ops[0], ops[-1]
    joint = type(first).create(
        operands=[value for op in ops for value in op.operands],
        result_types=[value.type for op in ops for value in op.results],
        properties=first.properties,
        attributes=first.attributes,
        regions=[region.clone() for region in first.regions],
        location=optimized(joined(op.location for op in ops), NAME),
    )
    Rewriter.insert_op(joint, InsertPoint.before(last))
    results = iter(joint.results)
    for op in ops:
        for old, new in zip(op.results, results, strict=False):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        Rewriter.erase_op(op)
    return joint
