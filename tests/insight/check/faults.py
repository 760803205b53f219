"""Compilers that are broken on purpose: one fault each, and who must be blamed.

Every fault is something that has gone wrong in a real partitioner: bounds that were
divided instead of moved, positions that start again on each device, groups in another
order, a collective that is missing or along the wrong axis.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Operation, SSAValue
from xdsl.transforms.canonicalize import CanonicalizePass

from ttxdsl.analysis.values import offsets
from ttxdsl.conversion.stablehlo_to_ttir import convert as stablehlo_to_ttir
from ttxdsl.conversion.stablehlo_to_ttir.ops import collective
from ttxdsl.conversion.ttir_to_ttnn import convert as ttir_to_ttnn
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.insight.check.failure import Mode
from ttxdsl.ir.data_flow import ByClass
from ttxdsl.sharding.devices.replica_groups import Groups
from ttxdsl.transforms.partition import table
from ttxdsl.transforms.partition.emitter import Emitter
from ttxdsl.transforms.partition.exchange import collectives
from ttxdsl.transforms.partition.localizer import Localizer
from ttxdsl.transforms.shardy.exporting import (
    sdy_insert_explicit_reshards,
    sdy_reshard_to_collectives,
)
from ttxdsl.transforms.shardy.propagation import less_traffic
from ttxdsl.transforms.stages import inline, sum_dynamic_slices

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'


def function(arguments: str, results: str, *lines: str) -> str:
    """A program on a mesh of 2 x 2 devices."""
    body = "\n".join(f"  {line}" for line in lines)
    return f"{MESH}func.func @main({arguments}) -> {results} {{\n{body}\n}}\n"


def tensor(type_: str, *dims: str) -> str:
    """An argument type with its sharding."""
    listed = ", ".join(f'{{"{dim}"}}' if dim else "{}" for dim in dims)
    return f"{type_} {{sdy.sharding = #sdy.sharding<@mesh, [{listed}]>}}"


X = tensor("tensor<8x4xf32>", "x", "")
XY = tensor("tensor<8x4xf32>", "x", "y")
T = "tensor<8x4xf32>"

SLICE = function(
    f"%a: {X}, %b: {X}",
    "tensor<4x4xf32>",
    f"%0 = stablehlo.add %a, %b : {T}",
    f"%1 = stablehlo.slice %0 [0:4, 0:4] : ({T}) -> tensor<4x4xf32>",
    "%2 = stablehlo.negate %1 : tensor<4x4xf32>",
    "return %2 : tensor<4x4xf32>",
)

SHIFTED_ROWS = function(
    f"%a: {X}, %i: {tensor('tensor<8x1xi32>', 'x', '')}",
    "tensor<8xf32>",
    "%r = stablehlo.iota dim = 0 : tensor<8x1xi32>",
    "%one = stablehlo.constant dense<1> : tensor<8x1xi32>",
    "%n = stablehlo.add %r, %one : tensor<8x1xi32>",
    "%k = stablehlo.concatenate %n, %i, dim = 1"
    " : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>",
    '%0 = "stablehlo.gather"(%a, %k) <{dimension_numbers = #stablehlo.gather<'
    "collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>,"
    f" slice_sizes = array<i64: 1, 1>}}> : ({T}, tensor<8x2xi32>) -> tensor<8xf32>",
    "return %0 : tensor<8xf32>",
)

COMPUTED_SLICE = function(
    f"%a: {X}, %i: tensor<i32>",
    "tensor<1x4xf32>",
    f"%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 4]"
    f" : ({T}, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>",
    "return %0 : tensor<1x4xf32>",
)

IOTA = function(
    f"%a: {X}",
    T,
    f"%0 = stablehlo.iota dim = 0 : {T}",
    f"%1 = stablehlo.multiply %a, %0 : {T}",
    f"%2 = stablehlo.tanh %1 : {T}",
    f"%3 = stablehlo.add %1, %a : {T}",
    f"return %3 : {T}",
)

GATHER_ALL = function(
    f"%a: {XY}",
    f"({tensor(T, '', 'y')}, {T})",
    f"%0 = stablehlo.negate %a : {T}",
    f"%1 = stablehlo.abs %0 : {T}",
    f"return %0, %1 : {T}, {T}",
)

DOT = function(
    f"%a: {tensor(T, '', 'x')}, %b: {tensor('tensor<4x6xf32>', 'x', '')}",
    "tensor<8x6xf32>",
    f"%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({T}, tensor<4x6xf32>) -> tensor<8x6xf32>",
    "%1 = stablehlo.tanh %0 : tensor<8x6xf32>",
    "return %1 : tensor<8x6xf32>",
)

TRANSPOSE = function(
    f"%a: {tensor('tensor<4x4xf32>', 'x', 'y')}",
    "tensor<4x4xf32>",
    "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>",
    "%1 = stablehlo.negate %0 : tensor<4x4xf32>",
    "return %1 : tensor<4x4xf32>",
)

LOOKUP = function(
    f"%table: {tensor('tensor<8x3xf32>', 'x', '')}, %ids: tensor<5x1xi32>",
    "tensor<5x3xf32>",
    '%0 = "stablehlo.gather"(%table, %ids) <{dimension_numbers = #stablehlo.gather<'
    "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],"
    " index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>,"
    " indices_are_sorted = false}>"
    " : (tensor<8x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>",
    "return %0 : tensor<5x3xf32>",
)

PERMUTE = function(
    f"%a: {tensor(T, 'x', '')}",
    f"({tensor(T, 'y', '')})",
    f"%0 = stablehlo.negate %a : {T}",
    f"return %0 : {T}",
)

SUBTRACT = function(
    f"%a: {X}, %b: {X}", T, f"%0 = stablehlo.subtract %a, %b : {T}", f"return %0 : {T}"
)

PROGRAMS = {
    "slice": SLICE,
    "iota": IOTA,
    "gather_all": GATHER_ALL,
    "dot": DOT,
    "transpose": TRANSPOSE,
    "lookup": LOOKUP,
    "permute": PERMUTE,
    "subtract": SUBTRACT,
}


@dataclass(frozen=True)
class Fault:
    """A broken compiler, a program that shows it, and who is to blame for what."""

    name: str
    program: str
    plant: Callable[[pytest.MonkeyPatch], None]
    stage: str
    kinds: tuple[Mode, ...] = (Mode.DIFFERS,)


@cache
def _clearing(name: str) -> list[Callable[[], None]]:
    """Return what empties the caches of a module."""
    return [
        value.clear if isinstance(value, ByClass) else value.cache_clear
        for value in vars(sys.modules[name]).values()
        if isinstance(value, ByClass) or callable(getattr(value, "cache_clear", None))
    ]


def forget() -> None:
    """Empty every cache of the compiler: what it knows is of another compiler."""
    for name in [*sys.modules]:
        if name.partition(".")[0] == "ttxdsl":
            for clear in _clearing(name):
                clear()


def _counted_from_anywhere(value: SSAValue, at: offsets.At) -> int | None:
    offset = offsets.offset_of(value, at)
    return offset.dim if offset.factor == 1 else None


def _one_later(emit: Emitter, indices: SSAValue) -> SSAValue:
    return emit.add(indices, emit.position(1))


def _localizer(op_class: type, broken: Callable[[Localizer, Any], None]):
    def plant(patch: pytest.MonkeyPatch) -> None:
        patch.setitem(table.LOCALIZERS, op_class, broken)
        # the table remembers what it has answered
        patch.setitem(table._NEAREST, op_class, broken)  # pyright: ignore[reportPrivateUsage]

    return plant


def _divide_bounds(ctx: Localizer, op: stablehlo.SliceOp) -> None:
    """Every device takes the first rows of its own."""
    (operand,) = ctx.operands(op)
    layout = operand.placed
    parts = [
        whole // local
        for whole, local in zip(layout.shape, layout.local_shape, strict=True)
    ]
    target = replace(layout, shape=op.result.type.get_shape())  # pyright: ignore[reportAttributeAccessIssue]
    limits = op.limit_indices.get_values()
    divided = [limit // part for limit, part in zip(limits, parts, strict=True)]
    properties = {"limit_indices": DenseArrayBase.from_list(i64, divided)}
    ctx.define_results(op, ctx.rebuild(op, [operand], [target], properties))


def _iota_without_offset(ctx: Localizer, op: stablehlo.IotaOp) -> None:
    ctx.define_results(op, ctx.rebuild(op, [], [ctx.target(op.output)]))


def _permute_groups(patch: pytest.MonkeyPatch) -> None:
    right = collectives.groups_along

    def wrong(mesh: Any, axes: Any) -> Any:
        return tuple(tuple(reversed(group)) for group in right(mesh, axes))

    patch.setattr(collectives, "groups_along", wrong)


def _no_all_reduce(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        collectives.CollectiveWriter,
        "all_reduce",
        lambda self, value, mesh, axes, combine: value,
    )


def _gather_wrong_axis(patch: pytest.MonkeyPatch) -> None:
    right = collectives.groups_along
    other = {"x": "y", "y": "x"}

    def wrong(mesh: Any, axes: Any) -> Any:
        return right(mesh, tuple(replace(axis, name=other[axis.name]) for axis in axes))

    patch.setattr(collectives, "groups_along", wrong)


def _swap_shard_dims(patch: pytest.MonkeyPatch) -> None:
    right = stablehlo_to_ttir.place

    def wrong(sharding: Any, mesh: Any) -> Any:
        placement = right(sharding, mesh)
        return replace(placement, shard_dims=placement.shard_dims[::-1])

    patch.setattr(stablehlo_to_ttir, "place", wrong)


def _no_mask(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Emitter, "select", lambda self, predicate, on_true, on_false: on_true)


def _drop_pair(patch: pytest.MonkeyPatch) -> None:
    right = collectives.source_target_pairs
    patch.setattr(
        collectives,
        "source_target_pairs",
        lambda before, after: right(before, after)[:-1],
    )


def _drop_pair_in_ttir(patch: pytest.MonkeyPatch) -> None:
    right = collective.device_groups

    def wrong(op: Operation, *devices: Any) -> Groups:
        groups = right(op, *devices)
        permutes = isinstance(op, stablehlo.CollectivePermuteOp)
        return groups[:-1] if permutes else groups

    patch.setattr(collective, "device_groups", wrong)


def _after(
    pass_class: type, change: Callable[[Any], None]
) -> Callable[[pytest.MonkeyPatch], None]:
    """A pass that does its work and then something else."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = pass_class.apply  # pyright: ignore[reportAttributeAccessIssue]

        def wrong(self: Any, ctx: Any, module: Any) -> None:
            right(self, ctx, module)
            change(module)

        patch.setattr(pass_class, "apply", wrong)

    return plant


