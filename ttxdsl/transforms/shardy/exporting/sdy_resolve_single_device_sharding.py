"""Let one device run what is sharded onto it alone, and give everyone its results.

An op whose results lie on one device becomes the branch of an `if` that only this device
takes; the others go on with zeros, and a sum over the first mesh hands the results to
all. Reshards to the device before the op, and to the whole mesh behind it, are gone then.

Source: Shardy's `sdy-resolve-single-device-sharding`, which jaxlib has after 0.10. It does
the same to ops inside such an op, whose sum the other devices never come to, and takes
the shard of a sharded operand for the whole. Ours leaves the former to the op around them,
and refuses the latter, as it does results that C++ aborts on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    i1,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import all_ops_inside_out
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.meshes import mesh_lookup

_ID = TensorType(IntegerType(32, Signedness.UNSIGNED), [])


def _constant(
    element: IntegerType | AnyFloat, shape: Sequence[int], number: int
) -> Operation:
    type = TensorType[IntegerType | AnyFloat](element, shape)
    value = DenseIntOrFPElementsAttr.from_list(
        cast(TensorType[IntegerType], type), [number]
    )
    return stablehlo.ConstantOp.create(result_types=[type], properties={"value": value})


def _zero(result: SSAValue) -> Operation:
    """Nothing, of the type of a result.

    Raises:
        UnsupportedError: a type without a zero.
    """
    if isinstance(result.type, stablehlo.TokenType):
        return stablehlo.CreateTokenOp.create(result_types=[result.type])
    type: Attribute = result.type
    element = element_of(result) if isinstance(type, TensorType) else None
    if not isinstance(element, IntegerType | AnyFloat) or -1 in shape_of(result):
        raise UnsupportedError(f"other devices have no zero of type {type}", result)
    known = cast(IntegerType | AnyFloat, element)
    return _constant(known, shape_of(result), 0)


def _returning(*ops: Operation) -> Block:
    """A block of these ops that returns all their results."""
    results = [result for op in ops for result in op.results]
    return Block([*ops, stablehlo.ReturnOp.create(operands=results)])


@dataclass(frozen=True)
class _Resolver:
    mesh_name: str
    mesh: Mesh
    mesh_of: Callable[[TensorSharding], Mesh]
    counts_replicas: bool

    def device_of(self, op: Operation) -> int | None:
        """The one device that an op's results lie on; None if they lie on the mesh.

        Raises:
            CompileError: they lie on several, or also on the mesh.
        """
        devices: set[int] = set()
        sharded = False
        for result in op.results:
            sharding = sdy.get_sharding(result)
            if sharding is None or not isinstance(result.type, TensorType):
                continue
            mesh = self.mesh_of(sharding)
            if mesh.is_maximal:
                devices.add(mesh.device_ids[0])
            sharded |= bool(sharding.sharding_axes)
        if len(devices) > 1 or (devices and sharded):
            where = "several devices" if len(devices) > 1 else "one device and the mesh"
            raise CompileError(f"its results lie on {where}", op)
        return devices.pop() if devices else None

    def whole(self, value: SSAValue, op: Operation) -> SSAValue:
        """An operand, without the reshard to the device.

        Raises:
            CompileError: the device has only a part of it.
        """
        reshard = value.owner
        if (
            isinstance(reshard, sdy.ReshardOp)
            and self.mesh_of(reshard.sharding.data).is_maximal
        ):
            value = reshard.input
        sharding = sdy.get_sharding(sdy.behind_barriers(value))
        if sharding is not None and not sharding.is_replicated:
            raise CompileError(
                f"it runs on one device, which has a part of its operand: {sharding}",
                op,
                hint="run sdy-insert-explicit-reshards before, or reshard the operand"
                " to the whole mesh first",
            )
        return value

    def is_on(self, op: Operation, device: int) -> Operation:
        """Ops in front of another that tell whether one device is running."""
        which = (
            stablehlo.ReplicaIdOp if self.counts_replicas else stablehlo.PartitionIdOp
        )
        own = which.create(result_types=[_ID])
        that = _constant(_ID.element_type, (), device)
        equal = stablehlo.ComparisonDirectionAttr(stablehlo.ComparisonDirection.EQ)
        is_that = stablehlo.CompareOp.create(
            operands=[own.results[0], that.results[0]],
            result_types=[TensorType(i1, [])],
            properties={"comparison_direction": equal},
        )
        for new in (own, that, is_that):
            new.location = op.location
        Rewriter.insert_op([own, that, is_that], InsertPoint.before(op))
        return is_that

    def resolve(self, op: Operation, device: int) -> None:
        """Let one device run an op."""
        operands = [self.whole(value, op) for value in op.operands]
        given = {value.owner for value in op.operands}
        chosen = stablehlo.IfOp.create(
            operands=self.is_on(op, device).results,
            result_types=op.result_types,
            regions=[Region(), Region()],
        )
        chosen.location = op.location
        Rewriter.insert_op(chosen, InsertPoint.before(op))
        point = InsertPoint.before(op)
        for result, one in zip(op.results, chosen.results, strict=True):
            if isinstance(one.type, TensorType):
                self.give_everyone(result, one, point)
            else:
                result.replace_all_uses_with(one)
        op.detach()
        op.operands = operands
        op.attributes.pop(sdy.SHARDING, None)
        zeros = [_zero(result) for result in op.results]
        chosen.true_branch.add_block(_returning(op))
        chosen.false_branch.add_block(_returning(*zeros))
        for reshard in given:
            if isinstance(reshard, sdy.ReshardOp) and reshard.result.first_use is None:
                Rewriter.erase_op(reshard)

    def give_everyone(
        self, result: SSAValue, one: SSAValue, point: InsertPoint
    ) -> None:
        """Sum what one device has and the others have zeros for.

        Reshards that ask for what this makes are gone then.
        """
        axes = [AxisRef(name) for name in self.mesh.axis_names]
        rank = sdy.tensor_rank(result.type)
        whole = TensorSharding.fully_closed(self.mesh_name, rank)
        summed = sdy.AllReduceOp(one, axes, whole)
        assert isinstance(one.owner, Operation)
        summed.location = one.owner.location
        Rewriter.insert_op(summed, point)
        result.replace_all_uses_with(summed.result)
        for user in [use.operation for use in summed.result.uses]:
            if isinstance(user, sdy.ReshardOp) and user.sharding.data == whole:
                user.result.replace_all_uses_with(summed.result)
                Rewriter.erase_op(user)


def resolve_single_device_sharding(
    module: ModuleOp, *, replicas: int = 1, partitions: int = 1
) -> None:
    """Rewrite all ops of one device in a module that has a mesh of several.

    Raises:
        CompileError: an op lies on several devices or gets a part of a tensor.
        UnsupportedError: replicas and partitions at once, or a type without zero.
    """
    named = (
        (op.sym_name.data, op.mesh.data)
        for op in module.ops
        if isinstance(op, sdy.MeshOp)
    )
    found = next((one for one in named if one[1].axes), None)
    if found is None:
        return
    resolver = _Resolver(*found, mesh_lookup(module), replicas > 1)
    for func in module.ops:
        if not isinstance(func, FuncOp):
            continue
        devices = {
            op: device
            for op in all_ops_inside_out(func)
            if op is not func
            and not op.name.startswith("sdy.")
            and (device := resolver.device_of(op)) is not None
        }
        if devices and replicas > 1 and partitions > 1:
            raise UnsupportedError("replicas and partitions at once have no device id")
        for op, device in devices.items():
            around = op.parent_op()
            while around is not None and around not in devices:
                around = around.parent_op()
            if around is None:
                resolver.resolve(op, device)
            elif devices[around] == device:
                op.attributes.pop(sdy.SHARDING, None)
            else:
                raise CompileError(
                    f"it runs on device {device}, inside of an op on {devices[around]}",
                    op,
                )


@dataclass(frozen=True)
class ResolveSingleDeviceShardingPass(ModulePass):
    """Lets one device run what is sharded onto it alone; see the module."""

    name = "sdy-resolve-single-device-sharding"

    replica_count: int = 1
    partition_count: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        resolve_single_device_sharding(
            op, replicas=self.replica_count, partitions=self.partition_count
        )
