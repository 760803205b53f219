"""Partition a program through all stages and compare its numbers with the global ones.

outcome, reason = partition_and_compare(module, seed)
"""

import random
import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_function,
    result_attributes,
    set_argument_attributes,
    set_result_attributes,
)
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import sdy
from ttxdsl.dialects.ttcore import SHARD_STATUS_ATTRIBUTE, ShardStatus, ShardStatusAttr
from ttxdsl.interpreters.kernels.elements import tensor_of
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.stages.even_out_shardings import leading_axes_that_divide

Array = NDArray[Any]

EQUAL, REFUSED, NOT_RUN = "equal", "refused", "not run"

MESHES: dict[str, Mesh] = {
    "1x2": Mesh((("a", 1), ("b", 2))),
    "2x4": Mesh((("x", 2), ("y", 4))),
    "1x8": Mesh((("a", 1), ("b", 8))),
    "2x2x2": Mesh((("x", 2), ("y", 2), ("z", 2))),
    "3x2": Mesh((("x", 3), ("y", 2))),
    "2x4 reordered": Mesh((("x", 2), ("y", 4)), (3, 1, 7, 5, 0, 2, 6, 4)),
}
"""The meshes of the corpus runs; 3x2 divides few of its sizes."""

MOVES = frozenset(
    f"stablehlo.{name}"
    for name in (
        "broadcast_in_dim", "concatenate", "constant", "dynamic_slice",
        "dynamic_update_slice", "gather", "iota", "pad", "reshape", "reverse",
        "slice", "transpose", "optimization_barrier", "return",
    )
)  # fmt: skip
"""Ops that only move data: their programs are checked with every element its index."""


TAKES_INDICES = frozenset(
    f"stablehlo.{name}" for name in ("dynamic_slice", "dynamic_update_slice", "gather")
)


def only_moves(module: ModuleOp) -> bool:
    """Whether the program changes no number, so that tagged inputs arrive exactly."""
    return all(
        op.name in MOVES or not op.name.startswith(("stablehlo.", "chlo."))
        for op in module.walk()
    )


def arguments_of(module: ModuleOp, seed: int, *, tagged: bool) -> list[Array]:
    """Random arguments, or ones whose every element is its own index."""
    rng = np.random.default_rng(seed)
    made: list[Array] = []
    indices = tagged and any(op.name in TAKES_INDICES for op in module.walk())
    for type_ in entry_function(module).function_type.inputs:
        shape, dtype = tensor_of(type_)
        values: Array
        if dtype.kind == "b":
            values = rng.integers(0, 2, shape)
        elif tagged and shape and not (indices and dtype.kind in "iu"):
            values = np.arange(int(np.prod(shape))).reshape(shape)
        elif dtype.kind in "iu":  # also as indices: in range and out of it
            values = rng.integers(-2 if dtype.kind == "i" else 0, 9, shape)
        elif dtype.kind == "c":
            values = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        else:
            values = rng.standard_normal(shape)
        # a processor may flag what only rounds to a narrow type, once in many runs
        with np.errstate(invalid="ignore"):
            made.append(np.asarray(values).astype(dtype))
    return made


def assert_same(found: Array, wanted: Array, *, exactly: bool = False) -> None:
    """Equal type and shape; integers exactly, others as far as sums allow."""
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    if wanted.dtype.kind in "biu":
        np.testing.assert_array_equal(found, wanted)
        return
    kind = "c16" if wanted.dtype.kind == "c" else "f8"
    exact = wanted.astype(kind)
    largest = np.abs(np.where(np.isfinite(exact), exact, 0)).max(initial=0)
    tolerance = 2e-4 if wanted.dtype.itemsize >= 4 else 4e-2
    if exactly:
        tolerance = 0.0
    np.testing.assert_allclose(
        found.astype(kind), exact, rtol=tolerance, atol=tolerance * (1 + float(largest))
    )


def reason_of(error: Exception) -> str:
    """The first line of a message without its numbers, names and place."""
    line = str(error).strip().splitlines()[0].split("error: ", 1)[-1]
    line = re.sub(r"[{(<][^{}()<>]*[})>]", "…", line)
    return re.sub(r"\d+", "N", line)[:110]


