"""From a partitioned StableHLO program to ttir.

The input is what the thirteen stages make: functions whose computing ops are in an
`sdy.manual_computation` over all mesh axes. Its body becomes device code; `mesh_shard`s
bring the operands to the devices and the results back; ops outside of it become host
code. A module without any manual computation, and without shardings, runs as a whole on
all devices alike (on one, if it has no mesh).

Calls and composites are lowered in place, so private functions vanish; `sdy.mesh` ops
become the module attribute `ttcore.meshes`. How each op is lowered is in the tables of
the `lower_*` files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ttxdsl.analysis.calls.copies import require_few_copies
from ttxdsl.conversion.cleanup import drop_unused
from ttxdsl.conversion.stablehlo_to_ttir.builder import TTIRBuilder
from ttxdsl.conversion.stablehlo_to_ttir.local_boundary import write_boundary
from ttxdsl.conversion.stablehlo_to_ttir.lowering import (
    DeviceGrid,
    Lowering,
    Rule,
    registered_lowerings,
)
from ttxdsl.conversion.stablehlo_to_ttir.ops import (
    broadcasting,
    collective,
    contraction,
    control_flow,
    data_movement,
    elementwise,
    extension_ops,
    indexing,
    normalization,
    reduction,
    sort,
    windowed,
)
from ttxdsl.conversion.stablehlo_to_ttir.ops.collective import (
    gather_along,
    keep_on_first,
    keep_part,
    sum_along,
)
from ttxdsl.conversion.stablehlo_to_ttir.placement import Placement, place
from ttxdsl.conversion.vocabulary import (
    HARDWARE_AXES,
    LoweringPass,
    Vocabulary,
    require_hardware_axes,
)
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import sdy, stablehlo, ttir
from ttxdsl.dialects.boundary import require_structured, require_tensors
from ttxdsl.dialects.replica_groups import counts_replicas
from ttxdsl.dialects.stablehlo.types import TokenType
from ttxdsl.dialects.ttcore import (
    MESHES_ATTRIBUTE,
    SHARD_STATUS_ATTRIBUTE,
    MeshAttr,
    MeshesAttr,
    MeshShardDirection,
    MeshShardType,
    ShardStatus,
    ShardStatusAttr,
)
from ttxdsl.ir.collector import discard_block, without_collections
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.tensors import Tensor, element_of, shape_of, tensor_type
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import Groups, groups_along, indices_along
from ttxdsl.sharding.spec import ReductionKind, TensorSharding

TABLE: dict[str, Rule] = {
    **elementwise.TABLE,
    **extension_ops.TABLE,
    **data_movement.TABLE,
    **indexing.TABLE,
    **normalization.TABLE,
    **broadcasting.TABLE,
    **reduction.TABLE,
    **sort.TABLE,
    **windowed.TABLE,
    **contraction.TABLE,
    **collective.TABLE,
    **control_flow.TABLE,
}
"""How every op that can be lowered is lowered, by its name."""

DEFAULT_MESH = "mesh"
"""Name of the one-device mesh of a module that has none."""


def convert_stablehlo_to_ttir(
    module: ModuleOp,
    vocabulary: Vocabulary = Vocabulary.DESIGN,
    *,
    destinations: bool = True,
) -> None:
    """Replace the StableHLO of a partitioned module by ttir, in place.

    Args:
        module: what the thirteen stages made.
        destinations: whether ops get them; tt-mlir's have none.

    Raises:
        UnsupportedError: an op, a type or a distribution that ttir cannot say.
        CompileError: the module is not partitioned, or contradicts itself.
    """
    in_dps = destinations and vocabulary == Vocabulary.DESIGN
    _ModuleLowering(module, vocabulary, in_dps=in_dps).run()


@dataclass(frozen=True)
class ConvertStableHLOToTTIRPass(LoweringPass):
    """Lower a partitioned StableHLO program to ttir.

    `for=tt-mlir` writes the forms that tt-mlir takes instead of the design's. With
    `destinations=false` ops have no destinations. ttnn has none, so a lowering to ttnn
    needs only half of the ops.
    """

    name = "convert-stablehlo-to-ttir"

    destinations: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        with without_collections():
            convert_stablehlo_to_ttir(
                op, self.vocabulary, destinations=self.destinations
            )


class _ModuleLowering:
    """Lowers the functions of one module, and collects the meshes they use."""

    def __init__(self, module: ModuleOp, vocabulary: Vocabulary, *, in_dps: bool):
        self.module = module
        self.vocabulary = vocabulary
        self.in_dps = in_dps
        self.meshes = sdy.mesh_table(module)
        self.functions = {
            op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)
        }
        self.used: dict[str, MeshAttr] = {}
        self.present: dict[SSAValue, Placement] = {}
        """Arguments that have their local types, for tt-mlir, and how they lie."""
        self.staying: dict[SSAValue, Placement] = {}
        """Results that stay on the devices, for tt-mlir, and how they lie."""
        self._placements = IdentityMemo[Placement]()

    def run(self) -> None:
        """Lower every entry function; drop all others and the meshes' ops."""
        require_structured(self.module)
        require_few_copies(self.module)
        private = StringAttr("private")
        # bodies of calls are needed where the calls are not lowered to other ops
        bodies = _called_from_outside(self.module, stablehlo.CustomCallOp)
        entries = {
            name: function
            for name, function in self.functions.items()
            if function.sym_visibility != private and not function.is_declaration
        }
        for name, function in entries.items():
            if name not in bodies:
                self._entry(function)
        addition = ttir.ADDITION_OPS["stablehlo.custom_call"]
        called = _called_from_outside(self.module, addition)
        for name, function in entries.items():
            if name in bodies & called:
                self._entry(function)
        for op in list(self.module.ops):
            if isinstance(op, sdy.MeshOp) or (
                isinstance(op, FuncOp)
                and (op.sym_visibility == private or op.sym_name.data in bodies)
                and op.sym_name.data not in called
            ):
                op.detach()
                op.erase(safe_erase=False)
            elif isinstance(op, FuncOp) and op.is_declaration:
                sdy.drop_func_shardings(op)  # their meshes are gone
        if self.used:  # none without a function that computes
            self.module.attributes[MESHES_ATTRIBUTE] = MeshesAttr(self.used.values())

    def _entry(self, function: FuncOp) -> None:
        require_tensors([function])
        self._function(function)

    # --- meshes -------------------------------------------------------------

    def _devices(self, mesh: Mesh | None, name: str, where: Operation) -> DeviceGrid:
        """Register a mesh as used; None stands for a single device.

        Raises:
            UnsupportedError: tt-mlir's have fewer axes.
        """
        if mesh is None or not mesh.axes:
            devices = DeviceGrid(name, ("x", "y"), (1, 1), (0,))
        else:
            axes = [
                mesh.axes[at] if at is not None else ("_", 1)
                for at in self._device_axes(mesh)
            ]
            names, sizes = zip(*axes, strict=True)
            if self.vocabulary == Vocabulary.TT_MLIR:
                require_hardware_axes(sizes, where)
            devices = DeviceGrid(name, names, sizes, mesh.devices())
        self.used.setdefault(name, MeshAttr(name, devices.shape))
        return devices

    def _device_axes(self, mesh: Mesh) -> tuple[int | None, ...]:
        """Return the mesh axis of each axis of the devices; None for one of size 1.

        Devices have two axes. Axes beyond two are left out if they are of size 1; for
        tt-mlir there are never fewer.
        """
        axes: list[int | None] = [*range(len(mesh.axes))]
        for at in reversed(range(len(mesh.axes))):
            if len(axes) > HARDWARE_AXES and mesh.axis_sizes[at] == 1:
                axes.remove(at)
        if self.vocabulary == Vocabulary.TT_MLIR:
            axes = [*(None for _ in range(HARDWARE_AXES - len(axes))), *axes]
        return tuple(axes)

    def _placement(
        self, sharding: TensorSharding, mesh: Mesh, where: Operation
    ) -> Placement:
        """Return a tensor's placement on the axes of the devices."""
        key = id(sharding), id(mesh)
        if key not in self._placements:
            placement = _placement(sharding, mesh, where)
            given, axes = placement.shard_dims, self._device_axes(mesh)
            dims = tuple(-1 if at is None else given[at] for at in axes)
            placement = replace(placement, shard_dims=dims)
            self._placements.keep(key, placement, sharding, mesh)
        return self._placements[key]

    def _only_mesh(self) -> tuple[Mesh | None, str]:
        """Return the module's first mesh with axes, and its name."""
        for name, mesh in self.meshes.items():
            if mesh.axes:
                return mesh, name
        return None, DEFAULT_MESH

    def _mesh_of(self, op: sdy.ManualComputationOp) -> tuple[Mesh | None, str]:
        """Return the mesh of a manual computation's shardings.

        Raises:
            UnsupportedError: two shardings speak of different meshes.
        """
        known: tuple[Mesh | None, str] | None = None
        shardings = (*op.in_shardings.data, *op.out_shardings.data)
        for name, _ in groupby(sharding.mesh for sharding in shardings):
            mesh = sdy.get_mesh(op, name)
            if not mesh.axes:
                continue
            if known is not None and known[0] != mesh:
                raise UnsupportedError(
                    f"it speaks of two meshes, {known[0]} and {mesh}", op
                )
            known = (mesh, self._name(name, mesh))
        return known or self._only_mesh()

    def _name(self, name: str | Mesh, mesh: Mesh) -> str:
        if isinstance(name, str):
            return name
        named = (name for name, other in self.meshes.items() if other == mesh)
        return next(named, DEFAULT_MESH)

    # --- functions ----------------------------------------------------------

    def _function(self, function: FuncOp) -> None:
        old = function.body.block
        block = Block(arg_types=old.arg_types)
        host = TTIRBuilder(block, None, function.location, self.vocabulary, self.in_dps)
        computations = any(isinstance(op, sdy.ManualComputationOp) for op in old.ops)
        results = (
            self._host_code(function, host)
            if computations
            else self._same_everywhere(function, host)
        )
        host.add(ReturnOp(*results))
        drop_unused(block)
        region = function.body
        region.detach_block(old)
        region.add_block(block)
        discard_block(old)
        sdy.drop_func_shardings(function)
        if self.vocabulary == Vocabulary.TT_MLIR:
            end = block.last_op
            assert end is not None
            write_boundary(
                function,
                [(arg.type, self.present.get(arg)) for arg in block.args],
                [(value.type, self.staying.get(value)) for value in end.operands],
            )

    def _lowering(self, builder: TTIRBuilder, devices: DeviceGrid | None) -> Lowering:
        table: dict[str, Rule] = {**TABLE, **registered_lowerings()}
        if devices is None:
            table["sdy.manual_computation"] = self._manual
        return Lowering(
            builder, table, self.functions, devices, counts_replicas(self.module)
        )

    def _host_code(self, function: FuncOp, host: TTIRBuilder) -> Sequence[SSAValue]:
        """Ops around the manual computations run on the host."""
        low = self._lowering(host, None)
        old = function.body.block
        low.values.update(zip(old.args, host.block.args, strict=True))
        return low.lower_ops(old, once=True)

    def _same_everywhere(
        self, function: FuncOp, host: TTIRBuilder
    ) -> Sequence[SSAValue]:
        """Return the whole function on every device, on the same data.

        Raises:
            CompileError: there are shardings, so the module waits to be partitioned.
        """
        _require_no_shardings(function)
        mesh, name = self._only_mesh()
        devices = self._devices(mesh, name, function)
        low = self._lowering(host.in_place(name), devices)
        old = function.body.block
        for index, (before, given) in enumerate(
            zip(old.args, host.block.args, strict=True)
        ):
            if isinstance(before.type, TokenType):
                low.values[before] = given
                continue
            present = _is_sharded(_entry(function.arg_attrs, index))
            low.values[before] = self._shard(
                low, given, present, _replicated(low, given)
            )
        results = low.lower_ops(old, once=True)
        stay = [
            _is_sharded(_entry(function.res_attrs, at)) for at in range(len(results))
        ]
        return [
            value
            if isinstance(value.type, TokenType)
            else self._unshard(low, value, stays, _replicated(low, value))
            for value, stays in zip(results, stay, strict=True)
        ]

    # --- manual computations ------------------------------------------------

    def _manual(
        self, outer: Lowering, op: sdy.ManualComputationOp
    ) -> Sequence[SSAValue]:
        """Return the body as device code between mesh_shards."""
        mesh, name = self._mesh_of(op)
        devices = self._devices(mesh, name, op)
        _require_all_axes_manual(op, mesh)
        low = self._lowering(outer.builder.in_place(name), devices)
        low.builder.location = op.location
        mesh = mesh or Mesh((("x", 1), ("y", 1)))
        block = op.body.block
        for operand, argument, sharding in zip(
            op.operands, block.args, op.in_shardings.data, strict=True
        ):
            low.values[argument] = self._bring(
                low,
                outer[operand],
                argument,
                self._placement(sharding, mesh, op),
                mesh,
                present=_argument_is_sharded(operand),
                where=op,
            )
        results = low.lower_ops(block, once=True)
        low.builder.location = op.location
        return [
            self._take_back(
                low,
                value,
                result,
                self._placement(sharding, mesh, op),
                mesh,
                stays=_result_is_sharded(result),
                where=op,
            )
            for value, result, sharding in zip(
                results, op.results, op.out_shardings.data, strict=True
            )
        ]

    def _bring(
        self,
        low: Lowering,
        value: SSAValue,
        argument: SSAValue,
        placement: Placement,
        mesh: Mesh,
        *,
        present: bool,
        where: Operation,
    ) -> SSAValue:
        """A host value as the devices' local one, of the shape that the body expects."""
        if isinstance(value.type, TokenType):
            return value
        placement = placement.in_place() if present else placement
        self._require_even(tensor_type(value), placement, where)
        value = self._shard(low, value, present, placement)
        if placement.moves:
            value = low.builder.collective_permute(value, placement.moves)
        for dim, axes in placement.picks:
            parts = indices_along(mesh, axes)
            value = keep_part(low, value, dim, max(parts) + 1, parts)
        if placement.summed and not present:
            value = keep_on_first(low, value, placement.device_summands)
        self._require_shape(value, tensor_type(argument), where)
        return value

    def _take_back(
        self,
        low: Lowering,
        value: SSAValue,
        result: SSAValue,
        placement: Placement,
        mesh: Mesh,
        *,
        stays: bool,
        where: Operation,
    ) -> SSAValue:
        """Return the devices' local values as one host value of the global shape."""
        if isinstance(value.type, TokenType):
            return value
        placement = placement.in_place() if stays else placement
        if placement.summed and not stays:
            value = sum_along(
                low, value, _positions_along(mesh, placement.summed), where
            )
        for dim, axes in placement.picks:
            value = gather_along(low, value, dim, _positions_along(mesh, axes), where)
        if placement.moves:
            back = [(target, source) for source, target in placement.moves]
            value = low.builder.collective_permute(value, back)
        whole = self._unshard(low, value, stays, placement)
        if whole is not value:
            self._require_shape(whole, tensor_type(result), where)
        return whole

    def _shard(
        self, low: Lowering, value: SSAValue, present: bool, placement: Placement
    ) -> SSAValue:
        """Bring a value to the devices, unless it is `present` there."""
        shape = [
            size // parts
            for size, parts in zip(shape_of(value), placement.shard_shape, strict=True)
        ]
        local = low.builder.type(shape, element_of(value))
        if self.vocabulary == Vocabulary.TT_MLIR and present:
            return self._present(low, value, local, placement)
        return _mesh_shard(
            low.builder,
            value,
            local,
            MeshShardDirection.FULL_TO_SHARD,
            present,
            placement,
        )

    def _present(
        self, low: Lowering, value: SSAValue, local: Tensor, placement: Placement
    ) -> SSAValue:
        """An argument that is on the devices: tt-mlir gives it the local type."""
        if not isinstance(value, BlockArgument) or value in self.present:
            raise UnsupportedError(
                "an argument on the devices is used by two computations, which tt-mlir "
                "cannot say",
                value.block.parent_op() if isinstance(value, BlockArgument) else None,
            )
        present = Rewriter.replace_value_with_new_type(value, local)
        self.present[present] = placement
        return present

    def _unshard(
        self, low: Lowering, value: SSAValue, stays: bool, placement: Placement
    ) -> SSAValue:
        """Bring a value to the host, unless it `stays` on the devices."""
        if self.vocabulary == Vocabulary.TT_MLIR and stays:
            self.staying[value] = placement
            return value
        host = low.builder.in_place(None)
        shape = [
            size * parts
            for size, parts in zip(shape_of(value), placement.shard_shape, strict=True)
        ]
        whole = host.type(shape, element_of(value))
        return _mesh_shard(
            host, value, whole, MeshShardDirection.SHARD_TO_FULL, stays, placement
        )

    def _require_even(
        self, type: Tensor, placement: Placement, where: Operation
    ) -> None:
        for dim, (size, parts) in enumerate(
            zip(type.get_shape(), placement.shard_shape, strict=True)
        ):
            if size % parts:
                raise UnsupportedError(
                    f"dimension {dim} of size {size} does not split in {parts} parts",
                    where,
                )

    def _require_shape(self, value: SSAValue, wanted: Tensor, where: Operation) -> None:
        if shape_of(value) != wanted.get_shape():
            raise CompileError(
                f"the sharding gives shape {shape_of(value)}, the program says "
                f"{wanted.get_shape()}",
                where,
                hint="run update-global-to-local-shapes first",
            )


