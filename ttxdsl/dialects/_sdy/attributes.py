"""The attributes of the sdy dialect: thin wrappers of the values in `ttxdsl.sharding`.

An attribute's `data` is the value that the theory computes with, so that attributes
are made once, at the end of an algorithm. Attributes whose text does not begin with
`<` print as `#sdy<name…>`, as MLIR does; nested in ops they print without any name.
One that begins with a letter has a space before it, which parts it from the name.

Source: Shardy's `attrs.td`, where each attribute has the same name.
"""

from abc import ABC
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, TypeVar

from xdsl.ir import Data, OpaqueSyntaxAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttxdsl.dialects._sdy import syntax as syntax, verify as verify
from ttxdsl.dialects._sdy.values import AxisPropagation, EdgeValueRef, PropagationStep
from ttxdsl.ir.compat.speed.definitions import irdl_attr_definition
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import DimMapping, OpShardingRule, TensorMapping
from ttxdsl.sharding.reshard.collectives import AllToAllParam
from ttxdsl.sharding.spec import DimSharding, TensorSharding

_DataT = TypeVar("_DataT")


def _spaced(text: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda data: f" {text(data)}"


class _TextAttr(Data[_DataT], ABC):
    """Base of attributes whose text one function parses into plain data."""

    READ: ClassVar[Callable[[AttrParser], Any]]
    TEXT: ClassVar[Callable[[Any], str]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> _DataT:
        return cls.READ(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(type(self).TEXT(self.data))


@irdl_attr_definition
class MeshAxisAttr(_TextAttr[tuple[str, int]], OpaqueSyntaxAttribute):
    """One mesh axis, name and size: `"x"=2`. The size is at least 1."""

    name = "sdy.mesh_axis"

    READ = syntax.parse_mesh_axis
    TEXT = syntax.mesh_axis_text

    def verify(self) -> None:
        """Refuse a size below 1."""
        verify.mesh_axis_size(*self.data)


@irdl_attr_definition
class MeshAttr(_TextAttr[Mesh]):
    """Named axes and an optional order of devices: `<["x"=2, "y"=4]>`.

    No axes and no device ids: the empty mesh, a placeholder. No axes and one device
    id: the maximal mesh, everything lives on that device.
    """

    name = "sdy.mesh"

    READ = syntax.parse_mesh
    TEXT = str

    def verify(self) -> None:
        """Refuse bad sizes, doubled names, and device ids that are no permutation."""
        verify.whole_mesh(self.data)


@irdl_attr_definition
class SubAxisInfoAttr(_TextAttr[tuple[int, int]], OpaqueSyntaxAttribute):
    """Pre-size m and size k of a sub-axis: `(m)k`."""

    name = "sdy.sub_axis_info"

    READ = syntax.parse_sub_axis
    TEXT = "({0[0]}){0[1]}".format


@irdl_attr_definition
class AxisRefAttr(_TextAttr[AxisRef], OpaqueSyntaxAttribute):
    """A full mesh axis or a sub-axis: `"x"`, `"x":(1)2`."""

    name = "sdy.axis_ref"

    READ = syntax.parse_axis_ref
    TEXT = str


@irdl_attr_definition
class AxisRefListAttr(_TextAttr[tuple[AxisRef, ...]], OpaqueSyntaxAttribute):
    """A list of axes: `{"x", "y":(1)2}`."""

    name = "sdy.axis_ref_list"

    READ = syntax.parse_axis_refs
    TEXT = syntax.axis_refs_text

    def __init__(self, axes: Iterable[AxisRef]):
        super().__init__(tuple(axes))


@irdl_attr_definition
class ListOfAxisRefListsAttr(
    _TextAttr[tuple[tuple[AxisRef, ...], ...]], OpaqueSyntaxAttribute
):
    """One list of axes a dimension: `[{"x"}, {}]`."""

    name = "sdy.list_of_axis_ref_lists"

    READ = syntax.parse_axis_ref_lists
    TEXT = syntax.axis_ref_lists_text

    def __init__(self, lists: Iterable[Iterable[AxisRef]]):
        super().__init__(tuple(tuple(axes) for axes in lists))


@irdl_attr_definition
class ManualAxesAttr(_TextAttr[tuple[str, ...]], OpaqueSyntaxAttribute):
    """The axes along which a manual computation's body is local: `{"x", "y"}`."""

    name = "sdy.manual_axes"

    READ = syntax.parse_manual_axes
    TEXT = syntax.manual_axes_text

    def __init__(self, axes: Iterable[str]):
        super().__init__(tuple(axes))


@irdl_attr_definition
class DimensionShardingAttr(_TextAttr[DimSharding], OpaqueSyntaxAttribute):
    """The axes of one dimension, major to minor, open or closed: `{"x", ?}p1`."""

    name = "sdy.dimension_sharding"

    READ = syntax.parse_dim_sharding
    TEXT = str


@irdl_attr_definition
class TensorShardingAttr(Data[TensorSharding]):
    """The layout of a tensor on a mesh: `<@mesh, [{"x"}, {?}], replicated={"y"}>`."""

    name = "sdy.sharding"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TensorSharding:
        """Parse the stripped form, or a whole attribute or alias in its place."""
        return syntax.parse_sharding(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(syntax.sharding_text(self.data))


@irdl_attr_definition
class TensorShardingPerValueAttr(Data[tuple[TensorSharding, ...]]):
    """One sharding a result (or operand) of an op: `<[<@mesh, [{"x"}]>]>`."""

    name = "sdy.sharding_per_value"

    def __init__(self, shardings: Iterable[TensorSharding]):
        super().__init__(tuple(shardings))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[TensorSharding, ...]:
        """Parse `<[<@mesh, [{"x"}]>]>`."""
        return syntax.parse_shardings_per_value(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{syntax.shardings_text(self.data)}>")

    @classmethod
    def parse_stripped(cls, parser: AttrParser) -> "TensorShardingPerValueAttr":
        """Parse the form inside ops, without angle brackets: `[<@mesh, [{"x"}]>]`."""
        return cls(syntax.parse_shardings(parser))

    @property
    def stripped_text(self) -> str:
        """The form inside ops, without angle brackets: `[<@mesh, [{"x"}]>]`."""
        return syntax.shardings_text(self.data)


@irdl_attr_definition
class DimMappingAttr(_TextAttr[DimMapping], OpaqueSyntaxAttribute):
    """The factors of one dimension, major to minor: `ij`; `*` when there are none."""

    name = "sdy.dim_mapping"

    READ = syntax.parse_dim_mapping
    TEXT = _spaced(syntax.dim_mapping_text)


@irdl_attr_definition
class TensorMappingAttr(_TextAttr[TensorMapping], OpaqueSyntaxAttribute):
    """The factors of each dimension of a tensor: `[i, jk]`."""

    name = "sdy.tensor_mapping"

    READ = syntax.parse_tensor_mapping
    TEXT = syntax.tensor_mapping_text


@irdl_attr_definition
class OpShardingRuleAttr(_TextAttr[OpShardingRule]):
    """The sharding rule of an op, as einsum text with factor sizes and groups.

    `<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}>`
    """

    name = "sdy.op_sharding_rule"

    READ = syntax.parse_rule
    TEXT = "<{}>".format


@irdl_attr_definition
class AllToAllParamAttr(_TextAttr[AllToAllParam], OpaqueSyntaxAttribute):
    """Axes and the dimensions they move between: `{"x"}: 0->2`."""

    name = "sdy.all_to_all_param"

    READ = syntax.parse_all_to_all_param
    TEXT = syntax.all_to_all_param_text


@irdl_attr_definition
class AllToAllParamListAttr(
    _TextAttr[tuple[AllToAllParam, ...]], OpaqueSyntaxAttribute
):
    """All moves of one all-to-all: `[{"x"}: 0->2, {"y"}: 1->3]`."""

    name = "sdy.all_to_all_param_list"

    READ = syntax.parse_all_to_all_params
    TEXT = syntax.all_to_all_params_text

    def __init__(self, params: Iterable[AllToAllParam]):
        super().__init__(tuple(params))


@irdl_attr_definition
class EdgeValueRefAttr(_TextAttr[EdgeValueRef], OpaqueSyntaxAttribute):
    """One operand or result of the op that carries the attribute: `operand-0`."""

    name = "sdy.edge_value_ref"

    READ = syntax.parse_edge_value
    TEXT = _spaced(syntax.edge_value_text)


@irdl_attr_definition
class AxisToPropagationDetailsAttr(_TextAttr[AxisPropagation], OpaqueSyntaxAttribute):
    """The moves of one axis in one step: `{"x" = operand-0 -> [result-0]}`."""

    name = "sdy.axis_to_propagation_details"

    READ = syntax.parse_axis_propagation
    TEXT = syntax.axis_propagation_text


@irdl_attr_definition
class PropagationOneStepAttr(_TextAttr[PropagationStep], OpaqueSyntaxAttribute):
    """The moves of a propagation step: `{step-0 = [{"x" = operand-0 -> [result-0]}]}`."""

    name = "sdy.propagation_one_step"

    READ = syntax.parse_propagation_step
    TEXT = syntax.propagation_step_text


@irdl_attr_definition
class PropagationEdgesAttr(_TextAttr[tuple[PropagationStep, ...]]):
    """The moves of every propagation step: `<[{step-0 = [...]}]>`."""

    name = "sdy.propagation_edges"

    READ = syntax.parse_propagation_edges
    TEXT = syntax.propagation_edges_text

    def __init__(self, steps: Sequence[PropagationStep]):
        super().__init__(tuple(steps))

    def verify(self) -> None:
        """Refuse negative or doubled steps and targets."""
        verify.propagation_steps(self.data)
