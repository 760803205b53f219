"""The per-device program of stage 13 as a global one that XLA partitions no further.

Its manual computations stay: they say which part of a tensor each device has, and XLA
leaves alone what is inside. Devices are numbered by their places in the mesh, since
whoever runs it says which device is where; shardings are at the border too, where XLA
looks for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from ttxdsl.analysis.graph_state import is_solved
from ttxdsl.dialects import sdy
from ttxdsl.errors import CompileError, UnsupportedError
from ttxdsl.interpreters.run import entry_function
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.reporting.boundary import BoundaryValue, arguments_of, results_of
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.solved.renumbering import renumber_devices


@dataclass(frozen=True, slots=True)
class ForXla:
    """A program for XLA: its entry is `@main`, with shardings and no other attributes.

    `mesh` says which device is at which place, by their numbers before; the module's
    own numbers are the places. It is None of a program on one device.
    """

    module: ModuleOp
    mesh: Mesh | None
    arguments: Sequence[BoundaryValue]
    results: Sequence[BoundaryValue]

    @property
    def devices(self) -> int:
        """How many it runs on."""
        return 1 if self.mesh is None else self.mesh.total_size


def for_xla(module: ModuleOp) -> ForXla:
    """A per-device program, changed in place, as XLA takes it.

    Raises:
        CompileError: it is not partitioned, or has something that XLA cannot do.
    """
    if not is_solved(module):
        raise CompileError("the program is not partitioned", module)
    function = entry_function(module)
    arguments, results = arguments_of(function), results_of(function)
    meshes = [one for one in ops_of_type(module, sdy.MeshOp) if one.mesh.data.axes]
    mesh = meshes[0].mesh.data if meshes else None
    if any(one.mesh.data != mesh for one in meshes):
        raise UnsupportedError("the program has several meshes", meshes[-1])
    if mesh is not None:
        renumber_devices(
            module, {one: place for place, one in enumerate(mesh.devices())}
        )
        for one in meshes:
            one.properties["mesh"] = sdy.MeshAttr(Mesh(mesh.axes))
            one.attributes.clear()
        # a mesh of axes without devices has a name too
        _say_border(function, meshes[0].sym_name.data, arguments, results)
    for op in module.ops:
        if isinstance(op, FuncOp) and op is not function:
            op.arg_attrs = op.res_attrs = None
    function.sym_name = StringAttr("main")
    module.attributes.clear()
    return ForXla(module, mesh, arguments, results)


def _say_border(
    function: FuncOp,
    mesh: str,
    arguments: Sequence[BoundaryValue],
    results: Sequence[BoundaryValue],
) -> None:
    """Let the arguments and results of a function say their shardings, and no more."""

    def said(values: Sequence[BoundaryValue]) -> list[TensorSharding | None]:
        return [
            None
            if one.layout is None
            else TensorSharding(mesh, one.layout.sharding.dims)
            for one in values
        ]

    function.arg_attrs = function.res_attrs = None
    sdy.set_func_shardings(function, said(arguments), said(results))
