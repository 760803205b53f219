"""A per-device program as a function of JAX, on the devices that JAX has.

    step = ttxdsl.load("step.mlir").to_jax()
    state = step(state, batch)                    # jax.Arrays with NamedShardings
    many = jax.jit(lambda s, b: step(step(s, b), b))

JAX is given the program as it is, as one primitive whose lowering adds our functions to
the caller's module. It says of itself which part each device has, so the caller's program
need not know the mesh. JAX is imported when a function is made, not before.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttxdsl.analysis.boundary import BoundaryValue
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.bridges.jax.manual_sharding_export import ForXla, export_manual_sharding
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import stablehlo
from ttxdsl.interpreters.kernels.elements import tensor_of
from ttxdsl.interpreters.runtime.run import argument_of, require_argument
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import program_text
from ttxdsl.loading.trees import Calling, call_arguments

Values = tuple[Any, ...]


def _jax() -> Any:
    try:
        return import_module("jax")
    except ImportError as error:
        raise CompileError(
            "JAX is not installed, and it has the devices",
            hint="pip install 'ttxdsl[jax]'",
        ) from error


class _Source:
    """The text of a program; printed in JAX's own programs, it is a name."""

    def __init__(self, text: str, results: Sequence[tuple[tuple[int, ...], Any]]):
        self.text, self.results = text, results

    def __repr__(self) -> str:
        return f"<{len(self.text)} characters>"


@cache
def _primitive() -> Any:
    """Return the primitive that calls a program in a function that JAX traces."""
    jax = _jax()
    mlir: Any = import_module("jax.interpreters.mlir")
    ir: Any = import_module("jaxlib.mlir.ir")
    functions: Any = import_module("jaxlib.mlir.dialects.func")
    primitive: Any = import_module("jax.extend.core").Primitive("ttxdsl_program")
    primitive.multiple_results = True

    def results(*_: Any, program: _Source) -> list[Any]:
        return [jax.core.ShapedArray(*result) for result in program.results]

    def lower(context: Any, *arguments: Any, program: _Source) -> Any:
        caller: Any = context.module_context
        with caller.module.context:
            ours = ir.Module.parse(program.text)
        types = list(ir.SymbolTable(ours.operation)["main"].type.results)
        name = mlir.merge_mlir_modules(
            caller.module, primitive.name, ours, dst_symtab=caller.symbol_table
        )
        callee = ir.FlatSymbolRefAttr.get(name)
        return functions.CallOp(types, callee, list(arguments)).results

    primitive.def_abstract_eval(results)
    mlir.register_lowering(primitive, lower)
    return primitive


