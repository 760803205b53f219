"""Values that are stored as a smaller type than they have, since all who read them convert them.

Products round operands of f32 to bf16, so that what they alone read is stored and gathered as
that (`BFloat16Propagation`; libtpu 0.0.52: all such values of a GPT in f32, through transposes
and slices). XLA also converts before a loop what the loop only slices and converts, and fills a
stack with converted parts if all that is read of it is converted later. Of an
argument of the program, as of weights in f32 for layers in bf16, that is a copy, which is there
until the last such loop (libtpu 0.0.52: all ten scans over layers whose buffers were read for it).
"""

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import bf16, f32
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttxdsl.analysis.usage.buffers.layouts import shares_bytes, uses
from ttxdsl.analysis.usage.work import product_numbers
from ttxdsl.analysis.values.entry import is_argument
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.kernels import PRODUCTS
from ttxdsl.ir.tensors import element_bits, element_of

_SLICES = (stablehlo.SliceOp, stablehlo.DynamicSliceOp)

_MOVES = (
    *(*_SLICES, stablehlo.TransposeOp, stablehlo.ReverseOp, stablehlo.PadOp),
    *(stablehlo.ConcatenateOp, stablehlo.AllGatherOp),
)
"""Ops whose result has the precision of what they move."""

_MOST_VALUES = 64
"""Values of one stack that are looked at."""


def stored_element(
    value: SSAValue, is_made_by: Callable[[SSAValue, Operation, int], bool]
) -> Attribute:
    """Return the element type that a value, or a stack that it is a part of, is stored as.

    Args:
        value: any, as what enters a loop, or a loop fills.
        is_made_by: whether a reader makes a value itself, however it is stored.
    """
    own = element_of(value)
    is_stack = isinstance(value.owner, stablehlo.WhileOp)
    if not is_stack and _is_rounded(value) and _may_be_converted(value):
        return bf16
    if (element := _finished_as(value)) is not None:
        return element
    values, elements = [value], set[Attribute]()
    loops = 0
    for member in values:  # it grows
        new = list(_same_before(member))
        for user, index in uses(member):
            loop = _loop_of(user)
            if loop is not None:
                if loop.cond.block.args[index].first_use is not None:
                    return own
                loops += 1
                new += _carried(loop, index)
            elif isinstance(user, stablehlo.DynamicUpdateSliceOp) and index == 0:
                new.append(user.result)
            elif isinstance(user, _SLICES) and index == 0:
                readers = [reader for reader, _ in uses(user.results[0])]
                if _is_rounded(user.results[0]):
                    elements.add(bf16)
                    continue
                if not all(
                    isinstance(reader, stablehlo.ConvertOp) for reader in readers
                ):
                    return own
                elements.update(element_of(reader.results[0]) for reader in readers)
            elif _rounds(user, index):
                elements.add(bf16)
            elif not is_made_by(member, user, index):
                return own
        values += [other for other in dict.fromkeys(new) if other not in values]
        if len(values) > _MOST_VALUES:
            return own
    if not loops or len(elements) != 1 or not all(map(_may_be_converted, values)):
        return own
    (element,) = elements
    is_smaller = element_bits(element) < element_bits(own)
    return element if is_smaller else own


def _finished_as(value: SSAValue) -> Attribute | None:
    """Return the smaller type that all who read a product of f32 convert it to, which ends its kernel.

    So a layer of f32 behind features of bf16 gives their gradient (libtpu 0.0.52: the last convolution
    of a U-Net, whose gradient five reductions and kernels of a group norm read; exchanged experts).
    """
    if not isinstance(value.owner, PRODUCTS) or element_of(value) != f32:
        return None
    readers = [user for user, _ in uses(value)]
    elements = {
        element_of(user.result) if isinstance(user, stablehlo.ConvertOp) else None
        for user in readers
    }
    element = elements.pop() if len(elements) == 1 else None
    if element is None or element_bits(element) >= element_bits(element_of(value)):
        return None
    return element


def _is_rounded(value: SSAValue) -> bool:
    """Whether products of f32 at the default precision alone read a value, or parts of it.

    What sums it, as a bias's gradient is summed, is made beside it.
    """
    values, is_rounded = [value], False
    for member in values:  # it grows
        readers = list(uses(member))
        if not readers or len(values) > _MOST_VALUES:
            return False
        for user, index in readers:
            if isinstance(user, _MOVES):
                if user.results[-1] not in values:
                    values.append(user.results[-1])
            elif _rounds(user, index):
                is_rounded = True
            elif member is not value or not isinstance(user, stablehlo.ReduceOp):
                return False
    return is_rounded


def _rounds(user: Operation, index: int) -> bool:
    """Whether an op is a product that rounds its f32 operand of an index."""
    return isinstance(user, PRODUCTS) and product_numbers(user)[index] == "f32"


