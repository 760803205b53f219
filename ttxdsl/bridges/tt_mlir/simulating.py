"""Run the stages that tt-mlir made on the virtual mesh, and compare with the program.

    checks = check_stages(compile_text(text), text, inputs)

Each stage is read, verified and run: its local StableHLO, ttir, ttnn. tt-mlir narrows
types (f64 to f32, i64 to i32, truth to bf16, complex numbers to pairs), and its arguments
and results that lie on the devices already are local: inputs are brought into that form,
results back. The first stage that differs is to blame, and of its ops those whose value
is not what the program's op of the same line computes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FileLineColLoc, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.analysis.values.reductions import summed_numbers
from ttxdsl.bridges.tt_mlir.compiler import Answer
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.dialects._tt.elementwise import ElementwiseOp, Typing
from ttxdsl.dialects._tt.modules import device_module
from ttxdsl.dialects.ttcore import (
    SHARD_STATUS_ATTRIBUTE,
    ShardStatus,
    ShardStatusAttr,
    meshes_of,
)
from ttxdsl.insight.check.trials import exact_results
from ttxdsl.interpreters.compare import compare, special_numbers, tolerance
from ttxdsl.interpreters.kernels import elementwise
from ttxdsl.interpreters.kernels.elements import (
    DType,
    compute_dtype,
    epsilon,
    is_complex,
    is_float,
    tensor_of,
)
from ttxdsl.interpreters.mesh.collectives import DeviceMesh
from ttxdsl.interpreters.mesh.local_boundary import padded, unpadded
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.ir.compat.faults.locations import ParsedLoc
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import parse_program
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.spec import TensorSharding

Array = NDArray[Any]

STAGES = ("shlo_compiler", "ttir", "ttnn")
"""The stages that are run, in order."""


@dataclass(frozen=True, slots=True)
class DifferentOp:
    """An op of a stage whose value is not that of the program's op on the same line."""

    op: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.op}: {self.why}"


@dataclass(frozen=True, slots=True)
class StageCheck:
    """The comparison of a stage with the program.

    Attributes:
        ok: whether every result is what the program's is.
        max_abs: the largest difference of an element; None if it was not run.
        why: what is wrong: it gives other numbers, none to compare, or we cannot read
            or run it.
        rounds: the types that it rounds to and the program does not, which the
            comparison allows for.
        ops: those of its ops that differ first, as far as lines tell.
        compared: whether its numbers were: what we cannot read or run, or what is
            mostly NaN or infinite on one device, too, is not wrong.
    """

    stage: str
    ok: bool
    max_abs: float | None
    why: str | None
    rounds: tuple[str, ...] = ()
    ops: tuple[DifferentOp, ...] = ()
    compared: bool = True

    @property
    def is_wrong(self) -> bool:
        """Whether the stage computes other results."""
        return self.compared and not self.ok

    def __str__(self) -> str:
        text = f"{self.stage}: {'equal' if self.ok else self.why}"
        if self.max_abs is not None:
            text += f" (max abs {self.max_abs:.3g})"
        if self.rounds:
            text += f", rounds to {', '.join(self.rounds)}"
        return "\n".join([text, *(f"  {op}" for op in self.ops)])


@dataclass
class _Values(Interpreter.Listener):
    """The last value of each line of the program, and which op made it."""

    of_line: dict[int, list[tuple[Operation, Array]]] = field(
        default_factory=dict[int, list[tuple[Operation, Array]]]
    )

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        line = _line(op)
        if (
            line is not None
            and len(results) == 1
            and isinstance(results[0], np.ndarray)
        ):
            self.of_line.setdefault(line, []).append((op, cast(Array, results[0])))


def _line(op: Operation) -> int | None:
    """Return the line of the program's text that an op comes from."""
    location = op.location
    if isinstance(location, ParsedLoc):
        return int(location.position.rsplit(":", 2)[1])
    if isinstance(location, FileLineColLoc) and location.filename.data == "-":
        return location.line.data
    return None


