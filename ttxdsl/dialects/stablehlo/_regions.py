"""Checking the computations that ops carry in regions."""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Attribute, Block, Region
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.stablehlo._infer import promotable, same_but_precision
from ttxdsl.dialects.stablehlo._shapes import require, shapes_fit, sizes_fit
from ttxdsl.dialects.stablehlo.types import Tensor


def block_of(region: Region, name: str) -> Block:
    """Return the block of a region that must have exactly one, ended by a return."""
    block = region.blocks.first
    if block is None or block.next_block is not None:
        raise VerifyException(f"{name} must have exactly one block")
    last = block.last_op
    if last is None or last.name != "stablehlo.return":
        raise VerifyException(f"{name} must end with stablehlo.return")
    return block


def returned_types(region: Region) -> tuple[Attribute, ...]:
    """Return the types of the values that the region's block returns."""
    block = region.blocks.first
    last = None if block is None else block.last_op
    return () if last is None else tuple(last.operand_types)


def _tensor(value_type: Attribute, label: str) -> Tensor:
    if not isinstance(value_type, TensorType):
        raise VerifyException(f"{label} must be a tensor, got {value_type}")
    return cast(Tensor, value_type)


def accumulators(
    region: Region, inputs: Sequence[Tensor], constraint: str, name: str = "body"
) -> tuple[Tensor, ...]:
    """The types that a reduction returns, one an input; the first thing to check."""
    block_of(region, name)
    returned = returned_types(region)
    require(
        len(returned) == len(inputs),
        f"{constraint}: {name} must return {len(inputs)} values, got {len(returned)}",
    )
    return tuple(
        _tensor(type, f"{constraint}: what {name} returns") for type in returned
    )


def check_reducer(
    region: Region,
    inputs: Sequence[Tensor],
    inits: Sequence[Tensor],
    allowed: Sequence[int],
    constraint: str,
    name: str = "body",
) -> tuple[Tensor, ...]:
    """Check a computation that combines values, and answer with what it returns.

    Args:
        region: takes twice as many arguments as there are inputs: what is combined so
            far, then what is to be added.
        inputs: types whose elements are combined.
        inits: types of the values to begin with.
        allowed: sizes that arguments may have besides being scalars; empty: none.
        constraint: the constraint's number in the op's section of the specification.
        name: what the specification calls the region.
    """
    block = block_of(region, name)
    count = len(inputs)
    require(
        len(block.args) == 2 * count,
        f"{constraint}: {name} must take {2 * count} arguments, got {len(block.args)}",
    )
    results = accumulators(region, inputs, constraint, name)
    for index, (input, init, result) in enumerate(
        zip(inputs, inits, results, strict=True)
    ):
        first = _tensor(block.args[index].type, f"{constraint}: argument {index}")
        second = _tensor(
            block.args[count + index].type, f"{constraint}: argument {count + index}"
        )
        shape = result.get_shape()
        if (
            not shapes_fit(shape, first.get_shape())
            or result.element_type != first.element_type
        ):
            raise VerifyException(
                f"{constraint}: argument {index} of {name} is {first}, but {result} is "
                "returned"
            )
        if not shapes_fit(shape, second.get_shape()) or not same_but_precision(
            result.element_type, second.element_type
        ):
            raise VerifyException(
                f"{constraint}: argument {count + index} of {name} is {second}, but "
                f"{result} is returned"
            )
        if not shapes_fit(init.get_shape(), shape):
            raise VerifyException(
                f"{constraint}: {name} returns {result}, but the initial value is "
                f"{init}"
            )
        if not promotable(init.element_type, result.element_type):
            raise VerifyException(
                f"{constraint}: the initial value {init} cannot be promoted to "
                f"{result}, which {name} returns"
            )
        if not promotable(input.element_type, second.element_type):
            raise VerifyException(
                f"{constraint}: elements of {input} cannot be promoted to argument "
                f"{count + index} of {name}, {second}"
            )
        sizes = iter(allowed)
        if not all(
            any(sizes_fit(size, wanted) for size in sizes)
            for wanted in second.get_shape()
        ):
            raise VerifyException(
                f"{constraint}: argument {count + index} of {name} has the shape of "
                f"{second}, which is no part of the input's"
            )
    return results


def check_predicate(region: Region, constraint: str, name: str) -> None:
    """Check that a computation returns one truth value."""
    returned = returned_types(region)
    require(
        len(returned) == 1 and returned[0] == TensorType(i1, ()),
        f"{constraint}: {name} must return a tensor<i1>, got "
        f"({', '.join(map(str, returned))})",
    )
