"""Running a module: the global program, any half-lowered form, ttir and ttnn alike.

    results = run_module(module, [x, w])

or, inside an interpreter of one's own:

    interpreter = Interpreter(module)
    register_implementations(interpreter)
    results = interpreter.call_op("main", (x, w))
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, TupleType
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute

from ttxdsl.analysis.calls.call_graph import callees_first
from ttxdsl.analysis.calls.copies import MOST_RUN, require_few_copies
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import doing
from ttxdsl.dialects._tt.modules import device_module
from ttxdsl.dialects.boundary import require_structured
from ttxdsl.dialects.stablehlo.types import TokenType
from ttxdsl.interpreters.kernels.contraction import apart
from ttxdsl.interpreters.kernels.elements import (
    WIDER,
    DType,
    is_float,
    is_integer,
    tensor_of,
    widen,
)
from ttxdsl.interpreters.mesh.local_boundary import to_devices, to_whole, whole_type
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.runtime.engine import Devices, VirtualDevices, run_on
from ttxdsl.interpreters.runtime.limits import NO_LIMITS, Limits, bytes_of
from ttxdsl.interpreters.runtime.memory.footprint import (
    Footprint,
    footprint,
    most_held,
)
from ttxdsl.interpreters.runtime.regions import Rounding, session

Array = NDArray[Any]


JAX_DROPS = (
    "JAX drops arguments that a function does not use, unless it is jitted with"
    " keep_unused=True"
)
"""The hint for too many arguments."""


def register_implementations(interpreter: Interpreter) -> None:
    """Teach an xDSL interpreter func, stablehlo, chlo, sdy, ttir and ttnn on arrays.

    Values are NumPy arrays (`ttxdsl.interpreters.mesh.collectives` says how devices' values are
    laid out); implementations registered before for the same ops are replaced. Other
    dialects' implementations can be registered beside these.
    """
    # imported here: the dialects need not be loaded to use a kernel
    from ttxdsl.interpreters.ops.dialects import all_functions

    for functions in all_functions():
        interpreter.register_implementations(functions(), override=True)


def _kind(dtype: DType) -> str:
    if is_float(dtype):
        return "float"
    return "integer" if is_integer(dtype) else dtype.kind


def argument_of(value: ArrayLike | None, at: int, function: func.FuncOp) -> Any:
    """Return the array that argument `at` takes; None for a token.

    Plain Python numbers and lists take the argument's type if that is of their kind.

    Raises:
        CompileError: the value has another shape or type.
    """
    type_ = whole_type(function.function_type.inputs.data[at], function.arg_attrs, at)
    name = f"argument {at} of @{function.sym_name.data}"
    if isinstance(type_, TokenType) and value is None:
        return None
    if not isinstance(type_, TensorType):
        raise CompileError(f"{name} is of type {type_}, not a tensor", function)
    _, dtype = tensor_of(cast(Attribute, type_))
    plain = not hasattr(value, "dtype")
    try:
        array = np.asarray(value)
    except ValueError:  # rows of several lengths
        array = np.asarray(None)
    if array.dtype == object:
        shapely = hasattr(value, "shape") and not plain
        raise CompileError(
            f"{name} is given {type(value).__name__}, which "
            + ("has a shape but no values" if shapely else "is no array"),
            function,
            hint="give an array; Program.random_inputs() makes random ones",
        )
    if plain and array.dtype != dtype:
        fits = _kind(array.dtype) == _kind(dtype) or (
            array.dtype.kind in "biu" and dtype.kind != "b"
        )
        if fits:
            given, array = array, array.astype(WIDER.get(dtype, dtype)).astype(dtype)
            if is_integer(dtype) and not np.array_equal(widen(array), given):
                raise CompileError(
                    f"{name} is given numbers that {dtype} does not hold", function
                )
    _require_type(array, cast(Attribute, type_), at, function)
    return array


def require_argument(value: Any, at: int, function: func.FuncOp) -> None:
    """Raise a `CompileError` if an array has not the type of argument `at`."""
    type_ = whole_type(function.function_type.inputs.data[at], function.arg_attrs, at)
    _require_type(value, type_, at, function)


def _require_type(value: Any, type_: Attribute, at: int, function: func.FuncOp) -> None:
    name = f"argument {at} of @{function.sym_name.data}"
    shape, dtype = tensor_of(type_)
    if value.dtype != dtype:
        raise CompileError(
            f"{name} takes elements of type {dtype}, the value has {value.dtype}",
            function,
            hint=f"convert it: value.astype({dtype})",
        )
    sizes = zip(shape, value.shape, strict=False)
    if value.ndim != len(shape) or any(n not in (-1, m) for n, m in sizes):
        raise CompileError(
            f"{name} has type {type_}, the value has shape {value.shape}", function
        )


def run_module(
    module: ModuleOp,
    inputs: Sequence[ArrayLike | None],
    *,
    entry: str | None = None,
    limits: Limits = NO_LIMITS,
) -> tuple[Any, ...]:
    """Return the results of the entry function for global arrays, None for tokens.

    Args:
        module: the program, at any stage of the pipeline.
        inputs: one array an argument, of its shape and type; None for a token.
        entry: the function; `main` or the only public one unless given.

    Raises:
        CompileError: the inputs do not fit, an op cannot be run, or (`LimitError`) the
            run goes beyond a limit; before it starts if memory is not enough.
        ReplicaMismatchError: devices differ that should hold the same value.
    """
    return Runner(module, entry, limits).run(inputs)


class Runner:
    """The engine that runs a module op by op, on the virtual mesh unless told otherwise.

    Plans and constants stay for the next run; the module must not change in between.
    """

    def __init__(
        self,
        module: ModuleOp,
        entry: str | None = None,
        limits: Limits = NO_LIMITS,
        devices: Devices | None = None,
    ) -> None:
        """Find the entry function; see `entry_function`."""
        module = device_module(module)
        self.function = entry_function(module, entry)
        require_structured(module)
        if self.function.is_declaration:
            name = self.function.sym_name.data
            raise CompileError(f"'@{name}' is declared and has no body", self.function)
        self.limits = limits
        self._first_run = True
        self.interpreter = self.interpreter_of(module)
        register_implementations(self.interpreter)
        state = session(self.interpreter)
        state.planned = True
        if devices is not None:
            state.devices = devices

    def interpreter_of(self, module: ModuleOp) -> Interpreter:
        """Return the interpreter of the module."""
        return Interpreter(module)

    @property
    def devices(self) -> Devices:
        """The devices of the program's meshes."""
        return session(self.interpreter).devices

    @cached_property
    def footprint(self) -> Footprint:
        """The memory that a run holds, its arguments and results included."""
        return footprint(self.interpreter, self.function)

    @cached_property
    def _most_held(self) -> int:
        return most_held(self.interpreter.module)

    def require_room(self, there: int = 0) -> None:
        """Raise an error if a run needs more memory than it may have, or never ends.

        `there` are bytes that its arguments take already.
        """
        if self._first_run:
            callees_first(self.interpreter.module)  # refuses recursion
            require_few_copies(self.interpreter.module, MOST_RUN)
            self._require_no_tuples()
            self._first_run = False
        if not self.limits.has_room(self._most_held, there):
            self.limits.require_room(self.footprint, there)

    def _require_no_tuples(self) -> None:
        name = self.function.sym_name.data
        for at, type_ in enumerate(self.function.function_type.outputs):
            if isinstance(type_, TupleType):
                raise CompileError(
                    f"result {at} of '@{name}' is of type {type_}: a run gives tensors",
                    self.function,
                    hint="return the elements as values of their own",
                )

    def arguments(self, inputs: Sequence[ArrayLike | None]) -> list[Any]:
        """Return arrays of the types of the arguments; see `argument_of`."""
        function = self.function
        expected = len(function.function_type.inputs.data)
        if len(inputs) != expected:
            raise CompileError(
                f"@{function.sym_name.data} takes {expected} arguments, "
                f"{len(inputs)} were given",
                function,
                hint=JAX_DROPS if len(inputs) > expected else None,
            )
        return [argument_of(x, at, function) for at, x in enumerate(inputs)]

    def place(self, inputs: Sequence[ArrayLike | None]) -> tuple[Any, ...]:
        """Return whole arrays as the devices have them; see `Engine`."""
        args = self.arguments(inputs)
        self.require_room(bytes_of(args))
        return tuple(
            x if x is None else to_devices(self.devices, self.function, at, x)
            for at, x in enumerate(args)
        )

    def call(self, placed: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the results of the entry function on the devices; see `Engine`."""
        state = session(self.interpreter)
        state.max_steps, state.steps = self.limits.steps, 0
        state.channels.clear()
        state.probes.clear()
        state.loops.clear()  # an error may have left some
        state.running = None
        try:
            with doing(state.progress_text), apart(self.devices.apart):
                return self.interpreter.call_op(self.function, placed)
        except RecursionError as error:
            raise CompileError(
                "the program nests too deeply to be run", self.function
            ) from error

    def take(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return whole arrays of what `call` returned; see `Engine`."""
        return tuple(x if x is None else np.asarray(x) for x in self.leaving(results))

    def leaving(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the whole values of `call`'s results; scattered ones stay in parts."""
        # a token is nothing
        return tuple(
            x if x is None else to_whole(self.devices, self.function, at, x)
            for at, x in enumerate(results)
        )

    def run(
        self, inputs: Sequence[ArrayLike | None], rounding: Rounding | None = None
    ) -> tuple[Any, ...]:
        """Return the results for whole arrays; `rounding` changes every op's result."""
        state = session(self.interpreter)
        state.rounding = rounding
        try:
            return run_on(self, inputs)
        except ReplicaMismatchError:
            if not isinstance(state.devices, VirtualDevices) or state.devices.apart:
                raise
            return self._run_apart(inputs)
        finally:
            state.rounding = None

    def _run_apart(self, inputs: Sequence[ArrayLike | None]) -> tuple[Any, ...]:
        """Return the results with each device's products computed by themselves.

        In one product for all devices, BLAS may round a device's numbers differently
        from those of its replica.
        """
        state = session(self.interpreter)
        devices, state.devices = state.devices, VirtualDevices(apart=True)
        try:
            return run_on(self, inputs)
        finally:
            state.devices = devices