@dataclass(frozen=True)
class _Boundary:
    """The shardings of a stage's arguments and results that lie on the devices."""

    function: FuncOp
    mesh: DeviceMesh
    arguments: Mapping[int, TensorSharding]
    results: Mapping[int, TensorSharding]


def _boundary(module: ModuleOp) -> _Boundary:
    """Return the shardings that the local StableHLO gives arguments and results."""
    function = Runner(module).function
    arguments: dict[int, TensorSharding] = {}
    results: dict[int, TensorSharding] = {}
    mesh = DeviceMesh()
    end = function.body.block.last_op
    assert isinstance(end, ReturnOp)
    for op in function.body.block.ops:
        if not isinstance(op, sdy.ManualComputationOp):
            continue
        for value, sharding in zip(op.operands, op.in_shardings.data, strict=True):
            if value.owner is function.body.block:
                arguments[cast(Any, value).index] = sharding
        for at, value in enumerate(end.operands):
            if isinstance(value, OpResult) and value.op is op:
                results[at] = op.out_shardings.data[value.index]
        for sharding in (*op.in_shardings.data, *op.out_shardings.data):
            mesh_data = sdy.get_mesh(op, sharding)
            if mesh_data.axes:
                mesh = DeviceMesh(mesh_data.axes, mesh_data.device_ids)
    return _Boundary(function, mesh, arguments, results)


def _presharded(attributes: Attribute | None, at: int) -> bool:
    if not isinstance(attributes, ArrayAttr):
        return False
    entry = cast("ArrayAttr[Attribute]", attributes).data[at]
    if not isinstance(entry, DictionaryAttr):
        return False
    status = entry.data.get(SHARD_STATUS_ATTRIBUTE)
    return isinstance(status, ShardStatusAttr) and status.data != ShardStatus.UNSHARDED


def _dims(sharding: TensorSharding) -> list[list[AxisRef]]:
    return [list(dim.axes) for dim in sharding.dims]


class _Form:
    """One stage's way to say the program's values: types, pairs, places."""

    def __init__(self, module: ModuleOp, boundary: _Boundary) -> None:
        self.runner = Runner(module)
        self.function: FuncOp = self.runner.function
        self.boundary = boundary
        mesh = boundary.mesh
        meshes = meshes_of(self.function)
        if meshes is not None and len(meshes.meshes.data) == 1:
            own = meshes.meshes.data[0].get_shape()
            if mesh.rank and mesh.sizes == own[-mesh.rank :]:
                more = own[: -mesh.rank]
                axes = tuple((f"unit{at}", size) for at, size in enumerate(more))
                mesh = DeviceMesh((*axes, *mesh.axes))
        self.mesh = mesh

    def argument(self, value: Array, at: int, *, local: bool) -> Array:
        """Return a global value as argument number `at`."""
        value = padded(self.boundary.function, at, value)
        shape, dtype = tensor_of(self.function.function_type.inputs.data[at])
        halves = _halves(value.dtype, dtype) and len(shape) == value.ndim + 1
        value = _narrowed(value, dtype, paired=halves)
        if local and _presharded(self.function.arg_attrs, at):
            sharding = self.boundary.arguments.get(at)
            if sharding is not None:
                value = self.mesh.shard(value, self._split(sharding, value.ndim))
        if value.shape[value.ndim - len(shape) :] != shape:
            raise CompileError(
                f"argument {at} has shape {shape}, the program's is {value.shape}",
                self.function,
            )
        return value

    def result(self, value: Array, at: int, *, local: bool) -> Array:
        """Result number `at` as a global value."""
        shape, _dtype = tensor_of(self.function.function_type.outputs.data[at])
        if value.ndim == len(shape) and not self.mesh.rank:
            return value
        sharding = None
        if local and _presharded(self.function.res_attrs, at):
            sharding = self.boundary.results.get(at)
        dims: list[list[AxisRef]] = [[] for _ in shape]
        if sharding is not None:
            dims = self._split(sharding, len(shape))
        if value.ndim == len(shape) and not any(dims):
            return value
        whole = self.mesh.unshard(value, dims)
        return whole.reshape(whole.shape[self.mesh.rank :])

    def _split(self, sharding: TensorSharding, rank: int) -> list[list[AxisRef]]:
        dims = _dims(sharding)
        return dims + [[] for _ in range(rank - len(dims))]

    def run(
        self, inputs: Sequence[Array], *, local: bool, values: _Values | None = None
    ) -> tuple[Array, ...]:
        """Return the global results for global inputs."""
        arguments = [
            self.argument(value, at, local=local) for at, value in enumerate(inputs)
        ]
        if len(arguments) != len(self.function.function_type.inputs.data):
            raise CompileError("it takes another number of arguments", self.function)
        interpreter = self.runner.interpreter
        interpreter.listeners = () if values is None else (values,)
        results = interpreter.call_op(self.function, tuple(arguments))
        return tuple(
            np.asarray(
                unpadded(
                    self.boundary.function,
                    at,
                    self.result(np.asarray(value), at, local=local),
                )
            )
            for at, value in enumerate(results)
        )


