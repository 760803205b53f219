"""The table of ttir's and ttnn's ops: how each declaration is run, in both dialects.

Modules beside this one fill it, by the mnemonic that a declaration has in ttir (`repeat`
and a few others are ttnn's alone):

- `computed`: a function of the op and the arrays that it reads returns its result, or a
  tuple of results, in any element type: each is rounded to the op's, once.
- `compiled`: a function of the op returns its kernel of arrays (`CompiledOp`).
- `on_mesh`: a function of the mesh, the op and its arrays returns its result.
- `interpreted`: a function of the interpreter, the op and its operands' values.

Destinations of ttir and device handles of ttnn are left out: a result is a new value, and
which mesh an op works on is in the types. Fields of ops are read by name.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation, OpResult

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects._tt.op import TTOp
from ttxdsl.dialects.ttcore import ReduceType, device_mesh_name, meshes_of
from ttxdsl.interpreters.kernels import elementwise
from ttxdsl.interpreters.kernels.elements import DType, rank_of, tensor_of
from ttxdsl.interpreters.kernels.elementwise import Array, Kernel
from ttxdsl.interpreters.mesh.collectives import DeviceMesh
from ttxdsl.interpreters.ops.registry import (
    OpKernel,
    Run,
    compiles,
    computes,
    implements,
)
from ttxdsl.interpreters.runtime.compiled_op import CompiledOp
from ttxdsl.interpreters.runtime.regions import Values, session

TABLE: dict[str, Callable[[type[TTOp]], object]] = {}
"""The function that registers a kernel's op class, by mnemonic."""

_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])


def _entries(
    names: tuple[str, ...], register: Callable[[_FunctionT, type[TTOp]], object]
) -> Callable[[_FunctionT], _FunctionT]:
    def add(function: _FunctionT) -> _FunctionT:
        TABLE.update(dict.fromkeys(names, partial(register, function)))
        return function

    return add


def computed(*names: str) -> Callable[[_FunctionT], _FunctionT]:
    """Decorate a function of an op and its arrays."""
    return _entries(names, lambda f, op_class: computes(op_class)(partial(_rounded, f)))


def compiled(*names: str) -> Callable[[_FunctionT], _FunctionT]:
    """Decorate a compiler of ops."""
    return _entries(
        names, lambda f, op_class: compiles(op_class)(partial(_of_reads, f))
    )


def interpreted(
    *names: str, combines: bool = False
) -> Callable[[_FunctionT], _FunctionT]:
    """Decorate a function of the interpreter, an op and its operands' values."""
    return _entries(
        names,
        lambda f, op_class: implements(op_class, combines=combines)(
            partial(_run_reads, f)
        ),
    )


def on_mesh(*names: str, combines: bool = False) -> Callable[[_FunctionT], _FunctionT]:
    """Decorate a function of the mesh, an op and its arrays; see `registry.implements`."""
    return _entries(
        names,
        lambda f, op_class: implements(op_class, combines=combines)(
            partial(_run_on_mesh, f)
        ),
    )


def _rounded(kernel: OpKernel, op: TTOp, *args: Array) -> Any:
    results = kernel(op, *args[: len(op.reads)])
    if isinstance(results, tuple):
        return tuple(map(_of_type, cast("tuple[Array, ...]", results), op.results))
    return _of_type(results, op.results[0])


def _of_type(value: Array, result: OpResult) -> Array:
    return elementwise.convert(value, tensor_of(result.type)[1])


def _of_reads(
    compiler: Callable[[Any], Kernel | CompiledOp], op: TTOp
) -> Kernel | CompiledOp:
    code, count = compiler(op), len(op.reads)
    if count == len(op.operands):
        return code
    whole = code if isinstance(code, CompiledOp) else CompiledOp(code)

    def kernel(*args: Array) -> Array:
        return whole.kernel(*args[:count])

    def in_place(room: Sequence[Array], *args: Array) -> Array | None:
        return whole.in_place(room, *args[:count]) if whole.in_place else None

    return CompiledOp(kernel, in_place)


def _run_reads(known: Run, interpreter: Interpreter, op: TTOp, args: Values) -> Values:
    return known(interpreter, op, args[: len(op.reads)])


def _run_on_mesh(
    kernel: Callable[..., Any], interpreter: Interpreter, op: TTOp, args: Values
) -> Values:
    return (kernel(device_mesh(interpreter, op), op, *args[: len(op.reads)]),)


# meshes


def device_mesh(interpreter: Interpreter, op: Operation) -> DeviceMesh:
    """Return the mesh that the op's tensors live on; axes are called `axis0`, `axis1`, …

    Its name is in the encoding of tensors (`#ttcore.tensor_mesh`); `ttcore.meshes` of the
    module resolves it.

    Raises:
        CompileError: no encoding says which, and the module has not exactly one.
    """
    state = session(interpreter)
    if (mesh := state.meshes.get(op)) is None:
        mesh = _device_mesh(interpreter, op)
        same = not state.meshes or state.common_mesh == mesh
        state.common_mesh = mesh if same else None
        state.meshes[op] = mesh
    return mesh


def _device_mesh(interpreter: Interpreter, op: Operation) -> DeviceMesh:
    types = [value.type for value in (*op.results, *op.operands)]
    name = next((n for t in types if (n := device_mesh_name(t)) is not None), None)
    meshes = meshes_of(op)
    mesh = None
    if meshes is not None:
        if name is not None:
            mesh = meshes.get_mesh(name)
        elif len(meshes.meshes.data) == 1:
            mesh = meshes.meshes.data[0]
    if mesh is None:
        raise CompileError(
            f"the module has no mesh {name!r}" if name else "no tensor says its mesh",
            op,
            hint='declare it: module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" '
            "= 2x4>]>}",
        )
    axes = tuple((f"axis{at}", size) for at, size in enumerate(mesh.get_shape()))
    return session(interpreter).devices.mesh(axes)


# fields of ops

REDUCTIONS: Mapping[ReduceType, str] = {
    ReduceType.SUM: "add",
    ReduceType.PROD: "multiply",
    ReduceType.MAX: "maximum",
    ReduceType.MIN: "minimum",
}
"""Named reductions by tt-mlir's kinds."""


def number(attribute: Any, default: float = 0) -> Any:
    """Return the number of an attribute, or `default` where there is none."""
    return default if attribute is None else attribute.value.data


def number_of(attribute: Any, dtype: DType) -> Array:
    """Return an attribute's number in an element type, rounded once."""
    return elementwise.convert(np.array(number(attribute)), dtype)


def axis_of(attribute: Any, rank: int) -> int:
    """Return a dimension that an attribute names, counted from the last one: below 0."""
    return int(number(attribute)) % rank - rank


def shape_of(op: Operation, at: int = 0) -> tuple[int, ...]:
    """Return the shape of a result."""
    return tensor_of(op.results[at].type)[0]


def with_shape(op: Operation, x: Array, rank: int, at: int = 0) -> Array:
    """Return the elements of a value of `rank` in the shape of a result."""
    return elementwise.reshape(x, rank, shape_of(op, at))


def operands_by_name(op: Any, args: Values) -> dict[str, Array]:
    """Return the operands by the names that the op has for them."""
    values = {id(use): value for use, value in zip(op.operands, args, strict=False)}
    names = [name for name, _ in op.get_irdl_definition().operands]
    uses = {name: getattr(op, name) for name in names}
    return {name: values[id(use)] for name, use in uses.items() if id(use) in values}


def rank_of_operand(op: Any, name: str) -> int:
    """Return the rank of an operand."""
    return rank_of(getattr(op, name).type)
