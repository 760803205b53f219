"""`verify-stage`: what has to hold after each of the thirteen stages.

| after | there is                                                                |
|-------|-------------------------------------------------------------------------|
| 1     | no call of a function with a body                                       |
| 3     | a shard status on every argument of an entry function                   |
| 4     | a mesh                                                                  |
| 6     | no data flow edge and no sharding group                                 |
| 7     | no sharding constraint                                                  |
| 8     | until 10, no dimension that its axes do not divide                      |
| 9     | nothing in an entry function but manual computations and the return     |
| 10    | no reshard                                                              |
| 11    | no other `sdy` op or attribute; all axes manual, so all types are local |
| 12    | no open dimension on a manual computation                               |
| 13    | of `sdy`, only meshes, manual computations and their returns            |

An invariant holds after all later stages, too, unless the table says otherwise. The
pipeline checks them with `verify-each`, and `xdsl-opt -p 'verify-stage{stage=9}'`
alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_functions,
)
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.sdy import ManualComputationOp
from ttxdsl.ir.traversal import all_ops
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.meshes import mesh_lookup
from ttxdsl.transforms.stages.even_out_shardings import find_uneven_dimension

_Op = TypeVar("_Op", bound=Operation)

Finding = tuple[str, Operation]
"""An error message, and the op that it is about."""


class _Program:
    """A module, walked over once for all invariants."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.ops = all_ops(module)
        self._classes = {type(op) for op in self.ops}

    def of(self, *classes: type[_Op]) -> list[_Op]:
        """Return the ops of some classes, in program order."""
        wanted = {known for known in self._classes if issubclass(known, classes)}
        if not wanted:
            return []
        return [cast(_Op, op) for op in self.ops if type(op) in wanted]


Invariant = Callable[[_Program], Iterator[Finding]]

LAST_STAGE = 13
_WRAPPING_STAGES = range(9, 13)
"""Stages after which there is a computation; 13 removes it where nothing is returned."""

SHARD_STATUS = "ttcore.shard_status"


def _no_calls(program: _Program) -> Iterator[Finding]:
    bodies = {
        op.sym_name.data
        for op in program.module.ops
        if isinstance(op, FuncOp) and not op.is_declaration
    }
    for op in program.of(CallOp):
        if op.callee.string_value() in bodies:
            yield f"'@{op.callee.string_value()}' is still called", op


def _shard_statuses(program: _Program) -> Iterator[Finding]:
    for function in entry_functions(program.module):
        for index, entry in enumerate(argument_attributes(function)):
            if SHARD_STATUS not in entry:
                yield f"argument {index} has no {SHARD_STATUS}", function


def _a_mesh(program: _Program) -> Iterator[Finding]:
    module = program.module
    if entry_functions(module) and not sdy.mesh_table(module):
        yield "the module has no mesh", module


def _no(*classes: type[Operation]) -> Invariant:
    def check(program: _Program) -> Iterator[Finding]:
        for op in program.of(*classes):
            yield "is still there", op

    return check


def _even(program: _Program) -> Iterator[Finding]:
    mesh_of = mesh_lookup(program.module)
    for op in program.ops:
        if isinstance(op, FuncOp):
            continue  # stage 9 copies the shardings of functions, and checks them
        for result in op.results:
            sharding = sdy.get_sharding(result)
            if sharding is None:
                continue
            dim = find_uneven_dimension(sharding, result.type, mesh_of(sharding))
            if dim is not None:
                yield f"dimension {dim} of {result.type} is uneven in {sharding}", op


def _wrapped(program: _Program) -> Iterator[Finding]:
    for function in entry_functions(program.module):
        name = function.sym_name.data
        for op in function.body.block.ops:
            if not isinstance(op, ManualComputationOp | ReturnOp):
                yield f"is in '@{name}' outside of a manual computation", op


def _computes(program: _Program) -> Iterator[Finding]:
    for function in entry_functions(program.module):
        if not any(
            isinstance(op, ManualComputationOp) for op in function.body.block.ops
        ):
            yield f"'@{function.sym_name.data}' has no manual computation", function


def _local(program: _Program) -> Iterator[Finding]:
    for op in program.ops:
        if op.name.startswith("sdy."):
            if isinstance(op, ManualComputationOp):
                yield from _manual_on_all_axes(op)
            elif not isinstance(op, sdy.MeshOp | sdy.ReturnOp):
                yield "is still there", op
        for name in op.attributes:
            if name.startswith("sdy."):
                yield f"still has the attribute {name}", op
        if isinstance(op, FuncOp) and not op.is_declaration:
            for entries in (op.arg_attrs, op.res_attrs):
                for entry in entries or ():
                    names = [name for name in entry.data if name.startswith("sdy.")]
                    if names:
                        yield f"still has {', '.join(names)} at its border", op


def _border(op: ManualComputationOp) -> tuple[TensorSharding, ...]:
    return (*op.in_shardings.data, *op.out_shardings.data)


def _manual_on_all_axes(op: ManualComputationOp) -> Iterator[Finding]:
    """With all axes manual, the op's verifier holds every type to be local."""
    if isinstance(op.parent_op(), FuncOp):
        for sharding in _border(op)[:1]:
            for name, size in sdy.get_mesh(op, sharding).axes:
                if size > 1 and name not in op.manual_axes.data:
                    yield f'is not manual along "{name}"', op
    else:
        yield "is inside of something else", op


def _closed(program: _Program) -> Iterator[Finding]:
    for op in program.of(ManualComputationOp):
        for sharding in _border(op):
            if not sharding.is_fully_closed:
                yield f"has an open dimension in {sharding}", op


_INVARIANTS: tuple[tuple[range, Invariant], ...] = (
    (range(1, LAST_STAGE + 1), _no_calls),
    (range(3, LAST_STAGE + 1), _shard_statuses),
    (range(4, LAST_STAGE + 1), _a_mesh),
    (range(6, LAST_STAGE + 1), _no(sdy.DataFlowEdgeOp, sdy.ShardingGroupOp)),
    (range(7, LAST_STAGE + 1), _no(sdy.ShardingConstraintOp)),
    (range(8, 10), _even),
    (range(9, LAST_STAGE + 1), _wrapped),
    (_WRAPPING_STAGES, _computes),
    (range(10, LAST_STAGE + 1), _no(sdy.ReshardOp)),
    (range(11, LAST_STAGE + 1), _local),
    (range(12, LAST_STAGE + 1), _closed),
)
"""The stages after which an invariant holds."""


def verify_stage(module: ModuleOp, stage: int) -> None:
    """Check a module that has gone through all stages up to `stage`.

    Raises:
        CompileError: the first thing that is not as it must be.
    """
    program = _Program(module)
    for stages, invariant in _INVARIANTS:
        if stage in stages:
            for message, op in invariant(program):
                raise CompileError(
                    f"{message} after stage {stage}",
                    op,
                    hint=f"stage {stages.start} should have seen to that",
                )


@dataclass(frozen=True)
class VerifyStagePass(ModulePass):
    """Check the invariants of a stage; the module is not changed.

    Options:
        stage: 1 to 13.
    """

    name = "verify-stage"

    stage: int = LAST_STAGE

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Raise a CompileError if the module breaks an invariant of the stage."""
        if not 1 <= self.stage <= LAST_STAGE:
            raise CompileError(f"stage: {self.stage} is not 1 to {LAST_STAGE}")
        verify_stage(op, self.stage)