def _halves(whole: DType, half: DType) -> bool:
    """Whether two numbers of one type hold one number of another."""
    return whole.kind == half.kind == "u" and whole.itemsize == 2 * half.itemsize


def _narrowed(value: Array, dtype: DType, *, paired: bool) -> Array:
    """Return a value as tt-mlir holds it: complex numbers are pairs, truth is a number.

    Args:
        paired: whether 64 bits are two halves, the lower one first.
    """
    if is_complex(value.dtype) and not is_complex(dtype):
        value = np.stack([np.real(value), np.imag(value)], axis=-1)
    if paired:
        return np.ascontiguousarray(value)[..., None].view(dtype)
    if value.dtype == dtype:
        return value
    if value.dtype.kind in "iu" and dtype.kind in "iu":
        return value.astype(dtype)
    return elementwise.convert(value, dtype)


def _truths(function: FuncOp, arguments: Sequence[DType]) -> set[SSAValue]:
    """Values that are truth, whatever type holds them: nothing is rounded in these."""
    truths: set[SSAValue] = {
        argument
        for argument, dtype in zip(function.body.block.args, arguments, strict=False)
        if dtype.kind == "b"
    }
    for op in function.body.block.ops:
        tensors = [operand for operand in op.operands if operand.type.name == "tensor"]
        truth = isinstance(op, ElementwiseOp) and op.SPEC.typing in (
            Typing.COMPARE,
            Typing.LOGICAL,
        )
        if truth or (tensors and all(tensor in truths for tensor in tensors)):
            truths.update(op.results)
    return truths


def _floats(module: ModuleOp, inputs: Sequence[DType] = ()) -> set[DType]:
    """Return the float types that a program rounds to."""
    dtypes: set[DType] = set()
    for function in (op for op in all_ops(module) if isinstance(op, FuncOp)):
        if function.is_declaration:
            continue
        main = function.sym_name.data == "main"
        truths = _truths(function, inputs if main else ())
        for op in all_ops(function):
            for value in op.results:
                if value.type.name != "tensor" or value in truths:
                    continue
                dtype = tensor_of(value.type)[1]
                if is_float(dtype):
                    dtypes.add(dtype)
                elif is_complex(dtype):
                    dtypes.add(np.dtype(f"f{dtype.itemsize // 2}"))
        for type in function.function_type.inputs:
            if type.name == "tensor" and not main:
                dtype = tensor_of(type)[1]
                dtypes |= {dtype} if is_float(dtype) else set()
    return dtypes


@dataclass(frozen=True)
class _Reference:
    """The program, run on one device."""

    inputs: tuple[Array, ...]
    results: tuple[Array, ...]
    exact: tuple[bool, ...]
    summed: int
    floats: set[DType]
    values: _Values


def _reference(module: ModuleOp, inputs: Sequence[ArrayLike]) -> _Reference:
    runner = Runner(module)
    values = _Values()
    runner.interpreter.listeners = (values,)
    arrays = tuple(np.asarray(input) for input in inputs)
    try:
        results = runner.run(arrays)
    except ReplicaMismatchError as error:
        raise CompileError(
            f"the program itself cannot be run on one device: {error.message}",
            position=error.position,
            hint=error.hint,
        ) from error
    floats = _floats(module) | {x.dtype for x in arrays if is_float(x.dtype)}
    exact, summed = exact_results(runner.function), summed_numbers(module)
    return _Reference(arrays, results, exact, summed, floats, values)


