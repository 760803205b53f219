"""Ops that combine many elements with a computation that the program gives.

Source: StableHLO specification, sections "reduce", "map", "sort".
"""

from typing import Self

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, LocationAttr, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    SameVariadicOperandSize,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Commutative, RecursiveMemoryEffect

from ttxdsl.dialects.stablehlo import _shapes as shapes, _syntax as syntax
from ttxdsl.dialects.stablehlo._base import Bool, Integer, Integers, StableHLOOp
from ttxdsl.dialects.stablehlo._infer import (
    require_results,
    require_same_shape,
    tensors_of,
)
from ttxdsl.dialects.stablehlo._regions import (
    block_of,
    check_predicate,
    check_reducer,
    returned_types,
)
from ttxdsl.dialects.stablehlo._shapes import require
from ttxdsl.dialects.stablehlo.control_flow import ReturnOp
from ttxdsl.dialects.stablehlo.elementwise import ElementwiseBinaryOp
from ttxdsl.dialects.stablehlo.types import TENSOR, element_of, scalar_of, with_shape
from ttxdsl.dialects.traits import RoundsOnce
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition


def single_op_of(region: Region) -> Operation | None:
    """Return the only op of a region, if its operands are the arguments in order.

    None if the region computes anything else.
    """
    block = region.blocks.first
    if block is None or block.next_block is not None:
        return None
    op, end = block.first_op, block.last_op
    if op is None or end is None or op.next_op is not end:
        return None
    if end.name != "stablehlo.return" or tuple(end.operands) != tuple(op.results):
        return None
    return op if tuple(op.operands) == tuple(block.args) else None


@irdl_op_definition
class ReduceOp(StableHLOOp):
    """Elements along dimensions combined into one. Spec section "reduce"."""

    name = "stablehlo.reduce"

    inputs = var_operand_def(TENSOR)
    init_values = var_operand_def(TENSOR)
    dimensions = prop_def(Integers)
    body = region_def()
    outputs = var_result_def(TENSOR)

    irdl_options = (SameVariadicOperandSize(),)
    traits = traits_def(RecursiveMemoryEffect())

    def applied_op(self) -> Operation | None:
        """The commutative op that the short form `applies`, if the body is just that."""
        op = single_op_of(self.body)
        if op is None or not self.inputs or len(op.results) != 1:
            return None
        if len(op.operands) != 2 or op.regions:
            return None
        if not op.name.startswith("stablehlo.") or not op.has_trait(Commutative):
            return None
        scalar = TensorType(element_of(self.inputs[0].type), ())
        types = (*op.operand_types, *op.result_types)
        return op if all(type == scalar for type in types) else None

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the form with `applies` or the one with `reducer`."""
        inputs: list[UnresolvedOperand] = []
        inits: list[UnresolvedOperand] = []

        def parse_pair() -> None:
            parser.parse_punctuation("(")
            inputs.append(parser.parse_unresolved_operand())
            parser.parse_keyword("init")
            parser.parse_punctuation(":")
            inits.append(parser.parse_unresolved_operand())
            parser.parse_punctuation(")")

        parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_pair)
        applied: type[Operation] | None = None
        if parser.parse_optional_keyword("applies") is not None:
            applied = _parse_applied(parser)
        parser.parse_keyword("across")
        parser.parse_keyword("dimensions")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {
            "dimensions": syntax.i64_array(syntax.parse_dims(parser))
        }
        attributes = syntax.parse_attr_dict(parser, cls, properties)
        parser.parse_punctuation(":")
        position = parser.pos
        operand_types, result_types = syntax.parse_signature(parser)
        location: LocationAttr | None = None
        if applied is None:
            parser.parse_keyword("reducer")
            body = _parse_reducer(parser)
        else:
            if not operand_types:
                parser.raise_error("a reduce needs at least one operand", position)
            # The location belongs to the op in the body as well.
            location = parser.parse_optional_location()
            body = _applied_body(applied, operand_types[0], location)
        return cls.create(
            operands=parser.resolve_operands(
                [*inputs, *inits], operand_types, position
            ),
            result_types=result_types,
            properties=properties,
            attributes=attributes,
            regions=(body,),
            location=location,
        )

    def print(self, printer: Printer) -> None:
        """Print the form with `applies` where the body allows it.

        The generic form is for reductions that break a constraint and are only printed
        to say so.
        """
        half = len(self.operands) // 2
        block = self.body.blocks.first
        if block is None or len(block.args) != 2 * half or len(self.operands) % 2:
            printer.print_op_with_default_format(self)
            return

        def print_pair(index: int) -> None:
            with printer.in_parens():
                printer.print_ssa_value(self.operands[index])
                printer.print_string(" init: ")
                printer.print_ssa_value(self.operands[index + half])

        printer.print_list(range(half), print_pair)
        applied = self.applied_op()
        if applied is not None:
            printer.print_string(f" applies {applied.name}")
        dims = syntax.dims_text(self.dimensions.get_values())
        printer.print_string(f" across dimensions = {dims}")
        syntax.print_attr_dict(printer, self, ("dimensions",))
        printer.print_string(" : ")
        syntax.print_signature(printer, self)
        if applied is not None:
            return
        printer.print_string("\n reducer")
        arguments = block.args
        for index in range(half):
            printer.print_string("(" if index == 0 else " (")
            printer.print_block_argument(arguments[index])
            printer.print_string(", ")
            printer.print_block_argument(arguments[index + half])
            printer.print_string(")")
        printer.print_string("  ")
        printer.print_region(self.body, print_entry_block_args=False)

    def verify_(self) -> None:
        """C1 to C6: inputs, dimensions, body; C7, C8: results."""
        inputs = tensors_of(self.inputs)
        shape = shapes.reduce(
            [type.get_shape() for type in inputs], self.dimensions.get_values()
        )
        results = check_reducer(
            self.body, inputs, tensors_of(self.init_values), shape, "C6"
        )
        require_results(
            self,
            [with_shape(result, shape) for result in results],
            "C7, C8",
        )


def _parse_applied(parser: Parser) -> type[Operation]:
    """Parse the name of the op that a reduce applies."""
    position = parser.pos
    name = parser.parse_identifier()
    op_class = parser.ctx.get_optional_op(name, dialect_stack=("stablehlo",))
    if op_class is None or not issubclass(op_class, ElementwiseBinaryOp):
        parser.raise_error(f"{name} is no op that a reduce can apply", position)
    if not op_class.get_traits_of_type(Commutative):
        parser.raise_error(f"{name} is not commutative", position)
    return op_class


def _applied_body(
    op_class: type[Operation], operand_type: Attribute, location: LocationAttr | None
) -> Region:
    """Return the region of a reduce that applies an op, with the reduce's location."""
    scalar = scalar_of(operand_type)
    block = Block(arg_types=(scalar, scalar))
    applied = op_class.create(
        operands=block.args, result_types=(scalar,), location=location
    )
    end = ReturnOp.create(operands=applied.results, location=location)
    block.add_ops((applied, end))
    if location is not None:
        for argument in block.args:
            argument.location = location
    return Region(block)


