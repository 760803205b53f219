"""`sdy-resolve-permutation-factors`: no op needs elements of its neighbours' shards.

A slice, a padding or a window moves elements along the dimension that it works on. Where
that is split, its operands and results get reshards between which it is whole. A
reversal stays split: its shards go to a mesh with the devices in the opposite order, and
each device reverses its own. If the split is uneven, what the last shard lacks is moved
to the first one before, one shard's edge to the next (a halo exchange).

Source: Shardy's pass of that name.
"""

from dataclasses import dataclass, field, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.symbols import Symbols
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo import StableHLOOp
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import ops_of_type_inside_out
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.projection import FactorSharding, project, unproject_tensor
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.local.emitter import Emitter
from ttxdsl.transforms.shardy.exporting.sdy_insert_explicit_reshards import (
    ReshardInserter,
    Shardings,
)
from ttxdsl.transforms.shardy.meshes import mesh_lookup

# Meshes


def _digit(mesh: Mesh, axis: AxisRef) -> tuple[int, int]:
    """The stride and the size of an axis in row-major positions of a mesh."""
    whole = mesh.axis_size(axis.name)
    size = axis.size_in(mesh)
    behind = prod(mesh.axis_sizes[mesh.axis_index(axis.name) + 1 :])
    return behind * (whole // (axis.pre_size * size)), size


def reversed_along(mesh: Mesh, axes: tuple[AxisRef, ...]) -> Mesh:
    """The mesh with its devices in the opposite order along some axes."""
    devices = mesh.devices()
    for axis in axes:
        stride, size = _digit(mesh, axis)
        devices = tuple(
            devices[at + (size - 1 - 2 * (at // stride % size)) * stride]
            for at in range(mesh.total_size)
        )
    in_order = devices == tuple(range(mesh.total_size))
    return replace(mesh, device_ids=() if in_order else devices)


def steps_to_the_next(mesh: Mesh, axes: tuple[AxisRef, ...]) -> list[tuple[int, int]]:
    """Each device but the last with the one behind it along axes, major to minor."""
    digits = [_digit(mesh, axis) for axis in axes]
    devices = mesh.devices()
    pairs: list[tuple[int, int]] = []
    for position in range(mesh.total_size):
        to = position
        for stride, size in reversed(digits):
            if position // stride % size + 1 < size:
                pairs.append((devices[position], devices[to + stride]))
                break
            to -= (size - 1) * stride
    return pairs


# Reversals


@dataclass(frozen=True)
class _Reversal:
    """How a split reversal is done on shards."""

    axes: tuple[AxisRef, ...]
    """Those along which the devices change places."""
    manual: tuple[str, ...]
    """Those along which the split is uneven, in the order of the mesh."""
    shape: tuple[int, ...]
    """That of the operand, padded to be even."""

    @staticmethod
    def of(
        op: stablehlo.ReverseOp, sharding: TensorSharding, mesh: Mesh
    ) -> "_Reversal | None":
        """The plan, None if more is lacking than a whole shard."""
        axes: list[AxisRef] = []
        manual: set[str] = set()
        shape = [*shape_of(op.operand)]
        for dim in op.dimensions.get_values():
            count, size = sharding.dims[dim].sharded_size(mesh), shape[dim]
            if count > 1 and size % count:
                manual.update(axis.name for axis in sharding.dims[dim].axes)
                shard = -(-size // count)
                shape[dim] = shard * count
                if shape[dim] - size > shard:
                    return None
        for dim, split in enumerate(sharding.dims):
            if dim in op.dimensions.get_values() and split.sharded_size(mesh) > 1:
                axes.extend(split.axes)
        in_order = tuple(name for name in mesh.axis_names if name in manual)
        return _Reversal(tuple(axes), in_order, tuple(shape))


def _inside(sharding: TensorSharding, manual: tuple[str, ...]) -> TensorSharding:
    """The sharding of a value inside of a computation that is manual along axes."""

    def free(axes: tuple[AxisRef, ...]) -> tuple[AxisRef, ...]:
        return tuple(axis for axis in axes if axis.name not in manual)

    return TensorSharding(
        sharding.mesh,
        tuple(replace(dim, axes=free(dim.axes)) for dim in sharding.dims),
        free(sharding.replicated),
        free(sharding.unreduced),
    )


def _moved_right(
    emitter: Emitter,
    value: SSAValue,
    dim: int,
    count: int,
    pairs: list[tuple[int, int]],
    inside: TensorSharding,
) -> SSAValue:
    """The last `count` elements of each shard go to the front of the next."""
    shape = shape_of(value)
    stays = shape[dim] - count

    def split(result: SSAValue) -> SSAValue:
        sdy.set_sharding(result, inside)
        return result

    edge = value
    if stays:
        edge = split(emitter.slice_dim(value, dim, stays, shape[dim]))
    flat = [device for pair in pairs for device in pair]
    type_ = TensorType(i64, [len(pairs), 2])
    source_target_pairs = DenseIntOrFPElementsAttr.from_list(type_, flat)
    received = split(
        emitter.one(
            stablehlo.CollectivePermuteOp,
            [edge],
            edge.type,
            {"source_target_pairs": source_target_pairs},
        )
    )
    if not stays:
        return received
    rest = split(emitter.slice_dim(value, dim, 0, stays))
    return split(emitter.concatenate([received, rest], dim))


# The pass


@dataclass
class _Resolver:
    module: ModuleOp
    halo_exchange: bool
    whole_random_bits: bool
    symbols: Symbols = field(init=False)
    declared: dict[Mesh, str] = field(init=False)
    inserter: ReshardInserter = field(init=False)

    def __post_init__(self) -> None:
        self.mesh_of = mesh_lookup(self.module)
        self.symbols = Symbols(self.module)
        names = sdy.mesh_table(self.module).items()
        self.declared = {mesh: name for name, mesh in names}
        self.inserter = ReshardInserter(self.module)

    def resolve(self, op: Operation) -> None:
        """Let one op work on its own shards."""
        if self.whole_random_bits and isinstance(op, stablehlo.RngBitGeneratorOp):
            self._draw_whole(op)
            return
        rule = sharding_rule(op)
        if rule is None or rule.is_custom or not rule.permutation:
            return
        if self.halo_exchange and isinstance(op, stablehlo.ReverseOp):
            sharding = sdy.get_sharding(op.operand)
            if sharding is None or not sharding.sharding_axes:
                return
            if sdy.get_sharding(op.result) == sharding and self._reverse(op, sharding):
                return
        self._reshard(op, rule)

    # By reshards

    def _common_mesh(self, shardings: Shardings) -> str | Mesh | None:
        """The mesh of all shardings, rather one with devices in natural order."""
        found: str | Mesh | None = None
        mesh: Mesh | None = None
        for sharding in shardings:
            if sharding is None:
                continue
            other = self.mesh_of(sharding)
            if mesh is None or mesh.is_empty:
                mesh, found = other, sharding.mesh
            elif other.is_empty:
                continue
            elif not other.same_axes(mesh):
                return None
            elif not other.device_ids:
                mesh, found = other, sharding.mesh
        return None if mesh is None or mesh.is_maximal else found

    def _stays_on_device(
        self, op: Operation, rule: OpShardingRule, factor: int, mesh: Mesh
    ) -> bool:
        """Whether a slice of each shard of a dimension is its shard of the slice."""
        if not isinstance(op, stablehlo.SliceOp):
            return False
        sharding = sdy.get_sharding(op.operand)
        if sharding is None or sharding != sdy.get_sharding(op.result):
            return False
        dim = rule.operands[0].index((factor,))
        count = sharding.dims[dim].sharded_size(mesh)
        before, after = shape_of(op.operand)[dim], shape_of(op.result)[dim]
        return count <= 1 or (
            op.start_indices.get_values()[dim] == 0
            and op.strides.get_values()[dim] == 1
            and -(-before // count) == -(-after // count)
        )

    def _reshard(self, op: Operation, rule: OpShardingRule) -> None:
        values = (*op.operands, *op.results)
        shardings = [sdy.get_sharding(value) for value in values]
        ref = self._common_mesh(shardings)
        if ref is None:
            return
        mesh = self.inserter.mesh_of(op, ref)
        projection = project(mesh, rule, shardings, closed_if_missing=True)
        changed = [False] * len(values)
        for factor in rule.permutation:
            if self._stays_on_device(op, rule, factor, mesh):
                continue
            for index, tensor in enumerate(projection.tensors):
                known = tensor.factors.get(factor)
                if known is not None and (known.axes or known.overflow):
                    tensor.factors[factor] = FactorSharding(
                        closed=known.closed, minor_most=known.minor_most
                    )
                    changed[index] = True
        if not any(changed):
            return
        wanted = [
            unproject_tensor(ref, mesh, rule, mapping, tensor)
            if now or self._is_on_other_devices(sharding, mesh)
            else None
            for now, sharding, mapping, tensor in zip(
                changed, shardings, rule.tensors, projection.tensors, strict=True
            )
        ]
        self.inserter.reshard(op, wanted, ref)

    def _draw_whole(self, op: stablehlo.RngBitGeneratorOp) -> None:
        """Let every device draw the same bits."""
        values = (*op.operands, *op.results)
        shardings = [sdy.get_sharding(value) for value in values]
        ref = self._common_mesh(shardings)
        if ref is None:
            return
        wanted = [
            TensorSharding.fully_closed(ref, len(shape_of(value)))
            if sharding is not None and sharding.sharding_axes
            else None
            for value, sharding in zip(values, shardings, strict=True)
        ]
        self.inserter.reshard(op, wanted, ref)

    def _is_on_other_devices(self, sharding: TensorSharding | None, mesh: Mesh) -> bool:
        if sharding is None or not sharding.sharding_axes:
            return False
        return self.mesh_of(sharding).device_ids != mesh.device_ids

    # By an exchange

    def _reverse(self, op: stablehlo.ReverseOp, sharding: TensorSharding) -> bool:
        """Reverse shards; whether that is possible."""
        mesh = self.mesh_of(sharding)
        if mesh.is_maximal:
            return True
        plan = _Reversal.of(op, sharding, mesh)
        if plan is None:
            return False
        if not plan.axes:
            return True
        original = op.operand
        emitter = Emitter(Block(), op.location)
        value = original
        if plan.manual:
            filler = emitter.number(0, element_of(value))
            sizes = zip(plan.shape, shape_of(value), strict=True)
            lacking = [new - old for new, old in sizes]
            value = emitter.pad(value, filler, [0] * len(lacking), lacking)
            sdy.set_sharding(value, sharding)
            value = self._shifted(emitter, value, lacking, sharding, plan, mesh)
        other = self._mesh_ref(sharding, reversed_along(mesh, plan.axes))
        reshard = sdy.ReshardOp(value, replace(sharding, mesh=other))
        reshard.location = op.location
        emitter.block.add_op(reshard)
        Rewriter.inline_block(emitter.block, InsertPoint.before(op))
        op.operands[0] = reshard.result
        if plan.manual:
            whole = Rewriter.replace_value_with_new_type(op.result, value.type)
            behind = Emitter(Block(), op.location)
            shape = shape_of(original)
            cut = behind.slice(whole, [0] * len(shape), shape)
            sdy.set_sharding(cut, sharding)
            whole.replace_uses_with_if(cut, lambda use: use.operation is not cut.owner)
            Rewriter.inline_block(behind.block, InsertPoint.after(op))
        return True

    def _shifted(
        self,
        emitter: Emitter,
        value: SSAValue,
        lacking: list[int],
        sharding: TensorSharding,
        plan: _Reversal,
        mesh: Mesh,
    ) -> SSAValue:
        """A padded value with the padding in front instead of behind."""
        parts = [
            prod(a.size_in(mesh) for a in dim.axes if a.name in plan.manual)
            for dim in sharding.dims
        ]
        shape = [size // part for size, part in zip(plan.shape, parts, strict=True)]
        body = Block(arg_types=[TensorType(element_of(value), shape)])
        inside = Emitter(body, emitter.location)
        shifted: SSAValue = body.args[0]
        for dim, count in enumerate(lacking):
            if count:
                pairs = steps_to_the_next(mesh, sharding.dims[dim].axes)
                local = _inside(sharding, plan.manual)
                shifted = _moved_right(inside, shifted, dim, count, pairs, local)
        body.add_op(sdy.ReturnOp(shifted))
        computation = sdy.ManualComputationOp(
            [value], [sharding], [sharding], plan.manual, Region(body), [value.type]
        )
        computation.location = emitter.location
        emitter.block.add_op(computation)
        return computation.results[0]

    def _mesh_ref(self, like: TensorSharding, mesh: Mesh) -> str | Mesh:
        """How to name a mesh: as the sharding names its own."""
        if isinstance(like.mesh, Mesh):
            return mesh
        name = self.declared.get(mesh)
        if name is None:
            name = self.symbols.take(f"{like.mesh}_reversed")
            self.declared[mesh] = name
            first = self.module.body.block.first_op
            assert first is not None
            Rewriter.insert_op(sdy.MeshOp(name, mesh), InsertPoint.before(first))
        return name


@dataclass(frozen=True)
class ResolvePermutationFactorsPass(ModulePass):
    """Let no op need elements of other shards than its own.

    Options:
        enable_halo_exchange: reverse shards where they are; otherwise a reversed
            dimension is made whole, as others are.
        replica_count: read by nothing: no op here asks for the device's id.
        partition_count: the same.
        rng_bit_generator_unsafe: let each device draw random bits for its own shard;
            otherwise all draw the whole alike.
    """

    name = "sdy-resolve-permutation-factors"

    enable_halo_exchange: bool = True
    replica_count: int = 1
    partition_count: int = 1
    rng_bit_generator_unsafe: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        resolver = _Resolver(
            op, self.enable_halo_exchange, not self.rng_bit_generator_unsafe
        )
        for inner in ops_of_type_inside_out(op, StableHLOOp):
            resolver.resolve(inner)
