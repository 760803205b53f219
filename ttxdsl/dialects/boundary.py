"""Types allowed at the boundary of a program: tensors, and tokens that order effects.

Other types of StableHLO and of MLIR are values between ops only. A compiler checks
this first, since a stage that meets such a type later can say less about it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerType,
    ModuleOp,
    NoneAttr,
    TensorType,
    TupleType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects.stablehlo.types import Kind, TokenType, element_kind

UNPADDED_SHAPE = "ttxdsl.unpadded_shape"
"""Says of an argument or result of what shape its first elements are the whole tensor."""


def unpadded_shape(
    entries: ArrayAttr[DictionaryAttr] | None, at: int, padded: Sequence[int]
) -> tuple[int, ...] | None:
    """Return the shape that `UNPADDED_SHAPE` gives an argument or result, or None.

    Args:
        entries: a dictionary of attributes for each.
        at: which of them.
        padded: the shape of the whole tensor that the program takes or gives.

    Raises:
        CompileError: it is of no part of that.
    """
    shapes = entries.data[at].data.get(UNPADDED_SHAPE) if entries else None
    if not isinstance(shapes, DenseArrayBase):
        return None
    shape = tuple(cast("DenseArrayBase[IntegerType]", shapes).get_values())
    if len(shape) != len(padded) or any(
        not 0 <= size <= whole for size, whole in zip(shape, padded, strict=True)
    ):
        raise CompileError(
            f"{UNPADDED_SHAPE} says {'x'.join(map(str, shape))} of a tensor of"
            f" {'x'.join(map(str, padded))}"
        )
    return shape


def _boundary(function: FuncOp) -> Iterator[tuple[str, Attribute]]:
    types = function.function_type
    for at, type_ in enumerate(types.inputs):
        yield f"argument {at}", type_
    for at, type_ in enumerate(types.outputs):
        yield f"result {at}", type_


def _is_plain_tensor(type_: Attribute) -> bool:
    return (
        isinstance(type_, TensorType)
        and isinstance(type_.encoding, NoneAttr)
        and bool(element_kind(cast(Attribute, type_.get_element_type())) & Kind.ANY)
    )


def require_tensors(functions: Iterable[FuncOp]) -> None:
    """Raise if a public function has arguments or results that cannot be split.

    Raises:
        UnsupportedError: naming the function, the argument or result, and its type.
    """
    plain: set[int] = set()  # identities: most values are of the same few objects
    for function in functions:
        for value, type_ in _boundary(function):
            if id(type_) in plain:
                continue
            if _is_plain_tensor(type_):
                plain.add(id(type_))
                continue
            name = f"{value} of '@{function.sym_name.data}' is of type {type_}"
            if isinstance(type_, TupleType):
                raise UnsupportedError(
                    f"{name}: the pipeline does not support tuples",
                    function,
                    hint="take and return the elements as values of their own",
                )
            if isinstance(type_, TensorType):
                element = cast(Attribute, type_.get_element_type())
                if not element_kind(element) & Kind.ANY:
                    raise UnsupportedError(
                        f"{name}: StableHLO has no tensors of {element}", function
                    )
                raise UnsupportedError(
                    f"{name}: the pipeline does not support encodings of tensors",
                    function,
                )
            if not isinstance(type_, TokenType):
                raise UnsupportedError(
                    f"{name}: programs take and return ranked tensors", function
                )


def require_one_block(function: FuncOp, where: Operation | None = None) -> None:
    """Raise if a function or a region inside it has several blocks.

    Args:
        function: the function, which may be a declaration.
        where: the call of it, if that is what is to blame.

    Raises:
        UnsupportedError: it has several blocks.
    """
    if len(function.body.blocks) > 1:
        raise UnsupportedError(
            f"function '@{function.sym_name.data}' has more than one block",
            where or function,
            hint="only structured control flow (stablehlo.while, case, if) is supported",
        )


def require_structured(module: ModuleOp) -> None:
    """Hold all functions of a module to one block; see `require_one_block`."""
    for op in module.ops:
        if isinstance(op, FuncOp):
            require_one_block(op)


def require_one_level(module: ModuleOp) -> None:
    """Hold a program to one level: stages look at the functions of their module.

    Raises:
        UnsupportedError: there is a module in the module.
    """
    for op in module.ops:
        if isinstance(op, ModuleOp):
            raise UnsupportedError(
                "a module inside of a module is not compiled",
                op,
                hint="compile it as a program of its own",
            )
