"""Custom calls of linear algebra: each matrix of each batch, on all devices.

What is computed of one matrix is in `lapack.py`.
"""

from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.linalg import ROUTINE_OF, batch_rank
from ttxdsl.interpreters.kernels.elements import (
    compute_dtype,
    is_complex,
    is_float,
    is_integer,
    tensor_of,
    widen,
)
from ttxdsl.interpreters.kernels.lapack import KERNELS, LETTERS, Call, Results, library

Array = NDArray[Any]

_OF_NOTHING = ("lu", "permutation")
"""Routines that have something to say of a matrix without elements."""


def linalg_call(op: stablehlo.CustomCallOp, *args: Array) -> tuple[Array, ...]:
    """Call a routine with all matrices of a batch, on all devices.

    Args:
        op: a call whose target is one of `ROUTINE_OF`.
        args: its operands; dimensions before those of their types are devices.

    Raises:
        UnsupportedError: SciPy is not installed, an option is none that the target has,
            or operands and results are not those of the routine.
    """
    routine = ROUTINE_OF[op.call_target_name.data]
    rank = batch_rank(op, routine)
    operands, results = (
        [tensor_of(value.type) for value in values]
        for values in (op.inputs, op.outputs)
    )
    call = Call(
        op,
        compute_dtype(operands[0][1] if operands else np.dtype(np.int32)),
        tuple((shape[rank:], dtype) for shape, dtype in results),
    )
    _check(call, routine)
    # a number is the same for the whole batch
    own = [shape for shape, _ in operands if shape] + [shape for shape, _ in results]
    if len({shape[:rank] for shape in own}) > 1:
        raise UnsupportedError(
            f"custom call @{call.target} has operands and results of other batches: "
            + ", ".join(str(shape[:rank]) for shape in own),
            op,
        )
    matrices = [
        _with_batch(widen(array), shape, rank)
        for array, (shape, _) in zip(args, operands, strict=True)
    ]
    batch = np.broadcast_shapes(*(lead for lead, _ in matrices))
    spread = [
        np.broadcast_to(array, batch + array.shape[len(lead) :])
        for lead, array in matrices
    ]
    arrays = [np.zeros(batch + shape, dtype) for shape, dtype in call.results]
    if spread[0].size or routine in _OF_NOTHING:
        for place in np.ndindex(*batch):
            answers = _run(call, routine, [array[place] for array in spread])
            for whole, matrix in zip(arrays, answers, strict=True):
                if matrix is not None:
                    whole[place] = matrix
    return tuple(arrays)


def _with_batch(
    array: Array, shape: tuple[int, ...], rank: int
) -> tuple[tuple[int, ...], Array]:
    """Return the batch of an operand, devices before it, and the operand with it."""
    devices = array.shape[: array.ndim - len(shape)]
    batch = devices + (shape[:rank] if shape else (1,) * rank)
    return batch, array.reshape(batch + shape[rank:])


def _check(call: Call, routine: str) -> None:
    """SciPy is there, and the call has the operands of the routine."""
    try:
        library("lapack")
    except ImportError:
        raise UnsupportedError(
            f"custom call @{call.target} needs SciPy, which is not installed",
            call.op,
            hint="pip install 'ttxdsl[linalg]'",
        ) from None
    takes, got = len(signature(KERNELS[routine]).parameters) - 1, len(call.op.inputs)
    if takes != got:
        raise UnsupportedError(
            f"custom call @{call.target} takes {takes} operands, got {got}", call.op
        )
    letter = LETTERS.get(call.dtype.char, "")
    wanted = call.target[len("lapack_")] if call.target.startswith("lapack_") else ""
    dtypes = {compute_dtype(tensor_of(input.type)[1]) for input in call.op.inputs}
    numbers = {dtype for dtype in dtypes if not is_integer(dtype)} or {call.dtype}
    if (
        wanted not in ("", letter)
        or bool(letter) == (routine == "permutation")
        or numbers != {call.dtype}
    ):
        listed = ", ".join(sorted(map(str, dtypes)))
        raise UnsupportedError(
            f"custom call @{call.target} does not compute with {listed}", call.op
        )


def _run(call: Call, routine: str, matrices: list[Array]) -> Results:
    """Run one matrix of the batch; check that the results have the call's types."""
    try:
        with np.errstate(all="ignore"):
            results = KERNELS[routine](call, *matrices)
    except UnsupportedError:
        raise
    except Exception as refusal:  # those of SciPy's wrappers have no public class
        raise UnsupportedError(
            f"custom call @{call.target} has operands that LAPACK does not take: "
            f"{refusal}",
            call.op,
        ) from None
    if len(results) != len(call.results) or not all(
        value is None or _fits(np.asarray(value), *result)
        for value, result in zip(results, call.results, strict=True)
    ):
        forms = [
            None if value is None else f"{np.shape(value)} of {np.asarray(value).dtype}"
            for value in results
        ]
        raise UnsupportedError(
            f"custom call @{call.target} gives {forms} a matrix, "
            f"but says {[f'{shape} of {dtype}' for shape, dtype in call.results]}",
            call.op,
        )
    return results


def _fits(value: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    alike = (
        kind(value.dtype) == kind(dtype) for kind in (is_integer, is_float, is_complex)
    )
    return value.shape == shape and all(alike)
