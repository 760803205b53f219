"""Control flow of ttir and ttnn, and their ops that stand for StableHLO's and chlo's."""

from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.dialects import ttir, ttnn
from ttxdsl.dialects._tt.control_flow import Yield
from ttxdsl.dialects._tt.extension_ops import ADDITIONS
from ttxdsl.dialects.ttcore import device_mesh_name
from ttxdsl.interpreters.kernels import random
from ttxdsl.interpreters.kernels.elements import rank_of, tensor_of
from ttxdsl.interpreters.kernels.elementwise import Array
from ttxdsl.interpreters.ops.control_flow import run_branches, run_while
from ttxdsl.interpreters.ops.registry import implement_returns
from ttxdsl.interpreters.ops.tt.table import device_mesh, interpreted
from ttxdsl.interpreters.runtime.regions import Values, on_mesh, session


@interpreted("while")
def _while(interpreter: Interpreter, op: Any, args: Values) -> Values:
    count = len(op.carried)
    return run_while(interpreter, op.cond, op.body, args[:count], args[count:])


def _selector(value: Array, type: Attribute) -> Array:
    """Return a scalar's value on each device."""
    return value.reshape(value.shape[: value.ndim - rank_of(type)])


@interpreted("if")
def _if(interpreter: Interpreter, op: Any, args: Values) -> Values:
    branches = (op.true_branch, op.false_branch)
    index = np.where(_selector(args[0], op.pred.type), 0, 1)
    return run_branches(interpreter, branches, index, ())


@interpreted("case")
def _case(interpreter: Interpreter, op: Any, args: Values) -> Values:
    index = _selector(args[0], op.index.type)
    return run_branches(interpreter, op.branches, index, ())


@interpreted("get_device")
def _get_device(_: Interpreter, op: Any, args: Values) -> Values:
    """A handle has no value."""
    return (None,)


# ops of extensions


@interpreted(*(addition.mnemonic for addition in ADDITIONS))
def _addition(interpreter: Interpreter, op: Any, args: Values) -> Values:
    """Run the op that an extension op stands for."""
    stands_for = session(interpreter).stands_for
    if op not in stands_for:
        stands_for[op] = op.as_source()
    if op.name.endswith(".custom_call") and _is_on_devices(op):
        with on_mesh(interpreter, device_mesh(interpreter, op)):
            return tuple(interpreter.run_op(stands_for[op], args))
    return tuple(interpreter.run_op(stands_for[op], args))


def _is_on_devices(op: Operation) -> bool:
    """Return True if a tensor of an op names its mesh."""
    values = (*op.operands, *op.results)
    return any(device_mesh_name(value.type) is not None for value in values)


@interpreted("rng_bit_generator")
def _random_bits(interpreter: Interpreter, op: Any, args: Values) -> Values:
    """tt-mlir's: the state is numbers of 32 bits, two an element, the lower one first."""
    philox = op.properties.get("philox")
    if philox is None:
        return _addition(interpreter, op, args)
    if not philox:
        raise InterpretationError(
            "which bits rng_bit_generator makes without philox is the device's choice"
        )
    halves = np.ascontiguousarray(args[0])
    shape, dtype = tensor_of(op.output.type)
    state, bits = random.bit_generator(
        "PHILOX", halves.view(np.uint64)[..., 0], shape, dtype
    )
    return state[..., None].view(halves.dtype), bits


implement_returns(
    *(
        op_class
        for base in (ttir.TTIROp, ttnn.TTNNOp)
        for op_class in base.OPS
        if issubclass(op_class, Yield)
    )
)