def _bypass(*classes: type) -> Callable[[Any], None]:
    """Ops of these classes vanish: their users take the operand."""

    def change(module: Any) -> None:
        for op in list(module.walk()):
            if isinstance(op, classes):
                op.results[0].replace_all_uses_with(op.operands[0])
                op.detach()
                op.erase()

    return change


def _swap_operands(module: Any) -> None:
    for op in module.walk():
        if isinstance(op, stablehlo.SubtractOp):
            op.operands = tuple(reversed(op.operands))


def _crash(module: Any) -> None:
    assert not any(isinstance(op, stablehlo.TanhOp) for op in module.walk()), "tanh"


def _wrong_type(module: Any) -> None:
    for op in module.walk():
        if isinstance(op, stablehlo.TransposeOp):
            op.permutation = DenseArrayBase.from_list(i64, [0, 0])


def _swap_in_ttnn(module: Any) -> None:
    for op in module.walk():
        if op.name == "ttnn.subtract":
            op.operands = tuple(reversed(op.operands))


FAULTS = [
    # the eight of issue 6
    Fault(
        "slice bounds divided",
        SLICE,
        _localizer(stablehlo.SliceOp, _divide_bounds),
        "11 update-global-to-local-shapes",
    ),
    Fault(
        "iota without offset",
        IOTA,
        _localizer(stablehlo.IotaOp, _iota_without_offset),
        "11 update-global-to-local-shapes",
    ),
    Fault(
        "permuted replica groups",
        GATHER_ALL,
        _permute_groups,
        "11 update-global-to-local-shapes",
    ),
    Fault(
        "missing all_reduce",
        DOT,
        _no_all_reduce,
        "11 update-global-to-local-shapes",
        (Mode.DIFFERS, Mode.REPLICAS),
    ),
    Fault(
        "gather of the wrong axis",
        GATHER_ALL,
        _gather_wrong_axis,
        "11 update-global-to-local-shapes",
        (Mode.DIFFERS, Mode.REPLICAS),
    ),
    Fault(
        "swapped shard_dims",
        GATHER_ALL,
        _swap_shard_dims,
        "convert-stablehlo-to-ttir",
        (Mode.REPLICAS,),
    ),
    # lanes that a device pads its lookup with, as another one holds their rows
    Fault(
        "padded lanes not masked", LOOKUP, _no_mask, "11 update-global-to-local-shapes"
    ),
    Fault(
        "permute pair dropped",
        PERMUTE,
        _drop_pair,
        "11 update-global-to-local-shapes",
        (Mode.DIFFERS, Mode.REPLICAS),
    ),
    # and others
    Fault(
        "permute pair dropped in ttir",
        PERMUTE,
        _drop_pair_in_ttir,
        "convert-stablehlo-to-ttir",
        (Mode.DIFFERS, Mode.REPLICAS),
    ),
    Fault(
        "all_reduce forgotten by stage 8",
        DOT,
        _after(
            sdy_insert_explicit_reshards.InsertExplicitReshardsPass,
            _bypass(sdy.AllReduceOp),
        ),
        "8 sdy-insert-explicit-reshards",
        (Mode.INCONSISTENT,),
    ),
    Fault(
        "reshard forgotten by stage 8",
        GATHER_ALL,
        _after(
            sdy_insert_explicit_reshards.InsertExplicitReshardsPass,
            _bypass(sdy.ReshardOp),
        ),
        "8 sdy-insert-explicit-reshards",
        (Mode.INCONSISTENT,),
    ),
    Fault(
        "collective lost by stage 10",
        GATHER_ALL,
        _after(
            sdy_reshard_to_collectives.ReshardToCollectivesPass,
            _bypass(sdy.AllGatherOp),
        ),
        "10 sdy-reshard-to-collectives",
        (Mode.INCONSISTENT,),
    ),
    Fault(
        "a count from one taken for a batch",
        SHIFTED_ROWS,
        lambda patch: patch.setattr(offsets, "counted_dim", _counted_from_anywhere),
        "6 sdy-user-priority-propagate",
    ),
    Fault(
        "a computed slice that begins one later",
        COMPUTED_SLICE,
        lambda patch: patch.setattr(sum_dynamic_slices, "as_positions", _one_later),
        "8 sdy-insert-explicit-reshards",
    ),
    Fault(
        "operands swapped by the inliner",
        SUBTRACT,
        _after(inline.InlinePass, _swap_operands),
        "1 inline",
    ),
    Fault(
        "operands swapped by canonicalization",
        SUBTRACT,
        _after(CanonicalizePass, _swap_operands),
        "13 canonicalize",
    ),
    Fault(
        "crash in propagation",
        DOT,
        _after(less_traffic.LessTrafficPropagatePass, _crash),
        "6 sdy-user-priority-propagate",
        (Mode.CRASHED,),
    ),
    Fault(
        "invalid op",
        TRANSPOSE,
        _after(less_traffic.LessTrafficPropagatePass, _wrong_type),
        "6 sdy-user-priority-propagate",
        (Mode.INVALID,),
    ),
    Fault(
        "operands swapped in ttnn",
        SUBTRACT,
        _after(ttir_to_ttnn.ConvertTTIRToTTNNPass, _swap_in_ttnn),
        "convert-ttir-to-ttnn",
    ),
]
