"""The ops of the sdy dialect: meshes, constraints, collectives and computations.

Both forms of every op read and print as the C++ dialect's do (jaxlib 0.10.2).

Source: Shardy's dialect documentation and `ops.td`.
"""

from abc import ABC
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import (
    I32,
    I64,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IntegerAttr,
    ModuleOp,
    ShapedType,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    UnrankedTensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    BaseAttr,
    IRDLOperation,
    VarConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import (
    HasCanonicalizationPatternsTrait,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._sdy import syntax
from ttxdsl.dialects._sdy.attributes import (
    AllToAllParamListAttr,
    AxisRefListAttr,
    ListOfAxisRefListsAttr,
    ManualAxesAttr,
    MeshAttr,
    TensorShardingAttr,
    TensorShardingPerValueAttr,
)
from ttxdsl.dialects._sdy.registry import CHECKS, REWRITES
from ttxdsl.dialects.traits import SameBytes
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition
from ttxdsl.ir.data_flow import DataFlowTrait, Operand, returned
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.manual import without_manual_axes
from ttxdsl.sharding.spec import ReductionKind, TensorSharding
from ttxdsl.sharding.step import PropagationDirection

_ANY_SHAPED = VarConstraint("T", BaseAttr(ShapedType) | BaseAttr(UnrankedTensorType))

AnySharding: TypeAlias = TensorSharding | TensorShardingAttr
"""A sharding as the theory's value or as an attribute: builders take both."""


def _sharding_attr(sharding: AnySharding) -> TensorShardingAttr:
    if isinstance(sharding, TensorSharding):
        return TensorShardingAttr(sharding)
    return sharding


def _shardings_attr(
    shardings: Iterable[AnySharding] | TensorShardingPerValueAttr,
) -> TensorShardingPerValueAttr:
    if isinstance(shardings, TensorShardingPerValueAttr):
        return shardings
    return TensorShardingPerValueAttr(_sharding_attr(s).data for s in shardings)


class SymbolUserOp(IRDLOperation, ABC):
    """An op with constraints that cross symbols, regions or uses."""

    def verify_(self) -> None:
        """Check the op with the function of `_sdy.verify_ops` for its class."""
        for check in CHECKS:
            check(self)


class HasRewrites(HasCanonicalizationPatternsTrait):
    """`canonicalize` applies the rewrites of `_sdy.canonicalize` to this op."""

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        """Return the rewrites with an op of this class at the root."""
        return REWRITES.get(op, ())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """Return the rewrites of all ops."""
        return tuple(pattern for patterns in REWRITES.values() for pattern in patterns)


# Meshes


@irdl_op_definition
class MeshOp(IRDLOperation):
    """Names a mesh: `sdy.mesh @mesh = <["data"=2, "model"=4]>`.

    All meshes of a module have the same number of devices, but for maximal ones.
    """

    name = "sdy.mesh"

    sym_name = prop_def(SymbolNameConstraint())
    mesh = prop_def(MeshAttr)

    traits = traits_def(HasParent(ModuleOp), SymbolOpInterface())

    assembly_format = "$sym_name `=` $mesh attr-dict"

    def __init__(self, sym_name: str, mesh: Mesh | MeshAttr):
        if isinstance(mesh, Mesh):
            mesh = MeshAttr(mesh)
        super().__init__(properties={"sym_name": StringAttr(sym_name), "mesh": mesh})


# Shardings on values


class ShardingOp(SymbolUserOp, ABC):
    """An identity of its operand that carries a sharding."""

    T: ClassVar = VarConstraint("T", AnyAttr())

    input = operand_def(T)
    sharding = prop_def(TensorShardingAttr)
    result = result_def(T)

    assembly_format = "$input $sharding attr-dict `:` type($result)"

    def __init__(self, input: SSAValue | Operation, sharding: AnySharding):
        input = SSAValue.get(input)
        super().__init__(
            operands=[input],
            result_types=[input.type],
            properties={"sharding": _sharding_attr(sharding)},
        )


@irdl_op_definition
class ShardingConstraintOp(ShardingOp):
    """Tells how a tensor (no uses), or the uses of the result, should be sharded.

    Open dimensions may be sharded further by propagation.
    """

    name = "sdy.sharding_constraint"

    traits = traits_def(SameBytes())


@irdl_op_definition
class ReshardOp(ShardingOp):
    """Changes the sharding of a tensor; a partitioner turns it into collectives."""

    name = "sdy.reshard"

    traits = traits_def(Pure(), HasRewrites())


@irdl_op_definition
class ShardingGroupOp(IRDLOperation):
    """Puts a tensor into a group whose members are all sharded alike."""

    name = "sdy.sharding_group"

    input = operand_def(TensorType)
    group_id = prop_def(IntegerAttr[I64])

    assembly_format = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)"

    def __init__(self, input: SSAValue | Operation, group_id: int):
        super().__init__(
            operands=[input], properties={"group_id": IntegerAttr(group_id, i64)}
        )


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A constant that no folder merges, so that each use can be sharded differently."""

    name = "sdy.constant"

    value = prop_def(DenseIntOrFPElementsAttr | DenseResourceAttr)
    output = result_def(TensorType)

    traits = traits_def(Pure())

    def __init__(self, value: DenseIntOrFPElementsAttr | DenseResourceAttr):
        super().__init__(result_types=[value.type], properties={"value": value})

    @classmethod
    def parse(cls, parser: Parser) -> "ConstantOp":
        """Parse `{attributes} dense<0.0> : tensor<8xf32>`."""
        attributes = parser.parse_optional_attr_dict()
        start = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr | DenseResourceAttr):
            parser.raise_error("expected an elements attribute", start, parser.pos)
        op = cls(cast(DenseIntOrFPElementsAttr | DenseResourceAttr, value))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)

    def verify_(self) -> None:
        """The value has the type of the result, and its shape is known."""
        if self.value.type != self.output.type:
            raise VerifyException(
                f"the value has type {self.value.type}, the result {self.output.type}"
            )


# Propagation


@irdl_op_definition
class DataFlowEdgeOp(SymbolUserOp):
    """The owner of a data flow edge, which holds the edge's sharding.

    An edge links values with one sharding, such as a loop's operand, block arguments,
    returned value and result.
    """

    name = "sdy.data_flow_edge"

    T: ClassVar = _ANY_SHAPED

    input = operand_def(T)
    sharding = opt_prop_def(TensorShardingAttr)
    result = result_def(T)

    traits = traits_def(SameBytes())

    assembly_format = (
        "$input (`sharding` `` `=` `` $sharding^)? attr-dict `:` type($result)"
    )

    def __init__(
        self, input: SSAValue | Operation, sharding: AnySharding | None = None
    ):
        input = SSAValue.get(input)
        super().__init__(
            operands=[input],
            result_types=[input.type],
            properties={
                "sharding": None if sharding is None else _sharding_attr(sharding)
            },
        )


@irdl_op_definition
class FuncDataFlowEdgeOp(SymbolUserOp):
    """A data flow edge of a function's argument or of a call's result."""

    name = "sdy.func_data_flow_edge"

    T: ClassVar = _ANY_SHAPED

    operand = operand_def(T)
    result = result_def(T)

    traits = traits_def(SameBytes())

    assembly_format = "$operand attr-dict `:` type($result)"

    def __init__(self, operand: SSAValue | Operation):
        operand = SSAValue.get(operand)
        super().__init__(operands=[operand], result_types=[operand.type])


@irdl_custom_directive
class _Direction(CustomDirective):
    """The keyword of an integer `PropagationDirection`."""

    direction: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        keyword = parser.parse_keyword_in(PropagationDirection.__members__)
        self.direction.set(state, IntegerAttr(PropagationDirection[keyword], i32))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        number = cast(IntegerAttr[I32], self.direction.get(op))
        direction = PropagationDirection(number.value.data)
        printer.print_string(direction.name or str(direction.value))
        state.should_emit_space = True
        state.last_was_punctuation = False


@irdl_op_definition
class PropagationBarrierOp(SymbolUserOp):
    """An identity that lets shardings through in one direction, or in none."""

    name = "sdy.propagation_barrier"

    T: ClassVar = VarConstraint("T", BaseAttr(TensorType))

    input = operand_def(T)
    allowed_direction = prop_def(IntegerAttr[I32])
    result = result_def(T)

    traits = traits_def(Pure(), SameBytes())

    custom_directives = (_Direction,)
    assembly_format = (
        "$input `allowed_direction` `` `=` `` custom<_Direction>($allowed_direction) "
        "attr-dict `:` type($input)"
    )

    def __init__(self, input: SSAValue | Operation, direction: PropagationDirection):
        input = SSAValue.get(input)
        super().__init__(
            operands=[input],
            result_types=[input.type],
            properties={"allowed_direction": IntegerAttr(direction, i32)},
        )

    @property
    def direction(self) -> PropagationDirection:
        """The allowed direction as an enum member."""
        return PropagationDirection(self.allowed_direction.value.data)


# Regions


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends the body of a manual or named computation."""

    name = "sdy.return"

    results_ = var_operand_def()

    traits = traits_def(Pure(), IsTerminator())

    assembly_format = "attr-dict ($results_^ `:` type($results_))?"

    def __init__(self, *values: SSAValue | Operation):
        super().__init__(operands=[values])


def _parse_arguments_and_body(parser: Parser) -> Region:
    """`(%arg0: tensor<8xf32>, ...) { ... }`, no block label."""

    def parse_argument() -> Parser.Argument:
        argument = parser.parse_argument()
        parser.parse_optional_attr_dict()
        argument.location = parser.parse_optional_location()
        return argument

    arguments = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parse_argument
    )
    return parser.parse_region(arguments)