# --- questions to the input program -----------------------------------------


def _placement(sharding: TensorSharding, mesh: Mesh, where: Operation) -> Placement:
    """Return a tensor's placement; a sharding on a mesh without axes splits nothing.

    Raises:
        UnsupportedError: devices hold parts of a maximum or minimum, which the tables of
            mesh_shard, made for summands, do not know.
    """
    if sharding.reduction is not ReductionKind.SUM:
        raise UnsupportedError(
            f"a value that enters or leaves the devices as {sharding} is not lowered:"
            " only sums cross in parts",
            where,
            hint="reduce it on the devices: leave the unreduced axes out",
        )
    if sharding.is_replicated:
        count = len(mesh.axes)
        return Placement((1,) * len(sharding.dims), (-1,) * count)
    return place(sharding, mesh)


def _positions_along(mesh: Mesh, axes: Axes) -> Groups:
    """The groups of device positions, not ids, that differ along the axes only."""
    return groups_along(mesh.without_device_ids(), axes)


def _mesh_shard(
    build: TTIRBuilder,
    value: SSAValue,
    result: Tensor,
    direction: MeshShardDirection,
    in_place: bool,
    placement: Placement,
) -> SSAValue:
    """Append a mesh_shard; of data in place it has tables of parts and summands."""
    kind = MeshShardType.DEVICES
    if in_place:
        kind = MeshShardType.IDENTITY
    elif placement.is_replicated:
        kind = MeshShardType.REPLICATE
    return build.mesh_shard(
        value,
        result,
        kind,
        direction,
        placement.shard_shape,
        placement.shard_dims,
        placement.device_parts if in_place else (),
        placement.device_summands if in_place else (),
    )


