"""Grids of processes: `interpreter.run_parallel`, channels, infeed and outfeed.

Processes that all run one program run as one, on a mesh of replicas and partitions.
Processes with programs of their own run one after the other; one that waits for
something that was not sent yet is run again later, and what it sent until then does not
count.

Source: StableHLO specification, "Parallel execution" and "Point-to-point
communication"; StableHLO's InterpreterOps.
"""

from typing import Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, SymbolRefAttr
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import interpreter as interp, stablehlo
from ttxdsl.dialects.stablehlo import id_pairs
from ttxdsl.dialects.stablehlo.types import TokenType
from ttxdsl.interpreters.kernels.elements import rank_of
from ttxdsl.interpreters.mesh.collectives import DeviceMesh
from ttxdsl.interpreters.ops.printing import tensor_text
from ttxdsl.interpreters.ops.registry import implements
from ttxdsl.interpreters.runtime.regions import (
    ChannelEmptyError,
    LocatedError,
    Values,
    find_symbol,
    on_mesh,
    session,
)


def _names(attribute: Attribute | None) -> list[str]:
    if not isinstance(attribute, ArrayAttr):
        return []
    listed = cast("ArrayAttr[SymbolRefAttr]", attribute)
    return [name.string_value() for name in listed.data]


def _run_alike(
    interpreter: Interpreter, program: func.FuncOp, grid: DeviceMesh, args: list[Any]
) -> list[Any]:
    """Return all processes' results of one program, process by process."""
    types = program.function_type.inputs.data
    stacked: list[Any] = []
    for at, type_ in enumerate(types):
        own = args[at :: len(types)]
        if isinstance(type_, TokenType):
            stacked.append(None)
        else:
            stacked.append(np.stack(own).reshape((*grid.sizes, *own[0].shape)))
    with on_mesh(interpreter, grid):
        results = interpreter.call_op(program, tuple(stacked))
    rows: list[list[Any]] = []
    for value, type_ in zip(results, program.function_type.outputs.data, strict=True):
        if isinstance(type_, TokenType):
            rows.append([None] * grid.num_devices)
            continue
        rows.append(list(grid.linear(value, rank_of(type_))))
    return [value for own in zip(*rows, strict=True) for value in own]


def _run_apart(
    interpreter: Interpreter,
    op: Operation,
    programs: list[func.FuncOp],
    grid: DeviceMesh,
    args: list[Any],
) -> list[Any]:
    """Return each process on its own, as far as channels let it."""
    state = session(interpreter)
    inputs: list[list[Any]] = []
    for program in programs:
        count = len(program.function_type.inputs.data)
        inputs.append(args[:count])
        args = args[count:]
    done: dict[int, tuple[Any, ...]] = {}
    waiting = list(range(len(programs)))
    while waiting:
        again: list[int] = []
        for process in waiting:
            before = {key: list(values) for key, values in state.channels.items()}
            alone = DeviceMesh(
                (("replica", 1), ("partition", 1)),
                (process,),
                grid.num_partitions,
            )
            try:
                with on_mesh(interpreter, alone):
                    done[process] = interpreter.call_op(
                        programs[process], tuple(inputs[process])
                    )
            except ChannelEmptyError:
                state.channels = before
                again.append(process)
        if again == waiting:
            raise LocatedError(f"processes {again} wait for what no process sends", op)
        waiting = again
    results: list[Any] = []
    for process, program in enumerate(programs):
        for value, type_ in zip(
            done[process], program.function_type.outputs.data, strict=True
        ):
            token = isinstance(type_, TokenType)
            results.append(None if token else _alone(value, rank_of(type_)))
    return results


def _alone(value: Any, rank: int) -> Any:
    """Return a value of a process that runs by itself, without leading dimensions."""
    array = np.asarray(value)
    return array.reshape(array.shape[array.ndim - rank :])