def _print_arguments_and_body(printer: Printer, body: Region) -> None:
    # The names of the arguments belong to the body's scope: print_region opens it,
    # so the arguments are named before, as func.func does.
    printer.print_string("(")
    printer.print_list(body.block.args, printer.print_block_argument)
    printer.print_string(") ")
    printer.print_region(body, print_entry_block_args=False)


class ComputationDataFlow(DataFlowTrait):
    """Block arguments and results of a computation own an edge each.

    As in C++, operands do not lead to their edge: when the sharding of an operand
    changes, propagation does not visit the edge of the block argument again.
    """

    def edge_owners(self, op: Operation) -> tuple[SSAValue, ...]:
        """Results, then block arguments."""
        return (*op.results, *op.regions[0].block.args)

    def edge_owner(
        self, op: Operation, target: OpResult | BlockArgument
    ) -> SSAValue | None:
        """Return the value itself."""
        return target

    def edge_sources(self, op: Operation, owner: SSAValue) -> tuple[Operand]:
        """Return the operand of a block argument, what the body returns of a result."""
        if isinstance(owner, BlockArgument):
            return (Operand(op, owner.index),)
        assert isinstance(owner, OpResult)
        return (returned(op.regions[0], owner.index),)

    def owner_of_source(self, op: Operation, source: Operand) -> SSAValue | None:
        """Return the result that a returned value becomes."""
        return None if source.op is op else op.results[source.index]


