"""check: assertions that stop the run, as ops and as custom calls.

Source: StableHLO's CheckOps, the op descriptions.
"""

from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from ttxdsl.dialects import check
from ttxdsl.interpreters.kernels.elements import constant, is_complex, widen
from ttxdsl.interpreters.kernels.elementwise import Array, total_order_key
from ttxdsl.interpreters.mesh.collectives import same_values
from ttxdsl.interpreters.ops.registry import computes, implements
from ttxdsl.interpreters.runtime.regions import LocatedError, Values, session


class CheckError(LocatedError):
    """An assertion of the program does not hold."""


def _fail(op: Operation, wrong: Array, actual: Array, expected: Array) -> None:
    """Raise for the first wrong element, if there is one."""
    if not wrong.any():
        return
    at = np.unravel_index(int(wrong.argmax()), wrong.shape)
    actual, expected = np.broadcast_arrays(actual, expected)
    raise CheckError(
        f"{int(wrong.sum())} of {wrong.size} elements differ, the first at "
        f"{[int(i) for i in at]}: {actual[at]} instead of {expected[at]}",
        op,
    )


def expect_eq(op: Operation, actual: Array, expected: Array) -> None:
    """Every element is equal; NaN equals NaN."""
    _fail(op, ~same_values(actual, expected), actual, expected)


def expect_almost_eq(
    op: Operation, actual: Array, expected: Array, tolerance: float
) -> None:
    """Every element differs by at most `tolerance`."""
    a, b = widen(actual), widen(expected)
    wrong = ~(same_values(a, b) | (np.abs(a - b) <= tolerance))
    _fail(op, wrong, actual, expected)


def _floats_between(a: Array, b: Array) -> Array:
    """Return how many floats lead from `a` to `b`, which are finite."""
    zero = np.zeros((), a.dtype)
    # one zero only, so that the way across it has no step too many
    ka, kb = (total_order_key(np.where(x == 0, zero, x)) for x in (a, b))
    # widened: 64-bit keys of both signs may be farther apart than 63 bits say
    return np.abs(ka.astype(np.longdouble) - kb.astype(np.longdouble))


def expect_close(
    op: Operation, actual: Array, expected: Array, least: int, most: int
) -> None:
    """So many floats are between; what is not finite must be the same."""
    if is_complex(actual.dtype):
        expect_close(op, np.real(actual), np.real(expected), least, most)
        expect_close(op, np.imag(actual), np.imag(expected), least, most)
        return
    a, b = widen(actual), widen(expected)
    finite = np.isfinite(a) & np.isfinite(b)
    steps = _floats_between(
        np.where(finite, actual, np.zeros((), actual.dtype)),
        np.where(finite, expected, np.zeros((), actual.dtype)),
    )
    right = np.where(finite, (steps >= least) & (steps <= most), same_values(a, b))
    _fail(op, ~right, actual, expected)


def _tolerance(op: Any) -> float:
    given = op.tolerance
    return check.DEFAULT_TOLERANCE if given is None else float(given.value.data)


Assertion = tuple[()]


@computes(check.ExpectEqOp)
def _expect_eq(op: check.ExpectEqOp, actual: Array, expected: Array) -> Assertion:
    expect_eq(op, actual, expected)
    return ()


@computes(check.ExpectEqConstOp)
def _expect_eq_const(op: check.ExpectEqConstOp, actual: Array) -> Assertion:
    expect_eq(op, actual, constant(op.value))
    return ()


@computes(check.ExpectAlmostEqOp)
def _expect_almost_eq(op: check.ExpectAlmostEqOp, x: Array, y: Array) -> Assertion:
    expect_almost_eq(op, x, y, _tolerance(op))
    return ()


@computes(check.ExpectAlmostEqConstOp)
def _expect_almost_eq_const(op: check.ExpectAlmostEqConstOp, x: Array) -> Assertion:
    expect_almost_eq(op, x, constant(op.value), _tolerance(op))
    return ()


@computes(check.ExpectCloseOp)
def _expect_close(op: check.ExpectCloseOp, x: Array, y: Array) -> Assertion:
    most, least = op.max_ulp_difference, op.min_ulp_difference
    expect_close(
        op,
        x,
        y,
        0 if least is None else least.value.data,
        1 if most is None else most.value.data,
    )
    return ()


@implements(check.ExpectSerializedEqOp)
def _expect_serialized_eq(
    interpreter: Interpreter, op: check.ExpectSerializedEqOp, args: Values
) -> Values:
    seen = session(interpreter).probes.get(op.probe_id.data, [])
    at = 0 if op.iteration is None else op.iteration.value.data
    if at >= len(seen):
        raise CheckError(f'probe "{op.probe_id.data}" has seen {len(seen)} values', op)
    expect_eq(op, seen[at], args[0])
    return ()