class JaxFunction:
    """A per-device program that is called with pytrees, also where JAX traces.

    As an `Engine` it takes and gives lists of whole arrays.

    Attributes:
        function: the entry function; types of whole arguments and results.
        mesh: a `jax.sharding.Mesh` of the program's axes.
        argument_shardings: a `NamedSharding` an argument of the program.
        result_shardings: the same of its results.
    """

    def __init__(
        self,
        module: ModuleOp,
        calling: Calling | None = None,
        devices: Sequence[Any] | None = None,
    ) -> None:
        """Make a function of a program, which is changed.

        Args:
            module: the program after stage 13.
            calling: of the JAX function that the program was made of.
            devices: JAX's, in the order of the program's numbers; the first of
                `jax.devices()` by default.

        Raises:
            CompileError: JAX is not installed, has too few devices, or has no arrays
                of an argument's or result's type.
        """
        jax = _jax()
        exported = export_manual_sharding(module)
        _load_lapack(jax, exported.module)
        self._calling = calling
        self.function: FuncOp = entry_function(exported.module)
        self.mesh = _mesh(jax, exported, devices)
        self.argument_shardings = [
            self._sharding(jax, argument) for argument in exported.arguments
        ]
        self.result_shardings = [
            self._sharding(jax, result) for result in exported.results
        ]
        types = self.function.function_type
        for type_ in (*types.inputs, *types.outputs):
            _require_arrays_of(jax, tensor_of(type_)[1])
        primitive = _primitive()
        source = _Source(
            program_text(exported.module, locations=True),
            [tensor_of(type_) for type_ in types.outputs],
        )

        def ttxdsl_program(*arrays: Any) -> Any:
            return tuple(primitive.bind(*arrays, program=source))

        self._jitted: Any = jax.jit(
            ttxdsl_program,
            in_shardings=tuple(self.argument_shardings),
            out_shardings=tuple(self.result_shardings),
            donate_argnums=tuple(exported.donated),
        )

    def _sharding(self, jax: Any, value: BoundaryValue) -> Any:
        dims = () if value.layout is None else value.layout.dims
        spec = [tuple(axis.name for axis in axes) or None for axes in dims]
        return jax.sharding.NamedSharding(self.mesh, jax.sharding.PartitionSpec(*spec))

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Return the results of the program, as `Program.simulate` gives them.

        Args:
            args: what `Program.simulate` takes. JAX's arrays that lie elsewhere are
                moved, others are put on the devices. Donated ones are gone afterwards.
            keywords: keyword arguments of the JAX function that the program is of.

        Returns:
            A tuple of `jax.Array`s, or what the function returns with such as leaves.

        Raises:
            CompileError: the arguments do not fit, or XLA refuses the program.
        """
        leaves = call_arguments(self._calling, args, keywords)
        results = self.call(self.place(leaves))
        return results if self._calling is None else self._calling.results(results)

    def lower(self, *args: Any, **keywords: Any) -> Any:
        """Return a `jax.stages.Lowered`, to be compiled and looked at.

        Args:
            args: as the function takes them, or `jax.ShapeDtypeStruct`s.
        """
        leaves = call_arguments(self._calling, args, keywords)
        return self._jitted.lower(*self.place(leaves))

    # --- an engine ------------------------------------------------------------

    def place(self, inputs: Sequence[Any]) -> Values:
        """Whole arrays where the program wants them; see `Engine`."""
        shardings = self.argument_shardings
        if len(inputs) != len(shardings):
            raise CompileError(
                f"the program takes {len(shardings)} arguments, {len(inputs)} were given"
            )
        return tuple(
            self._placed(at, *input_and_sharding)
            for at, input_and_sharding in enumerate(zip(inputs, shardings, strict=True))
        )

    def _placed(self, at: int, value: Any, sharding: Any) -> Any:
        jax = _jax()
        if isinstance(value, jax.ShapeDtypeStruct | jax.Array):
            require_argument(value, at, self.function)
            traced = not isinstance(value, jax.Array) or isinstance(
                value, jax.core.Tracer
            )
            if traced or value.sharding.is_equivalent_to(sharding, value.ndim):
                return value
            return jax.device_put(value, sharding)
        array = argument_of(value, at, self.function)
        # each process has only some of the devices, and puts its parts there
        return jax.make_array_from_callback(array.shape, sharding, array.__getitem__)

    def call(self, placed: Values) -> Values:
        """Return the results on the devices; see `Engine`."""
        jax = _jax()
        ir: Any = import_module("jaxlib.mlir.ir")
        try:
            return self._jitted(*placed)
        except (jax.errors.JaxRuntimeError, ir.MLIRError) as error:
            raise CompileError(f"XLA does not take the program: {error}") from error

    def take(self, results: Values) -> Values:
        """Return whole NumPy arrays, also of shards in other processes; see `Engine`."""
        gather: Any = import_module("jax.experimental.multihost_utils")
        return tuple(
            np.asarray(
                result
                if result.is_fully_addressable
                else gather.process_allgather(result, tiled=True)
            )
            for result in results
        )


def _load_lapack(jax: Any, module: ModuleOp) -> None:
    """Let JAX load its LAPACK, which it does only when it lowers a call of it itself."""
    calls = ops_of_type(module, stablehlo.CustomCallOp)
    if any(op.call_target_name.data.startswith("lapack_") for op in calls):
        jax.jit(jax.lax.linalg.cholesky).lower(np.eye(1, dtype=np.float32))


def _mesh(jax: Any, exported: ForXla, devices: Sequence[Any] | None) -> Any:
    """Return the mesh for JAX: at each place the device that the program has there."""
    there = list(jax.devices() if devices is None else devices)
    axes = exported.mesh.axes or (("device", 1),)
    sizes = [size for _, size in axes]
    if len(there) < prod(sizes):
        raise CompileError(
            f"the program runs on {prod(sizes)} devices, and there are {len(there)}",
            hint="virtual ones of a CPU are made by"
            f" XLA_FLAGS=--xla_force_host_platform_device_count={prod(sizes)},"
            " set before JAX is imported",
        )
    placed = np.array([there[number] for number in exported.numbers]).reshape(sizes)
    return jax.sharding.Mesh(placed, [name for name, _ in axes])


def _require_arrays_of(jax: Any, dtype: Any) -> None:
    """Raise if JAX has no arrays of an element type."""
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise CompileError(
            f"the program has {dtype} at its border, and JAX has no such arrays",
            hint='jax.config.update("jax_enable_x64", True)',
        )