class _ComputationOp(SymbolUserOp, ABC):
    """A region that is sharded as a whole.

    Written `(operands) in_shardings=[…] out_shardings=[…] (arguments) {…} attr-dict :
    signature`, with what an op has of its own in front, or before the arguments.
    """

    tensors = var_operand_def()
    body = region_def("single_block")
    results_ = var_result_def()

    @classmethod
    def _parse(
        cls,
        parser: Parser,
        properties: dict[str, Attribute],
        parse_own: Callable[[], dict[str, Attribute]] | None = None,
    ) -> Self:
        """Parse from the operands on."""
        start = parser.pos
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        for keyword in ("in_shardings", "out_shardings"):
            if parse_own is not None:
                parser.parse_keyword(keyword)
            elif parser.parse_optional_keyword(keyword) is None:
                continue
            parser.parse_punctuation("=")
            shardings = TensorShardingPerValueAttr.parse_stripped(parser)
            properties[keyword] = shardings
        if parse_own is not None:
            properties |= parse_own()
        body = _parse_arguments_and_body(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        signature = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands(operands, signature.inputs.data, start),
            result_types=signature.outputs.data,
            properties=properties,
            attributes=attributes,
            regions=[body],
        )

    def _print(self, printer: Printer, own: str = "") -> None:
        """Print operands and shardings, then `own` properties."""
        printer.print_operands(self.operands)
        for keyword in ("in_shardings", "out_shardings"):
            shardings = self.properties.get(keyword)
            if isinstance(shardings, TensorShardingPerValueAttr):
                printer.print_string(f" {keyword}={shardings.stripped_text}")
        printer.print_string(f"{own} ")
        _print_arguments_and_body(printer, self.body)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)


