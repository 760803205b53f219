"""Modules that tt-mlir puts around functions, and calls whose results it caches.

`module > ttcore.device_module > builtin.module > func.func` is a program for the
devices. Functions that depend on constants alone are called once, with
`ttcore.load_cached`.
"""

from xdsl.dialects.builtin import (
    AnyTensorTypeConstr,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    NoTerminator,
    Pure,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt.lifetimes import verify_lifetimes
from ttxdsl.dialects._tt.verbatim import (
    TTCORE_TEXTS,
    SpacedVerbatim,
    Verbatim,
    verbatim,
)
from ttxdsl.ir.compat.speed.definitions import irdl_attr_definition, irdl_op_definition

TEXTS = {attribute.name: attribute for attribute in verbatim("ttcore", TTCORE_TEXTS)}
"""ttcore's attributes that are kept as text, by name."""

LOCAL_SHAPE = verbatim("ttcore", ["local_shape"], SpacedVerbatim)[0]
"""`#ttcore<local_shape local_shape = tensor<4x8xf32>>`: a device's local shard."""


class _WrapperOp(IRDLOperation):
    """Base of ops around one module."""

    body = region_def("single_block")

    assembly_format = "attr-dict-with-keyword $body"

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolTable())

    def verify_(self) -> None:
        """It holds one module."""
        ops = list(self.body.block.ops)
        if len(ops) != 1 or not isinstance(ops[0], ModuleOp):
            raise VerifyException(f"{self.name} holds one module")

    @property
    def module(self) -> ModuleOp:
        """The module inside."""
        (op,) = self.body.block.ops
        assert isinstance(op, ModuleOp)
        return op


@irdl_op_definition
class DeviceModuleOp(_WrapperOp):
    """The module of what the devices run."""

    name = "ttcore.device_module"

    def verify_(self) -> None:
        """It holds one module, which uses no tensor after its deallocation."""
        super().verify_()
        verify_lifetimes(self)


@irdl_op_definition
class CPUModuleOp(_WrapperOp):
    """The module of what the host runs."""

    name = "ttcore.cpu_module"


@irdl_op_definition
class DeviceOp(IRDLOperation):
    """A machine by name: `ttcore.device @default_device = <workerGrid = …>`."""

    name = "ttcore.device"

    sym_name = prop_def(SymbolNameConstraint())
    device_attr = prop_def(Attribute)

    traits = traits_def(SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> "DeviceOp":
        """Read `@name = <…>`."""
        name = parser.parse_symbol_name()
        parser.parse_punctuation("=")
        device = TEXTS["ttcore.device"]
        machine = device.new(device.parse_parameters(parser))
        attributes = parser.parse_optional_attr_dict()
        return cls.create(
            properties={"sym_name": name, "device_attr": machine}, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" = ")
        assert isinstance(self.device_attr, Verbatim)
        self.device_attr.print_parameters(printer)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class LoadCachedOp(IRDLOperation):
    """The results of a function of constants, which is called the first time only."""

    name = "ttcore.load_cached"

    callee = prop_def(SymbolRefAttr)
    inputs = var_operand_def(AnyTensorTypeConstr)
    res = var_result_def(AnyTensorTypeConstr)

    assembly_format = (
        "`(` $callee `,` `[` $inputs `]` `)` attr-dict `:` "
        "functional-type($inputs, $res)"
    )

    traits = traits_def(Pure())


@irdl_op_definition
class OptimizationBarrierOp(IRDLOperation):
    """Its operands, which nothing is moved across."""

    name = "ttcore.optimization_barrier"

    inputs = var_operand_def(AnyTensorTypeConstr)
    res = var_result_def(AnyTensorTypeConstr)

    def verify_(self) -> None:
        """Results are the operands."""
        if [value.type for value in self.inputs] != [value.type for value in self.res]:
            raise VerifyException("results have the types of the operands")


@irdl_op_definition
class CompositeOp(IRDLOperation):
    """A call of the function `decomposition` under a name of its own."""

    name = "ttcore.composite"

    inputs = var_operand_def(AnyTensorTypeConstr)
    composite_name = prop_def(StringAttr)
    decomposition = prop_def(SymbolRefAttr)
    composite_attributes = opt_prop_def(DictionaryAttr)
    res = var_result_def(AnyTensorTypeConstr)


@irdl_op_definition
class CaseOp(IRDLOperation):
    """The function number `selector` of `branch_programs` on the other operands.

    The last when there is no such; of a truth value the first when it is false.
    """

    name = "ttcore.case"

    selector = operand_def(AnyTensorTypeConstr)
    inputs = var_operand_def(AnyTensorTypeConstr)
    branch_programs = prop_def(ArrayAttr[SymbolRefAttr])
    res = var_result_def(AnyTensorTypeConstr)


@irdl_attr_definition
class LoopBoundAttr(ParametrizedAttribute):
    """A number where a counted loop begins or ends: `#ttcore.loop_bound<3>`."""

    name = "ttcore.loop_bound"

    number: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read `<3>`."""
        with parser.in_angle_brackets():
            return [IntAttr(parser.parse_integer())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_int(self.number.data)


@irdl_op_definition
class WhileLoopOp(IRDLOperation):
    """While `condition_program` holds of the operands, `body_program` makes new ones.

    The first `state_count` operands are replaced, the others stay; the results are
    those that `output_indices` names. Instead of a condition there may be how often:
    once for each number from `initial` to below `limit`, by `step`.

    Constraints:
    - a condition, or all of `initial`, `limit` and a positive `step`.
    """

    name = "ttcore.while_loop"

    inputs = var_operand_def(AnyTensorTypeConstr)
    condition_program = opt_prop_def(SymbolRefAttr)
    initial = opt_prop_def(LoopBoundAttr)
    limit = opt_prop_def(LoopBoundAttr)
    step = opt_prop_def(LoopBoundAttr)
    body_program = prop_def(SymbolRefAttr)
    output_indices = prop_def(DenseArrayBase[IntegerType])
    state_count = prop_def(IntegerAttr)
    res = var_result_def(AnyTensorTypeConstr)

    def counted(self) -> range | None:
        """Return the values of the counter; None if a condition ends the loop."""
        bounds = (self.initial, self.limit, self.step)
        numbers = [bound.number.data for bound in bounds if bound is not None]
        return range(*numbers) if len(numbers) == len(bounds) else None

    def verify_(self) -> None:
        bounds = [
            bound
            for bound in (self.initial, self.limit, self.step)
            if bound is not None
        ]
        if len(bounds) != (3 if self.condition_program is None else 0):
            raise VerifyException(
                "a loop has a condition_program, or initial, limit and step"
            )
        if self.step is not None and self.step.number.data < 1:
            raise VerifyException(f"step is {self.step.number.data}, expected positive")


def device_module(module: ModuleOp) -> ModuleOp:
    """Return the module that the devices run: inside tt-mlir's wrapper, or itself."""
    for op in module.ops:
        if isinstance(op, DeviceModuleOp):
            return op.module
    return module
