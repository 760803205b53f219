"""Stage 9: put the body of every entry function under one manual computation.

The computation takes the function's arguments and returns its results, sharded as
they are; one without a sharding is replicated on the mesh. It lists no manual axes
yet, so all shapes inside are still global: the next stages insert collectives, which
need global shapes, and stage 11 makes everything local.

Source: the design request, section 1.2.9; DESIGN section 5.
"""

from collections.abc import Iterable, Iterator, Mapping

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.analysis.graph_state import is_function_solved
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.boundary import require_one_block, require_tensors
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding


def wrapper_of(function: FuncOp) -> sdy.ManualComputationOp | None:
    """Return the computation that this stage wrapped the function's body in, if it did.

    It is the only op beside the return, returns exactly the function's results, and
    has no manual axes (stage 11 adds them).
    """
    block = function.body.blocks.first
    if block is None:
        return None
    first, last = block.first_op, block.last_op
    if (
        isinstance(first, sdy.ManualComputationOp)
        and isinstance(last, ReturnOp)
        and first.next_op is last
        and not first.manual_axes.data
        and tuple(last.arguments) == tuple(first.results)
    ):
        return first
    return None


def wrapping_mesh(function: FuncOp, meshes: Mapping[str, Mesh]) -> str | Mesh:
    """The mesh for values that say nothing: the one that the function's others use.

    Raises:
        CompileError: the module has no mesh with devices.
    """
    for sharding in _shardings(function):
        mesh = sharding.mesh
        if isinstance(mesh, Mesh):
            return mesh
        if mesh in meshes and not meshes[mesh].is_maximal:
            return mesh
    for name, mesh in meshes.items():
        if not (mesh.is_maximal or mesh.is_empty):
            return name
    raise CompileError(
        f"function '@{function.sym_name.data}' has no mesh to run on",
        function,
        hint="add an sdy.mesh, or run apply-shardy-argument-annotations first",
    )


def _shardings(function: FuncOp) -> Iterator[TensorSharding]:
    """Yield shardings in a function, arguments first: others are looked for if needed."""
    yield from filter(None, map(sdy.get_sharding, function.args))
    yield from sdy.written_shardings(function)


def _boundary_shardings(
    types: Iterable[Attribute],
    shardings: Iterable[TensorSharding | None],
    mesh: str | Mesh,
) -> sdy.TensorShardingPerValueAttr:
    """One sharding a value: the written one, else replicated (tokens have rank 0)."""
    return sdy.TensorShardingPerValueAttr(
        written or TensorSharding.fully_closed(mesh, sdy.tensor_rank(type_))
        for type_, written in zip(types, shardings, strict=True)
    )


def wrap_function(function: FuncOp, meshes: Mapping[str, Mesh]) -> None:
    """Wrap the body of one function with a body, in place.

    The block moves as it is, so that no op and no use has to be touched; the function
    gets a new entry block.

    Raises:
        UnsupportedError: the function has control flow between blocks, or takes or
            returns what is no tensor.
        CompileError: there is no mesh to run on.
    """
    require_tensors([function])
    require_one_block(function)
    mesh = wrapping_mesh(function, meshes)
    types = function.function_type
    arguments = sdy.func_argument_shardings(function)
    results = sdy.func_result_shardings(function)

    body = function.body.detach_block(0)
    old_return = body.last_op
    if not isinstance(old_return, ReturnOp):
        raise CompileError("the body does not end in func.return", function)
    new_return = sdy.ReturnOp.create(
        operands=old_return.operands, location=old_return.location
    )
    body.insert_op_before(new_return, old_return)
    body.erase_op(old_return)

    entry = Block(arg_types=types.inputs.data)
    count = len(body.args)
    for index, (outer, inner) in enumerate(zip(entry.args, body.args, strict=True)):
        outer.name_hint, inner.name_hint = inner.name_hint, f"arg{count + index}"
        outer.location = inner.location
    wrapper = sdy.ManualComputationOp.create(
        operands=entry.args,
        result_types=types.outputs.data,
        properties={
            "in_shardings": _boundary_shardings(types.inputs, arguments, mesh),
            "out_shardings": _boundary_shardings(types.outputs, results, mesh),
            "manual_axes": sdy.ManualAxesAttr(()),
        },
        regions=[Region(body)],
        location=function.location,
    )
    entry.add_ops(
        (
            wrapper,
            ReturnOp.create(operands=wrapper.results, location=new_return.location),
        )
    )
    function.body.add_block(entry)


class WrapUnderManualComputationPass(ModulePass):
    """Wrap the body of each entry function that is not solved or wrapped already."""

    name = "wrap-under-manual-computation"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: edges of functions are still there.
        """
        meshes = sdy.mesh_table(op)
        for function in entry_functions(op):
            if is_function_solved(function) or wrapper_of(function):
                continue
            for edge in ops_of_type(function, sdy.FuncDataFlowEdgeOp):
                raise CompileError(
                    "an edge of a function stays outside of manual computations",
                    edge,
                    hint="run sdy-sink-func-data-flow-edges before",
                )
            wrap_function(function, meshes)
