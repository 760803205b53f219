"""A program written several times into one function: work is to grow as it does."""

from collections.abc import Callable

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType
from xdsl.ir import SSAValue

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.loading.program import parse_program

Values = dict[SSAValue, SSAValue]
"""What stands for a value in a copy."""


def side_by_side(text: str, count: int) -> str:
    """Each on arguments of its own; the results of all."""
    return _written(text, count, chained=False)


def chained(text: str, count: int) -> str:
    """Each on the first result of the one before, as its last argument."""
    return _written(text, count, chained=True)


def _written(text: str, count: int, *, chained: bool) -> str:
    module = parse_program(text)
    function = entry_function(module)
    block = function.body.block
    *ops, end = block.ops
    first, returned = list(block.args), list(end.operands)
    results = latest = returned
    for _ in range(count - 1):
        values: Values = {first[-1]: latest[0]}
        if not chained:
            values = {arg: block.insert_arg(arg.type, len(block.args)) for arg in first}
        for op in ops:
            block.insert_op_before(op.clone(values), end)
        latest = [values.get(value, value) for value in returned]
        results = latest if chained else [*results, *latest]
    end.operands = results
    if not chained:
        function.function_type = FunctionType.from_lists(
            [arg.type for arg in block.args], [value.type for value in results]
        )
        function.arg_attrs = _repeated(function.arg_attrs, count)
        function.res_attrs = _repeated(function.res_attrs, count)
    return str(module)


def _repeated(
    attributes: ArrayAttr[DictionaryAttr] | None, count: int
) -> ArrayAttr[DictionaryAttr] | None:
    return None if attributes is None else ArrayAttr([*attributes.data] * count)


def growth(work: Callable[[int], int], count: int, times: int = 4) -> float:
    """How many times the work on `count` pieces is that on `times` as many.

    What is done once for all makes it less than `times`.
    """
    work(1)  # what is set up once
    return work(times * count) / work(count)