@np.errstate(all="ignore")
def check_stages(
    answer: Answer, program: str | ModuleOp, inputs: Sequence[ArrayLike]
) -> tuple[StageCheck, ...]:
    """Each stage of what tt-mlir made of a program against the program on one device.

    Args:
        answer: what `compile_text` said of the program's text.
        program: the text, or the module that it was parsed to.
        inputs: one global array an argument of the program.

    Raises:
        CompileError: the program itself cannot be read or run with these inputs.
            Or it says that devices hold the same, and they do not.
    """
    module = parse_program(program) if isinstance(program, str) else program
    reference = _reference(module, inputs)
    boundary: _Boundary | None = None
    checks: list[StageCheck] = []
    blamed = False
    for stage in STAGES:
        text = answer.stages.get(stage)
        if text is None:
            continue
        try:
            stage_module = parse_program(text, stage)
            if boundary is None:
                boundary = _boundary(device_module(stage_module))
            check = _check(stage, stage_module, boundary, reference, blame=not blamed)
        except CompileError as error:
            why = f"cannot be read: {error.message}"
            check = StageCheck(stage, False, None, why, compared=False)
        blamed = blamed or check.is_wrong
        checks.append(check)
    return tuple(checks)


def _check(
    stage: str,
    module: ModuleOp,
    boundary: _Boundary,
    reference: _Reference,
    *,
    blame: bool,
) -> StageCheck:
    local = stage != STAGES[0]
    form = _Form(module, boundary)
    floats = _floats(module, [x.dtype for x in reference.inputs])
    least = max((epsilon(dtype) for dtype in reference.floats), default=0.0)
    narrow = sorted(
        (dtype for dtype in floats if epsilon(dtype) > least),
        key=lambda dtype: epsilon(dtype),
    )
    rounds = tuple(str(dtype) for dtype in narrow)
    values = _Values()
    try:
        results = form.run(reference.inputs, local=local, values=values)
    except ReplicaMismatchError as error:
        return StageCheck(stage, False, None, error.message, rounds)
    except (CompileError, InterpretationError) as error:
        message = error.message if isinstance(error, CompileError) else str(error)
        why = f"cannot be run: {message}"
        return StageCheck(stage, False, None, why, rounds, compared=False)
    widest = max(
        (epsilon(dtype) for dtype in (*narrow, *reference.floats)), default=0.0
    )
    worst, wrong, unseen = 0.0, None, None
    for at, (actual, wanted) in enumerate(zip(results, reference.results, strict=True)):
        difference, message = _difference(
            actual, wanted, widest, reference.summed, reference.exact[at], narrow
        )
        worst = max(worst, difference)
        if message is not None:
            wrong = wrong or f"result {at}: {message}"
        elif (special := special_numbers(wanted)).is_most:
            unseen = unseen or f"result {at}: nothing compared: {special} elements"
    ops: tuple[DifferentOp, ...] = ()
    if wrong is not None and blame:
        ops = _blamed(values, reference, form.mesh, widest)
    why = wrong or unseen
    compared = wrong is not None or unseen is None
    return StageCheck(stage, why is None, worst, why, rounds, ops, compared)