def partition_and_compare(module: ModuleOp, seed: int) -> tuple[str, str]:
    """Run all stages on a module, in place, checked after each; compare its numbers.

    Returns:
        `equal`, or `refused` or `not run` (the global program cannot be run on one
        device) with the reason.

    Raises:
        Exception: a wrong number, a broken invariant or a crash.
    """
    tagged = only_moves(module)
    bits = any(op.name == "stablehlo.bitcast_convert" for op in module.walk())
    try:
        arguments = arguments_of(module, seed, tagged=tagged)
        wanted = run_module(module.clone(), arguments)
    except Exception as error:
        return NOT_RUN, reason_of(error)
    with collect_remarks():
        try:
            TTStableHLOPipelinePass(verify_each=True).apply(make_context(), module)
        except UnsupportedError as error:
            return REFUSED, reason_of(error)
    try:
        found = run_module(module, arguments)
    except ReplicaMismatchError as error:
        # the same sum, done in another order by NumPy for another device
        if np.allclose(error.found, error.expected, rtol=1e-4, atol=1e-6):  # pyright: ignore[reportArgumentType]
            return NOT_RUN, "devices round the same sum differently"
        raise
    for one, other in zip(found, wanted, strict=True):
        if bits and other.dtype.kind in "iu" and not np.array_equal(one, other):
            return NOT_RUN, "compares the bits of numbers that are rounded otherwise"
        assert_same(one, other, exactly=tagged)
    return EQUAL, "tagged" if tagged else "random"


def with_even_borders(module: ModuleOp) -> ModuleOp:
    """The module with the axes left out that do not divide an argument or a result.

    JAX takes no such shardings either.
    """
    meshes = sdy.mesh_table(module)

    def even(
        shardings: Sequence[TensorSharding | None], types: Sequence[Attribute]
    ) -> list[TensorSharding | None]:
        made: list[TensorSharding | None] = []
        for sharding, type_ in zip(shardings, types, strict=True):
            if sharding is not None and isinstance(type_, TensorType):
                mesh = meshes[cast(str, sharding.mesh)]
                sharding = sharding.with_dims(
                    [
                        dim.with_axes(leading_axes_that_divide(dim.axes, size, mesh))
                        for dim, size in zip(
                            sharding.dims, type_.get_shape(), strict=True
                        )
                    ]
                )
            made.append(sharding)
        return made

    for function in module.ops:
        if isinstance(function, FuncOp):
            type_ = function.function_type
            sdy.set_func_shardings(
                function,
                even(sdy.func_argument_shardings(function), type_.inputs.data),
                even(sdy.func_result_shardings(function), type_.outputs.data),
            )
    return module


def with_statuses(module: ModuleOp, seed: int) -> ModuleOp:
    """The module with some of the arguments and results on the devices already."""
    rng = random.Random(f"statuses {seed}")
    function = entry_function(module)
    given = argument_attributes(function), result_attributes(function)
    for entries in given:
        for entry in entries:
            status = rng.choice((ShardStatus.SHARDED, ShardStatus.UNSHARDED))
            entry[SHARD_STATUS_ATTRIBUTE] = ShardStatusAttr(status)
    set_argument_attributes(function, given[0])
    set_result_attributes(function, given[1])
    return module


def random_even_sharding(
    rng: random.Random, mesh: Mesh, shape: Sequence[int]
) -> TensorSharding:
    """Most axes on dimensions that they divide; dimensions open now and then."""
    names = list(mesh.axis_names)
    rng.shuffle(names)
    dims: list[list[AxisRef]] = [[] for _ in shape]
    left = list(shape)
    for name in names:
        size = mesh.axis_size(name)
        fitting = [d for d in range(len(shape)) if left[d] and left[d] % size == 0]
        if fitting and rng.random() >= 0.25:
            dim = rng.choice(fitting)
            left[dim] //= size
            dims[dim].append(AxisRef(name))
    return TensorSharding(
        "mesh", tuple(DimSharding(tuple(dim), rng.random() < 0.7) for dim in dims)
    )


def sharded_program(text: str, mesh: Mesh, seed: str) -> ModuleOp | None:
    """A program of the corpus with random shardings on its border.

    Returns:
        None if it has shardings of its own.
    """
    module = parse_program(text)
    if sdy.mesh_table(module):
        return None
    rng = random.Random(seed)
    first = module.body.block.first_op
    assert first is not None
    module.body.block.insert_op_before(sdy.MeshOp("mesh", sdy.MeshAttr(mesh)), first)
    function = entry_function(module)

    def some(types: Sequence[Attribute], likely: float) -> list[TensorSharding | None]:
        return [
            random_even_sharding(rng, mesh, type_.get_shape())
            if isinstance(type_, TensorType)
            and type_.has_static_shape()
            and rng.random() < likely
            else None
            for type_ in types
        ]

    type_ = function.function_type
    sdy.set_func_shardings(
        function, some(type_.inputs.data, 0.9), some(type_.outputs.data, 0.3)
    )
    return module
