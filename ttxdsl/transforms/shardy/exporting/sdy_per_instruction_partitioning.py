"""`sdy-per-instruction-partitioning`: op by op, what each device does.

Each chosen op becomes a manual computation along all axes of its mesh, in which is what
the partitioner makes of this op alone. The others stay as they are, so that one can tell
for which op the partitioner is wrong or slow. Values that their shardings do not divide
are padded in front of the computation, and their surplus is cut off behind it.

Source: Shardy's pass of that name, which jaxlib has after 0.10.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from ttxdsl.analysis.call_graph import calls_in, main_function, set_callee
from ttxdsl.analysis.symbols import PRIVATE, Symbols
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.replica_groups import inline_mesh_of_groups
from ttxdsl.errors import CompileError, UnsupportedError
from ttxdsl.ir.tensors import Tensor, element_of, shape_of
from ttxdsl.sharding.axes import subtract
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.local.emitter import Emitter, int_attr
from ttxdsl.transforms.local.layout import without_trivial
from ttxdsl.transforms.local.localizer import captured_values
from ttxdsl.transforms.shardy.exporting.partitioner import ALL_STAGES, Partitioner
from ttxdsl.transforms.shardy.exporting.sdy_pad_for_divisibility import (
    grow_constant,
)
from ttxdsl.transforms.shardy.meshes import mesh_lookup

_OUTLINED = "outlined_op"
_GIVEN = "ttxdsl.given"
"""On a constant that stands for an argument: which."""
_GLOBAL = "optimize-collectives"
"""The last stage in which an op may be split unevenly."""

_NOT_PARTITIONED = (
    sdy.DataFlowEdgeOp,
    sdy.ManualComputationOp,
    sdy.PropagationBarrierOp,
    sdy.ReplicatedToUnreducedOp,
    sdy.ShardedToUnreducedOp,
    sdy.ShardingConstraintOp,
    sdy.ShardingGroupOp,
)


@dataclass(frozen=True)
class _Filter:
    """Which of the ops that can be partitioned are; see the pass."""

    low: int = -1
    high: int = -1
    names: tuple[str, ...] = ()

    @staticmethod
    def of(text: str) -> "_Filter":
        """What an option says; numbers that are none say nothing."""
        text = text.strip()
        if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
            text = text[1:-1]
        bounds = {"selectLow": -1, "selectHigh": -1}
        names: list[str] = []
        for token in filter(None, (part.strip() for part in text.split(","))):
            key, is_bound, number = token.partition("=")
            if is_bound and key in bounds:
                try:
                    bounds[key] = int(number)
                except ValueError:
                    continue
            else:
                names.append(token)
        return _Filter(bounds["selectLow"], bounds["selectHigh"], tuple(names))

    def takes(self, op: Operation, number: int) -> bool:
        """Whether it lets the op of a number through."""
        if number < self.low or 0 <= self.high < number:
            return False
        return not self.names or any(name in op.name for name in self.names)


def _is_split(value: SSAValue) -> bool:
    sharding = sdy.get_sharding(value)
    return sharding is not None and any(dim.axes for dim in sharding.dims)


def _is_counted(op: Operation) -> bool:
    if isinstance(op, _NOT_PARTITIONED) or op.has_trait(IsTerminator):
        return False
    if isinstance(op, stablehlo.CustomCallOp) and op.call_target_name.data in (
        "Sharding",
        "mhlo.sharding",
    ):
        return False
    return any(_is_split(value) for value in (*op.results, *op.operands))


def _resized(type_: Attribute, shape: Sequence[int] | None) -> Attribute:
    if shape is None or not isinstance(type_, TensorType):
        return type_
    known = cast(Tensor, type_)
    return TensorType(known.element_type, shape, known.encoding)


def _cut_from(
    value: SSAValue, type_: Attribute, sharding: TensorSharding
) -> SSAValue | None:
    """What a value was cut from, if that is of a type: its surplus is as good as any."""
    op = value.owner
    if (
        isinstance(op, stablehlo.SliceOp)
        and op.operand.type == type_
        and not any(op.start_indices.get_values())
        and all(stride == 1 for stride in op.strides.get_values())
        and sdy.get_sharding(op.operand) == sdy.get_sharding(value) == sharding
    ):
        return op.operand
    return None


def _padded(
    emit: Emitter,
    value: SSAValue,
    filler: SSAValue,
    type_: Attribute,
    sharding: TensorSharding,
) -> SSAValue:
    """A value as large as a type."""
    assert isinstance(type_, TensorType)
    sizes = zip(type_.get_shape(), shape_of(value), strict=True)
    high = [new - old for new, old in sizes]
    padded = emit.pad(value, filler, [0] * len(high), high)
    sdy.set_sharding(padded, sharding)
    return padded


def _cut(
    emit: Emitter, value: SSAValue, type_: Attribute, sharding: TensorSharding
) -> SSAValue:
    if value.type == type_:
        return value
    assert isinstance(type_, TensorType)
    shape = type_.get_shape()
    cut = emit.slice(value, [0] * len(shape), shape)
    sdy.set_sharding(cut, sharding)
    return cut


@dataclass
class _PerInstruction:
    module: ModuleOp
    told: Partitioner
    ctx: Context

    def __post_init__(self) -> None:
        self.symbols = Symbols(self.module)
        self.mesh_of = mesh_lookup(self.module)

    # What an op is split over

    def _mesh_name(self, op: Operation, values: Sequence[SSAValue]) -> str:
        """The mesh of all that an op takes and makes, declared if it was not.

        Raises:
            CompileError: they are over different meshes.
        """
        found: TensorSharding | None = None
        for sharding in map(sdy.get_sharding, values):
            if sharding is None:
                continue
            if found is None or self.mesh_of(found).is_empty:
                found = sharding
            elif self.mesh_of(sharding) not in (self.mesh_of(found), Mesh(())):
                raise CompileError(
                    f"its operands and results are over different meshes, "
                    f"{self.mesh_of(found)} and {self.mesh_of(sharding)}",
                    op,
                    hint="reshard by collectives first: sdy-reshard-to-collectives",
                )
        assert found is not None  # one of them is split
        if isinstance(found.mesh, str):
            return found.mesh
        declared = sdy.mesh_table(self.module).items()
        name = next((name for name, mesh in declared if mesh == found.mesh), None)
        if name is None:
            name = self.symbols.take("mesh")
            first = self.module.body.block.first_op
            assert first is not None
            new = sdy.MeshOp(name, found.mesh)
            Rewriter.insert_op(new, InsertPoint.before(first))
            self.mesh_of = mesh_lookup(self.module)
        return name

    def _sharding(self, value: SSAValue, mesh: str) -> TensorSharding:
        found = sdy.get_sharding(value)
        if found is None:
            return TensorSharding.fully_closed(mesh, sdy.tensor_rank(value.type))
        return found if isinstance(found.mesh, str) else found.with_mesh(mesh)

    # What it becomes

    def partition(self, op: Operation) -> None:
        """Put a manual computation in the place of one op.

        Raises:
            CompileError: what a pass of the partitioner says of the op.
        """
        values = [*op.operands, *captured_values(op)]
        mesh = self._mesh_name(op, (*op.operands, *op.results))
        ins = [self._sharding(value, mesh) for value in values]
        outs = [self._sharding(result, mesh) for result in op.results]
        if isinstance(op, sdy.AllReduceOp | sdy.ReduceScatterOp):
            self._require_parts(op, ins[0])
        in_types = self._even_types(values, ins)
        out_types = self._even_types(op.results, outs)
        if isinstance(op, sdy.ReshardOp):
            # one type for what comes and what goes, which both shardings divide
            in_types = out_types = [self._even_for_both(op, ins[0], outs[0])]
        padding = Emitter(Block(), op.location)
        given = [
            value
            if value.type == type_
            else _cut_from(value, type_, sharding)
            or _padded(
                padding,
                value,
                padding.number(0, element_of(value)),
                type_,
                sharding,
            )
            for value, type_, sharding in zip(values, in_types, ins, strict=True)
        ]
        body = self._body(op, values, ins, outs, in_types, out_types)
        computation = sdy.ManualComputationOp(
            given, ins, outs, self.mesh_of(outs[0] if outs else ins[0]).axis_names,
            Region(body), out_types,
        )  # fmt: skip
        computation.location = op.location
        padding.block.add_op(computation)
        results = [
            _cut(padding, value, type_, sharding)
            for value, type_, sharding in zip(
                computation.results, op.result_types, outs, strict=True
            )
        ]
        Rewriter.inline_block(padding.block, InsertPoint.before(op))
        Rewriter.replace_op(op, [], results)

    def _require_parts(
        self, op: sdy.AllReduceOp | sdy.ReduceScatterOp, given: TensorSharding
    ) -> None:
        """Hold what is summed to be said to be parts; alone, nothing else tells."""
        mesh = self.mesh_of(given)
        if isinstance(op, sdy.AllReduceOp):
            axes = op.reduction_axes.data
        else:
            axes = tuple(axis for one in op.reduce_scatter_axes.data for axis in one)
        if subtract(without_trivial(axes, mesh), given.unreduced, mesh):
            raise UnsupportedError(
                "its operand does not say that it is parts, so that alone it would count"
                " the whole several times",
                op,
                hint="give sdy-insert-explicit-reshards the option"
                " mark-partial-result-with-unreduced-axes",
            )

    def _even_types(
        self, values: Sequence[SSAValue], shardings: Sequence[TensorSharding]
    ) -> list[Attribute]:
        return [
            _resized(
                value.type,
                sharding.even_shape(shape_of(value), self.mesh_of(sharding))
                if isinstance(value.type, TensorType)
                else None,
            )
            for value, sharding in zip(values, shardings, strict=True)
        ]

    def _even_for_both(
        self, op: sdy.ReshardOp, one: TensorSharding, other: TensorSharding
    ) -> Attribute:
        counts = (
            lcm(
                before.sharded_size(self.mesh_of(one)),
                after.sharded_size(self.mesh_of(other)),
            )
            for before, after in zip(one.dims, other.dims, strict=True)
        )
        sizes = zip(shape_of(op.input), counts, strict=True)
        return _resized(op.input.type, [-(-size // n) * n for size, n in sizes])

    def _body(
        self,
        op: Operation,
        values: Sequence[SSAValue],
        ins: Sequence[TensorSharding],
        outs: Sequence[TensorSharding],
        in_types: Sequence[Attribute],
        out_types: Sequence[Attribute],
    ) -> Block:
        """What a device does for an op: the partitioner's answer on a module of its own."""
        resharded = isinstance(op, sdy.ReshardOp)
        block = Block(arg_types=in_types if resharded else [v.type for v in values])
        captured: dict[SSAValue, SSAValue] = dict(
            zip(values[len(op.operands) :], block.args[len(op.operands) :], strict=True)
        )
        copy = op.clone(value_mapper=captured)
        copy.operands = block.args[: len(op.operands)]
        if isinstance(op, stablehlo.ReduceOp):
            for at in range(len(op.inputs), len(op.operands)):
                _tell_constant(block, op.operands[at], copy, at)
        block.add_op(copy)
        if resharded:
            (result,) = copy.results
            Rewriter.replace_value_with_new_type(result, out_types[0])
        elif copy.results:
            for result, sharding in zip(copy.results, outs, strict=True):
                sdy.set_sharding(result, sharding)
        block.add_op(ReturnOp(*copy.results))
        kind = FunctionType.from_lists(
            [one.type for one in block.args], [one.type for one in copy.results]
        )
        function = FuncOp(_OUTLINED, kind, Region(block), visibility=PRIVATE)
        sdy.set_func_shardings(function, ins, outs)
        meshes = [one.clone() for one in self.module.ops if isinstance(one, sdy.MeshOp)]
        alone = ModuleOp([*meshes, function])
        alone.location = op.location
        self._take_callees_along(alone, function)
        if not resharded:
            _make_even(function, in_types, out_types, (ins, outs), len(op.operands))
        for one in self.told.passes(_GLOBAL):
            one.apply(self.ctx, alone)
        meshes_there = sdy.mesh_table(alone)
        for one in self.told.passes(ALL_STAGES, after=_GLOBAL):
            one.apply(self.ctx, alone)
        for one in meshes_there.keys() - sdy.mesh_table(self.module).keys():
            inline_mesh_of_groups(alone, {one: meshes_there[one]})
        self._bring_callees_back(alone, function)
        made = function.body.detach_block(0)
        _take_given(made)
        returned = made.last_op
        assert isinstance(returned, ReturnOp)
        end = sdy.ReturnOp(*returned.operands)
        end.location = returned.location
        Rewriter.replace_op(returned, end)
        return made

    def _take_callees_along(self, alone: ModuleOp, function: FuncOp) -> None:
        """Give a module of one function what that calls."""
        pending, taken = [function], {_OUTLINED}
        while pending:
            for call in calls_in(pending.pop()):
                callee = self.symbols.callee(call)
                if callee.sym_name.data not in taken:
                    taken.add(callee.sym_name.data)
                    pending.append(callee)
                    alone.body.block.add_op(callee.clone())

    def _bring_callees_back(self, alone: ModuleOp, function: FuncOp) -> None:
        """Add the functions of a device beside those they were made of."""
        callees = [
            one for one in alone.ops if isinstance(one, FuncOp) and one is not function
        ]
        names: dict[str, str] = {}
        for one in callees:
            one.detach()
            before = one.sym_name.data
            names[before] = self.symbols.add_function(one)
        for one in (function, *callees):
            for call in calls_in(one):
                set_callee(call, names[call.callee.string_value()])