@irdl_op_definition
class ManualComputationOp(_ComputationOp):
    """A region of per-device code: local with respect to its manual axes.

    Operands and results are global tensors; block arguments and returned values have
    the shapes of their shards along the manual axes. Propagation still shards along
    the free axes.
    """

    name = "sdy.manual_computation"

    in_shardings = prop_def(TensorShardingPerValueAttr)
    out_shardings = prop_def(TensorShardingPerValueAttr)
    manual_axes = prop_def(ManualAxesAttr)

    traits = traits_def(
        IsolatedFromAbove(),
        RecursiveMemoryEffect(),
        ComputationDataFlow(),
        HasRewrites(),
    )

    def __init__(
        self,
        tensors: Sequence[SSAValue | Operation],
        in_shardings: Iterable[AnySharding] | TensorShardingPerValueAttr,
        out_shardings: Iterable[AnySharding] | TensorShardingPerValueAttr,
        manual_axes: Iterable[str] | ManualAxesAttr,
        body: Region,
        result_types: Sequence[Attribute],
    ):
        if not isinstance(manual_axes, ManualAxesAttr):
            manual_axes = ManualAxesAttr(manual_axes)
        super().__init__(
            operands=[tensors],
            result_types=[result_types],
            properties={
                "in_shardings": _shardings_attr(in_shardings),
                "out_shardings": _shardings_attr(out_shardings),
                "manual_axes": manual_axes,
            },
            regions=[body],
        )

    def inner_sharding(self, index: int) -> TensorSharding:
        """The sharding of block argument `index` in the body: its free axes only."""
        outer = self.in_shardings.data[index]
        return without_manual_axes(outer, self.manual_axes.data)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        def parse_manual_axes() -> dict[str, Attribute]:
            parser.parse_keyword("manual_axes")
            parser.parse_punctuation("=")
            axes = ManualAxesAttr.parse_parameter(parser)
            return {"manual_axes": ManualAxesAttr(axes)}

        return cls._parse(parser, {}, parse_manual_axes)

    def print(self, printer: Printer) -> None:
        axes = syntax.manual_axes_text(self.manual_axes.data)
        self._print(printer, f" manual_axes={axes}")