def _replicated(low: Lowering, value: SSAValue) -> Placement:
    axes = 0 if low.devices is None else len(low.devices.shape)
    return Placement((1,) * len(shape_of(value)), (-1,) * axes)


def _is_sharded(entry: Mapping[str, Attribute]) -> bool:
    status = entry.get(SHARD_STATUS_ATTRIBUTE)
    return isinstance(status, ShardStatusAttr) and status.data != ShardStatus.UNSHARDED


def _argument_is_sharded(operand: SSAValue) -> bool:
    """Whether an operand is a function argument whose data is on the devices."""
    if not isinstance(operand, BlockArgument):
        return False
    function = operand.block.parent_op()
    if not isinstance(function, FuncOp):
        return False
    return _is_sharded(_entry(function.arg_attrs, operand.index))


def _result_is_sharded(result: SSAValue) -> bool:
    """Whether a value only leaves the function by results that stay on the devices."""
    uses = list(result.uses)
    if not uses:
        return False
    for use in uses:
        function = use.operation.parent_op()
        if not isinstance(use.operation, ReturnOp) or not isinstance(function, FuncOp):
            return False
        if not _is_sharded(_entry(function.res_attrs, use.index)):
            return False
    return True


def _require_all_axes_manual(op: sdy.ManualComputationOp, mesh: Mesh | None) -> None:
    manual = set(op.manual_axes.data)
    free = [
        n for n, size in (mesh.axes if mesh else ()) if size > 1 and n not in manual
    ]
    if free:
        raise UnsupportedError(
            f"mesh axes {', '.join(free)} are not manual: shapes inside are not local",
            op,
            hint="run tt-stablehlo-pipeline first",
        )


def _require_no_shardings(function: FuncOp) -> None:
    entries = [*(function.arg_attrs or ()), *(function.res_attrs or ())]
    sharded = any(sdy.SHARDING in entry.data for entry in entries)
    for op in function.walk():
        if op.name.startswith("sdy.") or sdy.SHARDING in op.attributes:
            sharded = sharded or op.name != "sdy.constant"
    if sharded:
        raise CompileError(
            f"@{function.sym_name.data} has shardings but is not partitioned",
            function,
            hint="run tt-stablehlo-pipeline first",
        )


def _entry(
    attributes: ArrayAttr[DictionaryAttr] | None, index: int
) -> Mapping[str, Attribute]:
    """Return the attributes of one argument or result."""
    return {} if attributes is None else attributes.data[index].data


def _called_from_outside(module: ModuleOp, calls: type[Operation]) -> set[str]:
    """Return the functions that custom calls of a dialect name."""
    return {
        cast(SymbolRefAttr, name).string_value()
        for op in ops_of_type(module, calls)
        if isinstance(names := op.properties.get("called_computations"), ArrayAttr)
        for name in cast("ArrayAttr[Attribute]", names)
    }