def _difference(
    actual: Array,
    wanted: Array,
    rounding: float,
    summed: int,
    exact: bool,
    narrow: Sequence[DType] = (),
) -> tuple[float, str | None]:
    """Return the largest difference, and an error if it is more than rounding."""
    if wanted.dtype.kind == "b" and actual.dtype.kind != "b":
        actual = actual != 0  # any number but 0 is true
    paired = actual.shape == (*wanted.shape, 2) and _halves(wanted.dtype, actual.dtype)
    wanted = _narrowed(wanted, actual.dtype, paired=paired)
    if actual.shape != wanted.shape:
        return float("inf"), f"shape {actual.shape} instead of {wanted.shape}"
    atol: float | None = None
    if not epsilon(actual.dtype):
        rtol = 0.0
    elif exact:
        # moved, or rounded once; tt-mlir may take a few ops for that
        rtol, atol = 4 * max(rounding, epsilon(actual.dtype)), 0.0
    else:
        scale = tolerance(np.dtype(np.float32), summed) / epsilon(np.dtype(np.float32))
        rtol = scale * max(rounding, epsilon(actual.dtype))
    wide = compute_dtype(actual.dtype)
    if is_float(actual.dtype):
        for dtype in narrow:
            # out of the range of the narrower type
            wanted = wanted.astype(wide).astype(dtype).astype(actual.dtype)
    comparison = compare(actual.astype(wide), wanted.astype(wide), rtol=rtol, atol=atol)
    return comparison.max_abs, None if comparison.equal else str(comparison)


_MOST_OPS = 8
"""Of those that differ, named."""


def _guilt(op: Operation) -> int:
    """Return how likely a differing line is at fault; see `_blamed`."""
    if isinstance(op, sdy.ManualComputationOp):
        return 0  # its value is that of all ops inside it
    if op.name.startswith(("stablehlo.constant", "stablehlo.broadcast")):
        return 1  # ops derived from it may have its line and compute another value
    return 2


def _blamed(
    values: _Values, reference: _Reference, mesh: DeviceMesh, rounding: float
) -> tuple[DifferentOp, ...]:
    """Of the lines that differ those that say most, in order."""
    guilts = [*_different_ops(values, reference, mesh, rounding)]
    most = max((guilt for guilt, _ in guilts), default=0)
    return tuple(op for guilt, op in guilts if guilt == most)[:_MOST_OPS]


def _different_ops(
    values: _Values, reference: _Reference, mesh: DeviceMesh, rounding: float
) -> Iterator[tuple[int, DifferentOp]]:
    """Yield ops whose value is no part of the value of the program's op of that line."""
    for line, outcomes in values.of_line.items():
        known = reference.values.of_line.get(line)
        if known is None or len(known) != 1:
            continue
        op, value = outcomes[-1]
        wanted = known[0][1]
        if not _is_part(value, wanted, op, mesh, rounding, reference.summed):
            source = known[0][0]
            why = f"not what '{source.name}' computes there"
            yield _guilt(source), DifferentOp(op.name, line, why)


def _is_part(
    value: Array,
    wanted: Array,
    op: Operation,
    mesh: DeviceMesh,
    rounding: float,
    summed: int,
) -> bool:
    """Whether the devices hold the global value, split in any way."""
    shape, _dtype = tensor_of(op.results[0].type)
    wanted = _narrowed(wanted, value.dtype, paired=False)
    if mesh.rank and wanted.ndim > len(shape):
        # the expected values of the devices, if the program has them
        lead = wanted.shape[: wanted.ndim - len(shape)]
        if prod(lead) != mesh.num_devices or wanted.shape[len(lead) :] != shape:
            return True
        value = mesh.spread(value, len(shape), range(mesh.rank))
        return (
            _difference(value.reshape(wanted.shape), wanted, rounding, summed, False)[1]
            is None
        )
    if len(shape) != wanted.ndim or any(
        part == 0 or whole % part
        for whole, part in zip(wanted.shape, shape, strict=True)
    ):
        return True
    if prod(wanted.shape) // max(prod(shape), 1) > mesh.num_devices:
        return True
    explained = False
    for places in product((None, *range(len(shape))), repeat=mesh.rank):
        dims: list[list[AxisRef]] = [[] for _ in shape]
        parts = [1] * len(shape)
        for (name, size), place in zip(mesh.axes, places, strict=True):
            if place is not None:
                dims[place].append(AxisRef(name))
                parts[place] *= size
        if tuple(w // p for w, p in zip(wanted.shape, parts, strict=True)) != shape:
            continue
        explained = True
        try:
            whole = mesh.unshard(value, dims)
        except ReplicaMismatchError:
            continue
        whole = whole.reshape(whole.shape[mesh.rank :])
        if _difference(whole, wanted, rounding, summed, False)[1] is None:
            return True
    return not explained
