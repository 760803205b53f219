"""Gathers of rows that are known beforehand, as slices of them, repeated or not.

    x[:, jnp.minimum(jnp.arange(16) + 1, 15)]   # slices 1:16 and 15:16
    k[:, :, jnp.arange(8) // 2]                 # each row twice

A partitioner has to make the operand of a gather whole along the dimension; slices and
repetitions send what crosses, or nothing.
"""

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from math import gcd, prod
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import SymbolTable, is_side_effect_free

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import is_tensor, shape_of
from ttxdsl.transforms.partition.emitter import Emitter

_MOST_RUNS = 4
"""Slices to write instead of a gather."""
_MOST_OPS = 64
"""Ops that compute the rows, functions that they call aside."""
_MOST_ROWS = 1 << 16


class ConstantRows(NamedTuple):
    """Rows along a dimension: slices one after the other, of which each row is repeated."""

    dim: int
    runs: tuple[tuple[int, int], ...]
    repeats: int

    def code(self, rank: int) -> str:
        """Return the JAX code for rows of `x`."""
        before = ":, " * self.dim
        parts = [f"x[{before}{start}:{stop}]" for start, stop in self.runs]
        text = parts[0]
        if len(parts) > 1:
            text = f"jnp.concatenate([{', '.join(parts)}], axis={self.dim})"
        if self.repeats > 1:
            text = f"jnp.repeat({text}, {self.repeats}, axis={self.dim})"
        rows = ", ".join([*[":"] * self.dim, "rows", *[":"] * (rank - self.dim - 1)])
        return f"# instead of x[{rows}], whose rows are known: slices\n{text}"


def constant_rows(op: stablehlo.GatherOp) -> ConstantRows | None:
    """Return the rows that a gather takes whole, if they are known and are few slices."""
    if not all(map(is_tensor, (*op.operands, op.result))):
        return None
    shape, indices = shape_of(op.operand), shape_of(op.start_indices)
    dims = op.dimension_numbers.data
    if (
        len(dims.start_index_map) != 1
        or dims.collapsed_slice_dims != dims.start_index_map
        or dims.operand_batching_dims
        or not indices
        or prod(indices) != indices[0]
        or not 1 < indices[0] <= _MOST_ROWS
    ):
        return None
    (dim,) = dims.start_index_map
    whole = tuple(1 if at == dim else size for at, size in enumerate(shape))
    others = tuple(at for at in range(len(shape)) if at != dim)
    if op.slice_sizes.get_values() != whole or dims.offset_dims != others:
        return None
    known = _evaluated(op.start_indices)
    if known is None:
        return None
    rows = [min(max(row, 0), shape[dim] - 1) for row in known]
    changes = (at for at in range(1, len(rows)) if rows[at] != rows[at - 1])
    repeats = gcd(len(rows), *changes)
    rows = rows[::repeats]
    jumps = (at for at in range(1, len(rows)) if rows[at] != rows[at - 1] + 1)
    cuts = [0, *islice(jumps, _MOST_RUNS), len(rows)]
    if len(cuts) > _MOST_RUNS + 1:
        return None
    runs = [(rows[start], rows[stop - 1] + 1) for start, stop in pairwise(cuts)]
    return ConstantRows(dim, tuple(runs), repeats)


def _evaluated(value: SSAValue) -> list[int] | None:
    """Return the integers of a value that no argument has a part in."""
    ops: dict[Operation, None] = {}

    def collect(owner: object) -> bool:
        if owner in ops:
            return True
        if not isinstance(owner, Operation) or not _is_simple(owner):
            return False
        if not all(collect(operand.owner) for operand in owner.operands):
            return False
        ops[owner] = None
        return len(ops) <= _MOST_OPS

    if not collect(value.owner):
        return None
    called = list(called_functions(ops))
    inside = (op for callee in called for op in callee.body.walk())
    if not all(isinstance(op, ReturnOp) or _is_simple(op) for op in inside):
        return None
    function = FuncOp("main", ((), (value.type,)), visibility=StringAttr("public"))
    copies: dict[SSAValue, SSAValue] = {}
    for op in ops:
        if isinstance(op, sdy.ShardingConstraintOp):
            copies[op.result] = copies[op.input]
        else:
            function.body.block.add_op(op.clone(copies))
    function.body.block.add_op(ReturnOp(copies[value]))
    module = ModuleOp([function, *(callee.clone() for callee in called)])
    try:
        from ttxdsl.interpreters.runtime.run import run_module  # needs NumPy

        (numbers,) = run_module(module, ())
    except (CompileError, ImportError):
        return None
    return [int(number) for number in numbers.reshape(-1)]


def _is_simple(op: Operation) -> bool:
    """Whether an op gives the same on every device at once: no loop, nothing drawn."""
    known = isinstance(op, CallOp | sdy.ShardingConstraintOp)
    return not op.regions and (known or is_side_effect_free(op))


def called_functions(ops: Iterable[Operation]) -> Iterator[FuncOp]:
    """Yield the functions that ops call, and those that these call."""
    seen: set[FuncOp] = set()
    pending = list(ops)
    while pending:
        op = pending.pop()
        if not isinstance(op, CallOp):
            continue
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if isinstance(callee, FuncOp) and callee not in seen:
            seen.add(callee)
            yield callee
            pending += callee.body.walk()


def respell_rows(op: stablehlo.GatherOp, rows: ConstantRows) -> None:
    """Replace a gather by slices of its operand."""
    emit, dim = Emitter(Block(), op.location), rows.dim
    parts: list[SSAValue] = []
    for start, stop in rows.runs:
        limits = list(shape_of(op.operand))
        starts = [0] * len(limits)
        starts[dim], limits[dim] = start, stop
        parts.append(emit.slice(op.operand, starts, limits))
    value = emit.concatenate(parts, dim)
    if rows.repeats > 1:
        shape = shape_of(value)
        kept = [at if at <= dim else at + 1 for at in range(len(shape))]
        wide = (*shape[: dim + 1], rows.repeats, *shape[dim + 1 :])
        value = emit.reshape(emit.broadcast(value, wide, kept), shape_of(op.result))
    Rewriter.inline_block(emit.block, InsertPoint.before(op))
    Rewriter.replace_op(op, [], [value])