def _printed_name(value: SSAValue) -> str:
    """Return the name of a value as MLIR prints it: those without one are numbered."""
    if value.name_hint is not None:
        return f"%{value.name_hint}"
    if isinstance(value, BlockArgument):
        return f"%arg{value.index}"
    count = 0
    block = value.owner.parent if isinstance(value.owner, Operation) else None
    for op in block.ops if block is not None else ():
        if op is value.owner:
            break
        count += any(result.name_hint is None for result in op.results)
    return f"%{count}"


@implements(interp.RunParallelOp)
def _parallel(
    interpreter: Interpreter, op: interp.RunParallelOp, args: Values
) -> Values:
    """Run the grid."""
    rows = [_names(row) for row in op.programs.data]
    if len({len(row) for row in rows}) != 1:
        raise CompileError("the rows of `programs` differ in length", op)
    grid = DeviceMesh(
        (("replica", len(rows)), ("partition", len(rows[0]))),
        num_partitions=len(rows[0]),
    )
    programs: list[func.FuncOp] = []
    for name in (name for row in rows for name in row):
        symbol = find_symbol(interpreter, name)
        if not isinstance(symbol, func.FuncOp):
            raise CompileError(f"@{name} is not a function", op)
        programs.append(symbol)
    state = session(interpreter)
    outer = state.infeed
    state.infeed = _names(op.infeed)
    try:
        if len(set(programs)) == 1:
            symbol = _run_alike(interpreter, programs[0], grid, list(args))
        else:
            symbol = _run_apart(interpreter, op, programs, grid, list(args))
    finally:
        state.infeed = outer
    return tuple(symbol)


@implements(interp.PrintOp)
def _print(interpreter: Interpreter, op: interp.PrintOp, args: Values) -> Values:
    """To the interpreter's file, once a process, as StableHLO's own prints it."""
    type_ = op.operand.type
    mesh, rank = session(interpreter).mesh, rank_of(type_)
    name = _printed_name(op.operand)
    for value in mesh.linear(np.asarray(args[0]), rank):
        interpreter.print(f"{name} = {tensor_text(value, type_)}")
    return ()


@implements(interp.ProbeOp)
def _probe(interpreter: Interpreter, op: interp.ProbeOp, args: Values) -> Values:
    """Kept in the session, for `check.expect_serialized_eq`."""
    seen = session(interpreter).probes.setdefault(op.probe_id.data, [])
    seen.append(np.array(args[0]))
    return args


@implements(stablehlo.InfeedOp)
def _infeed(interpreter: Interpreter, op: stablehlo.InfeedOp, args: Values) -> Values:
    """Call the next function of the queue."""
    queue = session(interpreter).infeed
    if not queue:
        raise UnsupportedError(
            "nothing is fed in",
            op,
            hint="run the program by interpreter.run_parallel with `infeed`",
        )
    feed = find_symbol(interpreter, queue.pop(0))
    return (*interpreter.call_op(feed, ()), None)


@implements(stablehlo.SendOp)
def _send(interpreter: Interpreter, op: stablehlo.SendOp, args: Values) -> Values:
    """Into the channel; between devices, already where it is sent to."""
    state = session(interpreter)
    values = args[:-1]
    pairs = op.source_target_pairs
    if pairs is not None and (listed := id_pairs(pairs)):
        moves = cast("tuple[tuple[int, int], ...]", state.mesh.positions_of(listed))
        values = tuple(
            state.mesh.collective_permute(x, rank_of(value.type), moves)
            for x, value in zip(values, op.inputs, strict=True)
        )
    handle = op.channel_handle.data.handle
    state.channels.setdefault(handle, []).append(values)
    return (None,)


@implements(stablehlo.RecvOp)
def _recv(interpreter: Interpreter, op: stablehlo.RecvOp, args: Values) -> Values:
    """Take the oldest value out of the channel."""
    queue = session(interpreter).channels.get(op.channel_handle.data.handle)
    if not queue:
        raise ChannelEmptyError("nothing was sent to this channel", op)
    return (*queue.pop(0), None)
