"""One program under the annotations of another, or on a mesh of other sizes."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.insight.doctor.doctor import has_shardings
from ttxdsl.insight.doctor.meshes import (
    Candidate,
    apply_candidate,
    remove_shardings,
    written_meshes,
)


def carry_annotations(module: ModuleOp, other: ModuleOp) -> None:
    """Give a program the meshes and the boundary shardings of another one.

    Its own are replaced, and its sharding constraints are removed.

    Args:
        other: one whose entry function has the same argument and result types.

    Raises:
        CompileError: the types differ, or the program has a manual computation, whose
            shapes hold for its own mesh only.
    """
    function, given = entry_function(module), entry_function(other)
    if function.function_type != given.function_type:
        raise CompileError(
            f"the other program's entry function has the type {given.function_type},"
            f" not {function.function_type}",
            given,
            hint="annotations can be taken from a program with the same signature",
        )
    remove_shardings(module)
    for mesh in reversed(written_meshes(other)):
        point = InsertPoint.at_start(module.body.block)
        Rewriter.insert_op(sdy.MeshOp(mesh.sym_name.data, mesh.mesh.data), point)
    sdy.set_func_shardings(
        function, sdy.func_argument_shardings(given), sdy.func_result_shardings(given)
    )


def on_mesh(module: ModuleOp, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Resize the mesh of a program with shardings; the shape for one without.

    Raises:
        CompileError: the program's meshes have another number of axes.
    """
    if not shape or not has_shardings(module):
        return shape
    for mesh in written_meshes(module):
        names = [name for name, _ in mesh.mesh.data.axes]
        if names and len(names) != len(shape):
            raise CompileError(
                f"mesh-shape {'x'.join(map(str, shape))} has {len(shape)} axes, and the"
                f" program's mesh '@{mesh.sym_name.data}' has {len(names)}",
                mesh,
            )
        if names:
            candidate = Candidate(tuple(zip(names, shape, strict=True)))
            apply_candidate(module, entry_function(module), candidate)
            break
    return ()