def _tell_constant(block: Block, value: SSAValue, user: Operation, at: int) -> None:
    """Let an op have a constant of the program while it is partitioned, if it is given one.

    What is known to change no sum fills a surplus, and is counted on every device.
    """
    owner = value.owner
    if isinstance(owner, stablehlo.ConstantOp | sdy.ConstantOp):
        there = stablehlo.ConstantOp.create(
            result_types=[value.type],
            properties={"value": owner.value},
            attributes={_GIVEN: int_attr(at)},
        )
        block.add_op(there)
        user.operands[at] = there.results[0]


def _take_given(block: Block) -> None:
    """Have arguments again where constants stood for them."""
    for op in [*block.ops]:
        at = op.attributes.get(_GIVEN)
        if isinstance(at, IntegerAttr):
            Rewriter.replace_op(op, [], [block.args[at.value.data]])


def _make_even(
    function: FuncOp,
    in_types: Sequence[Attribute],
    out_types: Sequence[Attribute],
    shardings: tuple[Sequence[TensorSharding], Sequence[TensorSharding]],
    operands: int,
) -> None:
    """Let a function take and return larger values, of which it uses the old part.

    Of what is captured, behind so many operands, the old part is taken first.
    """
    block = function.body.block
    returned, first = block.last_op, block.first_op
    assert returned is not None
    assert first is not None
    for value, type_ in zip(returned.operands, out_types, strict=True):
        made = value.owner
        is_constant = isinstance(made, stablehlo.ConstantOp | sdy.ConstantOp)
        if is_constant and value.type != type_:
            grow_constant(made, cast(Tensor, type_).get_shape())
    cuts, pads = (Emitter(Block(), function.location) for _ in range(2))
    uneven = [
        element_of(value)
        for value, type_ in zip(returned.operands, out_types, strict=True)
        if value.type != type_
    ]
    zeros = {element: cuts.number(0, element) for element in dict.fromkeys(uneven)}
    given = [*zip(block.args, in_types, shardings[0], strict=True)]
    for value, type_, sharding in (*given[operands:], *given[:operands]):
        old = value.type
        if old == type_:
            continue
        value = Rewriter.replace_value_with_new_type(value, type_)
        users = [*value.uses]
        cut = _cut(cuts, value, old, sharding)
        for use in users:
            use.operation.operands[use.index] = cut
    pairs = zip(returned.operands, out_types, shardings[1], strict=True)
    for index, (value, type_, sharding) in enumerate(pairs):
        if value.type != type_:
            zero = zeros[element_of(value)]
            returned.operands[index] = _padded(pads, value, zero, type_, sharding)
    Rewriter.inline_block(cuts.block, InsertPoint.before(first))
    Rewriter.inline_block(pads.block, InsertPoint.before(returned))
    function.function_type = FunctionType.from_lists(in_types, out_types)