@irdl_op_definition
class NamedComputationOp(_ComputationOp):
    """A named group of ops; propagation goes through as if it were inlined."""

    name = "sdy.named_computation"

    computation_name = prop_def(StringAttr, prop_name="name")
    in_shardings = opt_prop_def(TensorShardingPerValueAttr)
    out_shardings = opt_prop_def(TensorShardingPerValueAttr)

    traits = traits_def(
        IsolatedFromAbove(), RecursiveMemoryEffect(), ComputationDataFlow()
    )

    def __init__(
        self,
        computation_name: str,
        operands: Sequence[SSAValue | Operation],
        body: Region,
        result_types: Sequence[Attribute],
        in_shardings: Iterable[AnySharding] | TensorShardingPerValueAttr | None = None,
        out_shardings: Iterable[AnySharding] | TensorShardingPerValueAttr | None = None,
    ):
        shardings = {"in_shardings": in_shardings, "out_shardings": out_shardings}
        super().__init__(
            operands=[operands],
            result_types=[result_types],
            properties={"name": StringAttr(computation_name)}
            | {
                name: _shardings_attr(given)
                for name, given in shardings.items()
                if given is not None
            },
            regions=[body],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        with parser.in_angle_brackets():
            name = StringAttr(parser.parse_str_literal())
        return cls._parse(parser, {"name": name})

    def print(self, printer: Printer) -> None:
        printer.print_string("<")
        printer.print_string_literal(self.computation_name.data)
        printer.print_string(">")
        self._print(printer)


# Collectives


class CollectiveOp(SymbolUserOp, ABC):
    """Base of collectives: they move data, so that the result gets another sharding.

    The type stays the global one. The verifier checks that `out_sharding` follows from
    the operand's sharding and the op's axes.

    Source: Shardy's Sdy_CollectiveOpInterface.
    """

    T: ClassVar = _ANY_SHAPED

    tensor = operand_def(T)
    out_sharding = prop_def(TensorShardingAttr)
    result = result_def(T)

    traits = traits_def(HasRewrites())

    ALLOWS_MISSING_INPUT_SHARDING: ClassVar[bool] = False
    """Whether an operand without sharding counts as replicated."""

    ALLOWS_DIFFERENT_MESHES: ClassVar[bool] = False
    """Whether operand and result may lie on meshes that differ in device order."""

    AXES: ClassVar[Callable[[Any], Attribute] | None] = None
    """The constructor of the op's property that lists axes, if it has one."""

    def __init__(
        self,
        tensor: SSAValue | Operation,
        axes: Iterable[Any] | Attribute,
        out_sharding: AnySharding,
    ):
        tensor = SSAValue.get(tensor)
        properties: dict[str, Attribute] = {}
        make = type(self).AXES
        if make is not None:
            names = self.get_irdl_definition().properties.keys()
            (name,) = names - {"out_sharding", "reduction_op"}
            properties[name] = axes if isinstance(axes, Attribute) else make(axes)
        properties["out_sharding"] = _sharding_attr(out_sharding)
        super().__init__(
            operands=[tensor], result_types=[tensor.type], properties=properties
        )


def _collective_format(axes: str) -> str:
    return f"{axes}$tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)"


@irdl_custom_directive
class _Combining(CustomDirective):
    """The keyword of a `ReductionKind`, which sums do without."""

    number: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        reduction = syntax.parse_optional_reduction(parser)
        if reduction is not None and reduction is not ReductionKind.SUM:
            self.number.set(state, _number_of(reduction))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        number = cast(IntegerAttr[I32] | None, self.number.get(op))
        if number is not None and number.value.data:
            state.print_whitespace(printer)
            known = {at: kind.value for at, kind in enumerate(ReductionKind)}
            printer.print_string(known.get(number.value.data, str(number)))
            state.should_emit_space = True
            state.last_was_punctuation = False


def _number_of(reduction: ReductionKind) -> IntegerAttr[I32]:
    return IntegerAttr(list(ReductionKind).index(reduction), i32)


class CombiningOp(CollectiveOp, ABC):
    """A collective that combines; by a sum where it says nothing, as in jaxlib 0.10."""

    reduction_op = opt_prop_def(IntegerAttr[I32])

    custom_directives = (_Combining,)

    @property
    def reduction(self) -> ReductionKind:
        """The reduction that combines the chunks."""
        number = 0 if self.reduction_op is None else self.reduction_op.value.data
        return list(ReductionKind)[number]

    def by(self, reduction: ReductionKind) -> Self:
        """Itself, combining so from now on."""
        is_sum = reduction is ReductionKind.SUM
        self.reduction_op = None if is_sum else _number_of(reduction)
        return self


class _PerDimensionOp(CollectiveOp, ABC):
    """Base of collectives with one property: a list of axes for each dimension."""

    AXES: ClassVar = ListOfAxisRefListsAttr


class _PerTensorOp(CollectiveOp, ABC):
    """Base of collectives with one property: axes of no dimension."""

    AXES: ClassVar = AxisRefListAttr


@irdl_op_definition
class AllGatherOp(_PerDimensionOp):
    """Gathers chunks along axes that end the sharding of each dimension."""

    name = "sdy.all_gather"

    gathering_axes = prop_def(ListOfAxisRefListsAttr)

    assembly_format = _collective_format("$gathering_axes ")


@irdl_op_definition
class AllSliceOp(_PerDimensionOp):
    """Keeps each device's chunk along more axes; the opposite of all-gather."""

    name = "sdy.all_slice"

    slicing_axes = prop_def(ListOfAxisRefListsAttr)

    ALLOWS_MISSING_INPUT_SHARDING: ClassVar[bool] = True

    assembly_format = _collective_format("$slicing_axes ")


@irdl_op_definition
class AllToAllOp(CollectiveOp):
    """Moves axes from the end of one dimension's sharding to the end of another's."""

    name = "sdy.all_to_all"

    AXES: ClassVar = AllToAllParamListAttr

    params = prop_def(AllToAllParamListAttr)

    assembly_format = _collective_format("$params ")


@irdl_op_definition
class CollectivePermuteOp(CollectiveOp):
    """Sends chunks of unchanged size to other devices, to reorder or replace axes."""

    name = "sdy.collective_permute"

    ALLOWS_DIFFERENT_MESHES: ClassVar[bool] = True

    assembly_format = _collective_format("")

    def __init__(self, tensor: SSAValue | Operation, out_sharding: AnySharding):
        super().__init__(tensor, (), out_sharding)


@irdl_op_definition
class AllReduceOp(CombiningOp, _PerTensorOp):
    """Combines chunks along axes; each device along them gets the result."""

    name = "sdy.all_reduce"

    reduction_axes = prop_def(AxisRefListAttr)

    ALLOWS_MISSING_INPUT_SHARDING: ClassVar[bool] = True

    assembly_format = _collective_format(
        "custom<_Combining>($reduction_op) $reduction_axes "
    )


@irdl_op_definition
class ReduceScatterOp(CombiningOp, _PerDimensionOp):
    """Combines chunks along axes and scatters the result along the same axes."""

    name = "sdy.reduce_scatter"

    reduce_scatter_axes = prop_def(ListOfAxisRefListsAttr)

    ALLOWS_MISSING_INPUT_SHARDING: ClassVar[bool] = True

    assembly_format = _collective_format(
        "custom<_Combining>($reduction_op) $reduce_scatter_axes "
    )


@irdl_op_definition
class ShardedToUnreducedOp(_PerDimensionOp):
    """Turns axes that shard dimensions into unreduced axes, by padding with zeros."""

    name = "sdy.sharded_to_unreduced"

    axes = prop_def(ListOfAxisRefListsAttr)

    assembly_format = _collective_format("$axes ")


@irdl_op_definition
class ReplicatedToUnreducedOp(_PerTensorOp):
    """Turns replicated axes into unreduced ones: all devices but the first hold zeros."""

    name = "sdy.replicated_to_unreduced"

    axes = prop_def(AxisRefListAttr)

    assembly_format = _collective_format("$axes ")