def converted_arguments(op: Operation) -> Iterator[tuple[SSAValue, Attribute]]:
    """Yield the program's arguments that are converted ahead of a loop, with the type.

    Those are what it converts as a whole, and of which it converts all that it slices, reshaped ahead
    of it or not, as the weights of a pipeline's stage are.
    """
    if not isinstance(op, stablehlo.WhileOp):
        return
    for index, operand in enumerate(op.operands):
        while isinstance(operand.owner, Operation) and shares_bytes(operand.owner):
            operand = operand.owner.operands[0]
        if is_argument(operand):
            elements = set(_converted_whole(op, index)) or set(_sliced_as(op, index))
            element = elements.pop() if len(elements) == 1 else None
            if element and element_bits(element) < element_bits(element_of(operand)):
                yield operand, element


def _converted_whole(loop: stablehlo.WhileOp, index: int) -> Iterator[Attribute]:
    """Yield the types to which a loop converts an operand that it keeps."""
    if keeps_operand(loop, index):
        for user, _ in uses(loop.body.block.args[index]):
            if isinstance(user, stablehlo.ConvertOp):
                yield element_of(user.result)


def keeps_operand(loop: stablehlo.WhileOp, index: int) -> bool:
    """Whether the body of a loop returns what it is given."""
    assert loop.body.block.last_op is not None, "a loop's body returns"
    return loop.body.block.last_op.operands[index] is loop.body.block.args[index]


def is_sunk(user: Operation, index: int) -> bool:
    """Whether a loop makes what it reads as it is, rather than be given it.

    XLA does it with values that are made of constants alone.
    """
    return isinstance(user, stablehlo.WhileOp) and keeps_operand(user, index)


def _sliced_as(loop: stablehlo.WhileOp, index: int) -> Iterator[Attribute | None]:
    """Yield the types to which a loop converts the slices of an operand; None: it reads them else."""
    if loop.cond.block.args[index].first_use is not None:
        yield None
    for user, at in uses(loop.body.block.args[index]):
        if isinstance(user, stablehlo.WhileOp):
            yield from _sliced_as(user, at)
        elif isinstance(user, _SLICES) and at == 0:
            for reader in _readers(user.results[0]):
                is_converted = isinstance(reader, stablehlo.ConvertOp)
                yield element_of(reader.results[0]) if is_converted else None
        elif not (user is loop.body.block.last_op and at == index):
            yield None


def _readers(value: SSAValue) -> Iterator[Operation]:
    """Yield the readers of a value, through reshapes and a checkpoint's barrier."""
    for use in value.uses:
        op = use.operation
        if shares_bytes(op) and len(op.results) == len(op.operands):
            yield from _readers(op.results[use.index])
        else:
            yield op


def _loop_of(user: Operation) -> stablehlo.WhileOp | None:
    """Return the loop that an op is, or whose iteration it ends."""
    loop = user.parent_op() if isinstance(user, stablehlo.ReturnOp) else user
    if not isinstance(loop, stablehlo.WhileOp) or user.parent is loop.cond.block:
        return None
    return loop


def _carried(loop: stablehlo.WhileOp, index: int) -> list[SSAValue]:
    last = loop.body.block.last_op
    assert last is not None, "a loop's body returns"
    body = loop.body.block.args[index], last.operands[index]
    return [loop.operands[index], *body, loop.results[index]]


def _same_before(value: SSAValue) -> Iterator[SSAValue]:
    """Yield what a value is the same buffer as, of those before it."""
    owner = value.owner
    if isinstance(owner, stablehlo.WhileOp):
        at = next(
            index for index, result in enumerate(owner.results) if result is value
        )
        yield from _carried(owner, at)
    elif isinstance(owner, stablehlo.DynamicUpdateSliceOp):
        yield owner.operand
    elif isinstance(value, BlockArgument):
        loop = value.owner.parent_op()
        if isinstance(loop, stablehlo.WhileOp):
            yield from _carried(loop, value.index)


def _may_be_converted(value: SSAValue) -> bool:
    """Whether a value is no argument of the program, whose type is given."""
    if not isinstance(value, BlockArgument):
        return True
    return isinstance(value.owner.parent_op(), stablehlo.WhileOp)


def is_filled_by_loop(value: SSAValue) -> bool:
    """Whether a loop writes a stack part by part that another loop reads."""
    for user, index in uses(value):
        if not isinstance(user, stablehlo.WhileOp):
            return False
        assert user.body.block.last_op is not None, "a loop's body returns"
        end = user.body.block.last_op.operands[index].owner
        readers = [reader for reader, _ in uses(user.results[index])]
        if not isinstance(end, stablehlo.DynamicUpdateSliceOp):
            return False
        if not any(isinstance(reader, stablehlo.WhileOp) for reader in readers):
            return False
    return value.first_use is not None
