"""The program of a compiler that calls libraries, made of one that is partitioned.

On the way to its kernels XLA for CPUs makes equal values one (`HloCSE`) and drops the barriers that keep
apart what a checkpoint computes again, which then runs as early as the rest
(`OptimizationBarrierExpander`); combines sums among the same devices that do not need each other
(`CpuAllReduceCombiner`); and copies what a loop changes and others need, too (`CopyInsertion`).
"""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.libraries.algebra import simplify
from ttxdsl.analysis.libraries.builder import Builder, Note, copied, is_copy
from ttxdsl.analysis.libraries.loops import Kernels, program_blocks
from ttxdsl.analysis.usage.buffers.narrow import keeps_operand
from ttxdsl.analysis.values.entry import given_away, is_argument
from ttxdsl.analysis.values.simplified import Simplified, merge_equal_values, simplified
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.reduction import single_op_of
from ttxdsl.ir.traversal import operands_in, ops_of, ops_of_type


@dataclass(frozen=True)
class LibraryProgram:
    """A copy of a per-device program as its compiler has it, and the kernels of that."""

    program: Simplified
    kernels: Kernels


def library_program(module: ModuleOp) -> LibraryProgram:
    """Return what a compiler that calls libraries makes of a per-device program."""
    program = simplified(module, always=True)
    assert program is not None, "a copy is made"
    copy, ops = program.module, dict(program.ops)

    def note(new: Operation, of: Operation) -> None:
        # with what is inside, as of a clone
        for inner, origin in zip(new.walk(), of.walk(), strict=False):
            ops[inner] = ops[origin]

    replaced = _without_cases(copy) | _without(copy, stablehlo.ConvertOp)
    replaced |= merge_equal_values(copy, _stays)
    replaced |= simplify(copy, note)
    replaced |= merge_equal_values(copy, _stays)
    replaced |= _without(copy, stablehlo.OptimizationBarrierOp)
    for block in program_blocks(copy):
        replaced |= _combine_sums(block, note)
        _copy_states(block, note)
    values = dict(program.values)
    for value, new in values.items():
        while new in replaced:
            new = replaced[new]
        values[value] = new
    return LibraryProgram(Simplified(copy, values, ops), Kernels(copy, note))


def _stays(_: Operation) -> bool:
    """Whether an op is made again although there is an equal one: none is."""
    return False


def _without(module: ModuleOp, kind: type[Operation]) -> dict[SSAValue, SSAValue]:
    """Put what goes into ops that change nothing in place of what comes out; return that."""
    replaced: dict[SSAValue, SSAValue] = {}
    for op in ops_of_type(module, kind):
        if not isinstance(op, stablehlo.ConvertOp) or is_copy(op):
            replaced |= zip(op.results, op.operands, strict=True)
            Rewriter.replace_op(op, [], list(op.operands))
    return replaced


def _without_cases(module: ModuleOp) -> dict[SSAValue, SSAValue]:
    """Put the branch of a case that has no other one in its place (`ConditionalSimplifier`)."""
    replaced: dict[SSAValue, SSAValue] = {}
    for op in ops_of_type(module, stablehlo.CaseOp):
        if len(op.regions) == 1:
            branch = op.regions[0].block
            last = branch.last_op
            assert last is not None, "a branch returns"
            Rewriter.inline_block(branch, InsertPoint.before(op))
            replaced |= zip(op.results, last.operands, strict=True)
            values = list(last.operands)
            Rewriter.erase_op(last)
            Rewriter.replace_op(op, [], values)
    return replaced


def _copy_states(block: Block, note: Note) -> None:
    """Copy what loops change and others need: further loops, other ops, the caller."""
    donated, taken = set(given_away(block)), set[SSAValue]()
    for loop in ops_of(block):
        if not isinstance(loop, stablehlo.WhileOp):
            continue
        for index, value in enumerate(loop.operands):
            if keeps_operand(loop, index):
                continue
            is_lent = is_argument(value) and value not in donated
            if is_lent or value in taken or _is_read_apart(value):
                loop.operands[index] = copied(value, Builder(loop, note))
            else:
                taken.add(value)


def _is_read_apart(value: SSAValue) -> bool:
    """Whether others than loops need a value."""
    return any(not isinstance(use.operation, stablehlo.WhileOp) for use in value.uses)


def _combine_sums(block: Block, note: Note) -> dict[SSAValue, SSAValue]:
    """Make all_reduces of the same devices that do not need each other one op; return its results."""
    replaced: dict[SSAValue, SSAValue] = {}
    for group in _combined(block):
        *_, last = group
        old = [result for op in group for result in op.results]
        combined = last.create(
            operands=[value for op in group for value in op.operands],
            result_types=[value.type for value in old],
            properties=last.properties,
            attributes=last.attributes,
            regions=[last.detach_region(last.regions[0])],
            location=last.location,
        )
        Rewriter.insert_op(combined, InsertPoint.before(last))
        note(combined, last)
        for value, new in zip(old, combined.results, strict=True):
            replaced[value] = new
            value.replace_all_uses_with(new)
        for op in group:
            Rewriter.erase_op(op)
    if replaced:
        _sort(block)
    return replaced


def _combined(block: Block) -> list[list[stablehlo.AllReduceOp]]:
    """Return the all_reduces that become one op each; one that needs such ops begins another."""
    groups: list[list[stablehlo.AllReduceOp]] = []
    latest: dict[Hashable, list[stablehlo.AllReduceOp]] = {}
    behind: defaultdict[Hashable, set[Operation]] = defaultdict(set)
    """For the latest group of a key, its ops and all that depend on them."""
    for op in ops_of(block):
        makers = {value.owner for value in operands_in(op)}
        if isinstance(op, stablehlo.AllReduceOp):
            kind = single_op_of(op.computation)
            key = op.replica_groups, op if kind is None else type(kind)
            if key not in latest or not makers.isdisjoint(behind[key]):
                latest[key], behind[key] = [], set()
                groups.append(latest[key])
            latest[key].append(op)
            behind[key].add(op)
        for others in behind.values():
            if not makers.isdisjoint(others):
                others.add(op)
    return [group for group in groups if len(group) > 1]


def _sort(block: Block) -> None:
    """Put the ops of a block behind what they need, else in their order."""
    ops = ops_of(block)
    position = {op: at for at, op in enumerate(ops)}
    for op in ops:
        op.detach()
    placed, pending = set[Operation](), ops[::-1]
    while pending:
        op = pending[-1]
        makers = {value.owner for value in operands_in(op)}
        ahead = [
            maker
            for maker in makers
            if isinstance(maker, Operation)
            and maker in position
            and maker not in placed
            and maker is not op
        ]
        if op not in placed and ahead:
            pending += sorted(ahead, key=position.__getitem__, reverse=True)
            continue
        pending.pop()
        if op not in placed:
            placed.add(op)
            block.add_op(op)