@dataclass(frozen=True)
class PerInstructionPartitioningPass(ModulePass):
    """Replace ops by what a device does for them; see the module.

    Counted are the ops of `@main`'s own block that take or make something split.

    Options:
        filter: which of them, all unless given: names of ops, or parts of such names, and
            `selectLow=N`, `selectHigh=N` for the first and the last by number from 0,
            with commas between them.
        enable_halo_exchange: see `sdy-resolve-permutation-factors`.
        replica_count: see `sdy-convert-global-to-local`.
        partition_count: the same.
        rng_bit_generator_unsafe: see `sdy-resolve-permutation-factors`.
    """

    name = "sdy-per-instruction-partitioning"

    filter: str | tuple[str, ...] = ""
    enable_halo_exchange: bool = True
    replica_count: int = 1
    partition_count: int = 1
    rng_bit_generator_unsafe: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: an op cannot be partitioned, as it says.
        """
        told = Partitioner(
            self.enable_halo_exchange,
            self.replica_count,
            self.partition_count,
            self.rng_bit_generator_unsafe,
        )
        if not any(isinstance(one, FuncOp) for one in op.ops):
            return
        blocks = main_function(op).body.blocks
        counted = [one for block in blocks for one in block.ops if _is_counted(one)]
        chosen = _Filter.of(
            self.filter if isinstance(self.filter, str) else ",".join(self.filter)
        )
        partitioned = _PerInstruction(op, told, ctx)
        for number, one in enumerate(counted):
            if chosen.takes(one, number):
                partitioned.partition(one)