def _parse_reducer(parser: Parser) -> Region:
    """Parse `(%a: type, %b: type) (…) { … }` behind the word `reducer`."""
    firsts: list[Parser.Argument] = []
    seconds: list[Parser.Argument] = []

    def parse_argument() -> Parser.Argument:
        argument = parser.parse_argument(expect_type=False)
        parser.parse_punctuation(":")
        value = argument.resolve(parser.parse_type())
        value.location = parser.parse_optional_location()
        return value

    while parser.parse_optional_punctuation("(") is not None:
        firsts.append(parse_argument())
        parser.parse_punctuation(",")
        seconds.append(parse_argument())
        parser.parse_punctuation(")")
    return parser.parse_region([*firsts, *seconds])


@irdl_op_definition
class MapOp(StableHLOOp):
    """A computation on the elements at one place. Spec section "map"."""

    name = "stablehlo.map"

    inputs = var_operand_def(TENSOR)
    dimensions = prop_def(Integers)
    computation = region_def()
    result = result_def(TENSOR)

    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        """C1 to C3: shapes and dimensions; C4: the computation."""
        inputs = tensors_of(self.inputs)
        require(bool(inputs), "there must be an input")
        require_same_shape((*inputs, self.result.type), "an input or the result (C1)")
        rank = len(inputs[0].get_shape())
        dims = self.dimensions.get_values()
        require(
            dims == tuple(range(rank)),
            f"C3: dimensions must be all {rank} in order, got {list(dims)}",
        )
        block = block_of(self.computation, "computation")
        require(
            tuple(block.arg_types) == tuple(scalar_of(type) for type in inputs),
            "C4: computation must take a scalar of each input, got "
            f"({', '.join(map(str, block.arg_types))})",
        )
        returned = returned_types(self.computation)
        require(
            returned == (scalar_of(self.result.type),),
            f"C4: computation must return a scalar of {self.result.type}, got "
            f"({', '.join(map(str, returned))})",
        )


@irdl_op_definition
class SortOp(StableHLOOp):
    """Tensors sorted together along a dimension. Spec section "sort"."""

    name = "stablehlo.sort"

    inputs = var_operand_def(TENSOR)
    dimension = opt_prop_def(Integer, IntegerAttr(-1, i64))
    is_stable = opt_prop_def(Bool, BoolAttr.from_bool(False))
    comparator = region_def()
    outputs = var_result_def(TENSOR)

    traits = traits_def(RecursiveMemoryEffect(), RoundsOnce())

    def verify_(self) -> None:
        """C1 to C3: shapes; C4: the dimension; C5: the comparator."""
        inputs = tensors_of(self.inputs)
        require(bool(inputs), "C1: there must be an input")
        require_same_shape(inputs, "an input (C3)")
        require_results(self, inputs, "C2")
        results = [output.type for output in self.outputs]
        require_same_shape((*inputs, *results), "a result (C2)")
        rank = len(inputs[0].get_shape())
        dim = self.dimension.value.data
        require(-rank <= dim < rank, f"C4: dimension {dim} is not in [{-rank}, {rank})")
        block = block_of(self.comparator, "comparator")
        expected = tuple(scalar_of(type) for type in inputs for _ in range(2))
        require(
            tuple(block.arg_types) == expected,
            f"C5: comparator must take ({', '.join(map(str, expected))}), got "
            f"({', '.join(map(str, block.arg_types))})",
        )
        check_predicate(self.comparator, "C5", "comparator")
