"""Optimizations that are broken on purpose, one fault each: `check` must find them.

They are part of stage 11, which is blamed.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i64
from xdsl.ir import Operation, OpResult, SSAValue

from tests.insight.check.faults import Fault
from tests.transforms.collectives.programs import (
    CHEAPER,
    GATHERED_ALONG_TWO_AXES,
    PROGRAMS,
    TURN,
)
from tests.transforms.stages import shift_programs, test_batch_counting_indices
from ttxdsl.analysis.values import offsets
from ttxdsl.dialects import stablehlo
from ttxdsl.insight.check.failure import Mode
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.axes import Axes
from ttxdsl.transforms.collectives import (
    collective_cse,
    combine_all_reduces,
    combine_collectives,
    gather_product_operands,
    loop_collectives,
    move_collectives,
    narrow_all_gathers,
)
from ttxdsl.transforms.collectives.program import dims, positions
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.partition.emitter import Emitter
from ttxdsl.transforms.stages import (
    constant_places,
    frame_sources,
    frames,
    pad_carries,
    sum_dynamic_slices,
)

_RIGHT = dims.held_in
Plant = Callable[[pytest.MonkeyPatch], None]


def _instead(owner: object, name: str, wrong: Callable[..., Any]) -> Plant:
    return lambda patch: patch.setattr(owner, name, wrong)


def _as_it_is(program: DeviceProgram, value: SSAValue, *_: object) -> SSAValue:
    return value


def _first_one(
    program: DeviceProgram,
    devices: object,
    value: SSAValue,
    otherwise: SSAValue | None,
    before: object,
) -> SSAValue:
    return otherwise or value


_JOIN = combine_collectives._join  # pyright: ignore[reportPrivateUsage]


def _join_backwards(ops: Sequence[Operation]) -> Operation:
    values = [value for op in ops for value in op.operands]
    (use, *_) = [one for one in values[0].uses if one.operation is ops[0]]
    use.operation.operands[use.index] = values[-1]
    return _JOIN(ops)


_AT_ONCE = DeviceProgram.all_gather_at_once


def _minor_axes_first(self: Any, value: SSAValue, like: Any, axes: Axes, *rest: Any):
    return _AT_ONCE(self, value, like, tuple(reversed(axes)), *rest)


_PADDING = frame_sources.Windowed.padding


def _one_place_further(self: Any, place: Any, size: int) -> tuple[int, int]:
    low, high = _PADDING(self, place, size)
    return low - 1, high + 1


_SLICE = Emitter.slice


def _last_places(self: Emitter, value: SSAValue, starts: Any, limits: Any) -> SSAValue:
    by = [n - limit for n, limit in zip(shape_of(value), limits, strict=True)]
    return _SLICE(self, value, by, shape_of(value))


def _first_position(emit: Emitter, start: SSAValue) -> SSAValue:
    return emit.position(0)


_MOVED = gather_product_operands._moved  # pyright: ignore[reportPrivateUsage]


def _right_side_backwards(program: DeviceProgram, op: Operation, move: Any) -> SSAValue:
    made = _MOVED(program, op, move)  # pyright: ignore[reportArgumentType]
    product = op.operands[0].owner
    assert isinstance(product, stablehlo.DotGeneralOp)
    if move.value is product.rhs:
        assert isinstance(made.owner, stablehlo.AllGatherOp)
        made.owner.properties["replica_groups"] = DenseIntOrFPElementsAttr.from_list(
            TensorType(i64, [2, 4]), [7, 6, 5, 4, 3, 2, 1, 0]
        )
    return made


def _without_sum(
    self: DeviceProgram,
    value: SSAValue,
    like: Operation,
    axis: Any,
    dim: int,
    name: str,
) -> SSAValue:
    assert isinstance(value, OpResult) and value.op.next_op is not None
    return self.all_slice(value, (axis,), dim, value.op.next_op)


def _held_in_reverse(op: Operation, dim: int) -> Any:
    return [dim] if isinstance(op, stablehlo.ReverseOp) else _RIGHT(op, dim)


def _keeps_reversed(patch: pytest.MonkeyPatch) -> None:
    for module in (move_collectives, dims):
        patch.setattr(module, "held_in", _held_in_reverse)


def _reversed(name: str, sign: str) -> str:
    """The program with one operand turned round, and with that exchanged or gathered."""
    value = "tensor<8x8xf32>"
    return PROGRAMS[name].replace(
        f"%2 = stablehlo.{sign} %0, %1",
        f"%3 = stablehlo.reverse %0, dims = [0] : {value}\n"
        f"  %4 = stablehlo.reverse %1, dims = [0] : {value}\n"
        f"  %2 = stablehlo.{sign} %3, %4",
    )


def _of_the_outer(program: DeviceProgram, op: Operation, inner: Operation) -> Any:
    return program.axes(op)


_BASES = positions._bases  # pyright: ignore[reportPrivateUsage]


def _at_the_start(*arguments: Any) -> set[int] | None:
    return None if _BASES(*arguments) is None else {0}


_FAULTS: list[tuple[str, str, Plant]] = [
    (
        "sink-all-reduces: a term counts on every device",
        PROGRAMS["sink-all-reduces"],
        _instead(DeviceProgram, "on_one", _as_it_is),
    ),
    (
        "hoist-slices: scattered and not summed",
        PROGRAMS["hoist-slices"],
        _instead(DeviceProgram, "reduce_scatter", _without_sum),
    ),
    (
        "gather-product-operands: samples in two orders",
        PROGRAMS["gather-product-operands"],
        _instead(gather_product_operands, "_moved", _right_side_backwards),
    ),
    (
        "reduce-scatter-products: scattered and not summed",
        PROGRAMS["reduce-scatter-products"],
        _instead(DeviceProgram, "reduce_scatter", _without_sum),
    ),
    (
        "move-all-gathers: gathered behind a reverse",
        _reversed("move-all-gathers", "multiply"),
        _keeps_reversed,
    ),
    (
        "move-all-to-alls: exchanged behind a reverse",
        _reversed("move-all-to-alls", "subtract"),
        _keeps_reversed,
    ),
    (
        "combine-collective-permutes: everybody sends what the first one does",
        PROGRAMS["combine-collective-permutes"],
        _instead(DeviceProgram, "on_devices", _first_one),
    ),
    (
        "combine-collectives: each user gets another one's",
        PROGRAMS["combine-collectives"],
        _instead(combine_collectives, "_join", _join_backwards),
    ),
    (
        "combine-collectives: gathered in the order of the minor axis",
        GATHERED_ALONG_TWO_AXES,
        _instead(DeviceProgram, "all_gather_at_once", _minor_axes_first),
    ),
    (
        "combine-all-reduces: along one axis of two",
        PROGRAMS["combine-all-reduces"],
        _instead(combine_all_reduces, "_both", _of_the_outer),
    ),
    (
        "collective-cse: what is alike but for its operands",
        PROGRAMS["collective-cse"]
        .replace("stablehlo.negate %a", "stablehlo.reverse %a, dims = []", 1)
        .replace("stablehlo.negate %a", "stablehlo.reverse %a, dims = [0]"),
        _instead(collective_cse, "_same", lambda *_: True),
    ),
    (
        "narrow-all-gathers: another one",
        PROGRAMS["narrow-all-gathers"],
        _instead(narrow_all_gathers, "_stretch", lambda *_: (2, 3)),
    ),
    (
        "hoist-collectives: what each turn changes",
        PROGRAMS["hoist-collectives"].replace(
            "%whole = sdy.sharding_constraint %a",
            "\n".join([*TURN, "%whole = sdy.sharding_constraint %now"]),
        ),
        _instead(loop_collectives.Unchanged, "holds", lambda *_: True),
    ),
    (
        "sink-collectives: each device starts from the whole",
        PROGRAMS["sink-collectives"],
        _instead(DeviceProgram, "on_one", _as_it_is),
    ),
    (
        "move-all-gathers: positions begin anew on each device",
        CHEAPER["positions"][0],
        _instead(positions, "_bases", _at_the_start),
    ),
]

_BEFORE: list[tuple[str, str, Plant, str]] = [
    (
        "constant-places: not clamped",
        shift_programs.READ,
        _instead(constant_places, "_clamped", lambda *_: [0, 0]),
        "2 apply-tt-argument-annotations",
    ),
    (
        "frame-uneven-values: what is outside counts",
        shift_programs.SMOOTHNESS,
        _instead(
            frames.Frames, "masked", lambda self, _, place, __: self.written[place]
        ),
        "8 sdy-insert-explicit-reshards",
    ),
    (
        "batch-counting-indices: rows that count down",
        test_batch_counting_indices.gather(
            test_batch_counting_indices.WRONG["reversed"]
        ),
        _instead(offsets, "counted_dim", lambda *_: 0),
        "6 sdy-user-priority-propagate",
    ),
    (
        "sum-dynamic-slices: the first rows",
        shift_programs.COMPUTED_START,
        _instead(sum_dynamic_slices, "as_positions", _first_position),
        "8 sdy-insert-explicit-reshards",
    ),
    (
        "frame-uneven-values: windows of another place",
        shift_programs.WINDOWS,
        _instead(frame_sources.Windowed, "padding", _one_place_further),
        "8 sdy-insert-explicit-reshards",
    ),
    (
        "pad-carries: what was added is read",
        shift_programs.CARRY,
        _instead(pad_carries.Emitter, "slice", _last_places),
        "8 sdy-insert-explicit-reshards",
    ),
]

OPTIMIZATION_FAULTS = [
    Fault(name, program, plant, stage, (Mode.DIFFERS, Mode.REPLICAS))
    for name, program, plant, stage in (
        *((*fault, "11 update-global-to-local-shapes") for fault in _FAULTS),
        *_BEFORE,
    )
]
