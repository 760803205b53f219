"""The attributes of the sdy dialect: thin wrappers of the values in `ttxdsl.sharding`.

An attribute's `data` is the value that the theory computes with, so that attributes
are made once, at the end of an algorithm. Attributes whose text does not begin with
`<` print as `#sdy<name…>`, as MLIR does; nested in ops they print without any name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Attribute, Data, OpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttxdsl.dialects._sdy import syntax as syntax, verify as verify
from ttxdsl.dialects._sdy.values import AxisPropagation, EdgeValueRef, PropagationStep
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.collectives import AllToAllParam
from ttxdsl.sharding.factors import DimMapping, OpShardingRule, TensorMapping
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding


@irdl_attr_definition
class MeshAxisAttr(Data[tuple[str, int]], OpaqueSyntaxAttribute):
    """One mesh axis, name and size: `"x"=2`. The size is at least 1.

    Source: Shardy's MeshAxisAttr.
    """

    name = "sdy.mesh_axis"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, int]:
        """Parse `"x"=2`."""
        return syntax.parse_mesh_axis(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `"x"=2`."""
        printer.print_string(syntax.mesh_axis_text(self.data))

    def verify(self) -> None:
        """Refuse a size below 1."""
        verify.mesh_axis_size(*self.data)


@irdl_attr_definition
class MeshAttr(Data[Mesh]):
    """Named axes and an optional order of devices: `<["x"=2, "y"=4]>`.

    No axes and no device ids: the empty mesh, a placeholder. No axes and one device
    id: the maximal mesh, everything lives on that device.

    Source: Shardy's MeshAttr.
    """

    name = "sdy.mesh"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Mesh:
        """Parse `<["x"=2, "y"=4]>`."""
        return syntax.parse_mesh(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `<["x"=2, "y"=4]>`."""
        printer.print_string(str(self.data))

    def verify(self) -> None:
        """Refuse bad sizes, doubled names, and device ids that are no permutation."""
        verify.whole_mesh(self.data)


@irdl_attr_definition
class SubAxisInfoAttr(Data[tuple[int, int]], OpaqueSyntaxAttribute):
    """Pre-size m and size k of a sub-axis: `(m)k`.

    Source: Shardy's SubAxisInfoAttr.
    """

    name = "sdy.sub_axis_info"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, int]:
        """Parse `(m)k`."""
        return syntax.parse_sub_axis(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `(m)k`."""
        pre_size, size = self.data
        printer.print_string(f"({pre_size}){size}")


@irdl_attr_definition
class AxisRefAttr(Data[AxisRef], OpaqueSyntaxAttribute):
    """A full mesh axis or a sub-axis: `"x"`, `"x":(1)2`.

    Source: Shardy's AxisRefAttr.
    """

    name = "sdy.axis_ref"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AxisRef:
        """Parse `"x":(1)2`."""
        return syntax.parse_axis_ref(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `"x":(1)2`."""
        printer.print_string(str(self.data))


@irdl_attr_definition
class AxisRefListAttr(Data[tuple[AxisRef, ...]], OpaqueSyntaxAttribute):
    """A list of axes: `{"x", "y":(1)2}`.

    Source: Shardy's AxisRefListAttr.
    """

    name = "sdy.axis_ref_list"

    def __init__(self, axes: Iterable[AxisRef]):
        super().__init__(tuple(axes))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[AxisRef, ...]:
        """Parse `{"x", "y"}`."""
        return syntax.parse_axis_refs(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `{"x", "y"}`."""
        printer.print_string(syntax.axis_refs_text(self.data))


@irdl_attr_definition
class ListOfAxisRefListsAttr(
    Data[tuple[tuple[AxisRef, ...], ...]], OpaqueSyntaxAttribute
):
    """One list of axes a dimension: `[{"x"}, {}]`.

    Source: Shardy's ListOfAxisRefListsAttr.
    """

    name = "sdy.list_of_axis_ref_lists"

    def __init__(self, lists: Iterable[Iterable[AxisRef]]):
        super().__init__(tuple(tuple(axes) for axes in lists))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[AxisRef, ...], ...]:
        """Parse `[{"x"}, {}]`."""
        return syntax.parse_axis_ref_lists(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `[{"x"}, {}]`."""
        printer.print_string(syntax.axis_ref_lists_text(self.data))


@irdl_attr_definition
class ManualAxesAttr(Data[tuple[str, ...]], OpaqueSyntaxAttribute):
    """The axes along which a manual computation's body is local: `{"x", "y"}`.

    Source: Shardy's ManualAxesAttr.
    """

    name = "sdy.manual_axes"

    def __init__(self, axes: Iterable[str]):
        super().__init__(tuple(axes))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, ...]:
        """Parse `{"x", "y"}`."""
        return syntax.parse_manual_axes(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `{"x", "y"}`."""
        printer.print_string(syntax.manual_axes_text(self.data))


@irdl_attr_definition
class DimensionShardingAttr(Data[DimSharding], OpaqueSyntaxAttribute):
    """The axes of one dimension, major to minor, open or closed: `{"x", ?}p1`.

    Source: Shardy's DimensionShardingAttr.
    """

    name = "sdy.dimension_sharding"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> DimSharding:
        """Parse `{"x", ?}p1`."""
        return syntax.parse_dim_sharding(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `{"x", ?}p1`."""
        printer.print_string(str(self.data))


@irdl_attr_definition
class TensorShardingAttr(Data[TensorSharding]):
    """How one tensor lies on a mesh: `<@mesh, [{"x"}, {?}], replicated={"y"}>`.

    Source: Shardy's TensorShardingAttr.
    """

    name = "sdy.sharding"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TensorSharding:
        """Parse the stripped form, or a whole attribute or alias in its place."""
        return syntax.parse_sharding(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `<@mesh, [{"x"}, {?}]>`."""
        printer.print_string(syntax.sharding_text(self.data))


@irdl_attr_definition
class TensorShardingPerValueAttr(Data[tuple[TensorSharding, ...]]):
    """One sharding a result (or operand) of an op: `<[<@mesh, [{"x"}]>]>`.

    Source: Shardy's TensorShardingPerValueAttr.
    """

    name = "sdy.sharding_per_value"

    def __init__(self, shardings: Iterable[TensorSharding]):
        super().__init__(tuple(shardings))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[TensorSharding, ...]:
        """Parse `<[<@mesh, [{"x"}]>]>`."""
        return syntax.parse_shardings_per_value(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `<[<@mesh, [{"x"}]>]>`."""
        printer.print_string(f"<{syntax.shardings_text(self.data)}>")

    @classmethod
    def parse_stripped(cls, parser: AttrParser) -> TensorShardingPerValueAttr:
        """Parse the form inside ops, without angle brackets: `[<@mesh, [{"x"}]>]`."""
        return cls(syntax.parse_shardings(parser))

    @property
    def stripped_text(self) -> str:
        """The form inside ops, without angle brackets: `[<@mesh, [{"x"}]>]`."""
        return syntax.shardings_text(self.data)


@irdl_attr_definition
class DimMappingAttr(Data[DimMapping], OpaqueSyntaxAttribute):
    """The factors of one dimension, major to minor: `ij`; `*` when there are none.

    Source: Shardy's DimMappingAttr.
    """

    name = "sdy.dim_mapping"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> DimMapping:
        """Parse `ij`."""
        return syntax.parse_dim_mapping(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `ij`, after a space: the name before it ends in a letter."""
        printer.print_string(f" {syntax.dim_mapping_text(self.data)}")


@irdl_attr_definition
class TensorMappingAttr(Data[TensorMapping], OpaqueSyntaxAttribute):
    """The factors of each dimension of a tensor: `[i, jk]`.

    Source: Shardy's TensorMappingAttr.
    """

    name = "sdy.tensor_mapping"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TensorMapping:
        """Parse `[i, jk]`."""
        return syntax.parse_tensor_mapping(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `[i, jk]`."""
        printer.print_string(syntax.tensor_mapping_text(self.data))


@irdl_attr_definition
class OpShardingRuleAttr(Data[OpShardingRule]):
    """How an op may be partitioned, as einsum text with factor sizes and groups.

    `<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}>`

    Source: Shardy's OpShardingRuleAttr.
    """

    name = "sdy.op_sharding_rule"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> OpShardingRule:
        """Parse `<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8}>`."""
        return syntax.parse_rule(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8}>`."""
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class AllToAllParamAttr(Data[AllToAllParam], OpaqueSyntaxAttribute):
    """Axes and the dimensions they move between: `{"x"}: 0->2`.

    Source: Shardy's AllToAllParamAttr.
    """

    name = "sdy.all_to_all_param"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AllToAllParam:
        """Parse `{"x"}: 0->2`."""
        return syntax.parse_all_to_all_param(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `{"x"}: 0->2`."""
        printer.print_string(syntax.all_to_all_param_text(self.data))


@irdl_attr_definition
class AllToAllParamListAttr(Data[tuple[AllToAllParam, ...]], OpaqueSyntaxAttribute):
    """All moves of one all-to-all: `[{"x"}: 0->2, {"y"}: 1->3]`.

    Source: Shardy's AllToAllParamListAttr.
    """

    name = "sdy.all_to_all_param_list"

    def __init__(self, params: Iterable[AllToAllParam]):
        super().__init__(tuple(params))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[AllToAllParam, ...]:
        """Parse `[{"x"}: 0->2]`."""
        return syntax.parse_all_to_all_params(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `[{"x"}: 0->2]`."""
        printer.print_string(syntax.all_to_all_params_text(self.data))


@irdl_attr_definition
class EdgeValueRefAttr(Data[EdgeValueRef], OpaqueSyntaxAttribute):
    """One operand or result of the op that carries the attribute: `operand-0`.

    Source: Shardy's EdgeValueRefAttr.
    """

    name = "sdy.edge_value_ref"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> EdgeValueRef:
        """Parse `operand-0`."""
        return syntax.parse_edge_value(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `operand-0`, after a space: the name before it ends in a letter."""
        printer.print_string(f" {syntax.edge_value_text(self.data)}")


@irdl_attr_definition
class AxisToPropagationDetailsAttr(Data[AxisPropagation], OpaqueSyntaxAttribute):
    """Where one axis went in one step: `{"x" = operand-0 -> [result-0]}`.

    Source: Shardy's AxisToPropagationDetailsAttr.
    """

    name = "sdy.axis_to_propagation_details"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AxisPropagation:
        """Parse `{"x" = operand-0 -> [result-0]}`."""
        return syntax.parse_axis_propagation(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `{"x" = operand-0 -> [result-0]}`."""
        printer.print_string(syntax.axis_propagation_text(self.data))


@irdl_attr_definition
class PropagationOneStepAttr(Data[PropagationStep], OpaqueSyntaxAttribute):
    """What one propagation step moved: `{step-0 = [{"x" = operand-0 -> [result-0]}]}`.

    Source: Shardy's PropagationOneStepAttr.
    """

    name = "sdy.propagation_one_step"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> PropagationStep:
        """Parse `{step-0 = [...]}`."""
        return syntax.parse_propagation_step(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `{step-0 = [...]}`."""
        printer.print_string(syntax.propagation_step_text(self.data))


@irdl_attr_definition
class PropagationEdgesAttr(Data[tuple[PropagationStep, ...]]):
    """What every propagation step moved: `<[{step-0 = [...]}]>`.

    Source: Shardy's PropagationEdgesAttr.
    """

    name = "sdy.propagation_edges"

    def __init__(self, steps: Sequence[PropagationStep]):
        super().__init__(tuple(steps))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[PropagationStep, ...]:
        """Parse `<[{step-0 = [...]}]>`."""
        return syntax.parse_propagation_edges(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `<[{step-0 = [...]}]>`."""
        printer.print_string(syntax.propagation_edges_text(self.data))

    def verify(self) -> None:
        """Refuse negative or doubled steps and targets."""
        verify.propagation_steps(self.data)


ATTRIBUTES: list[type[Attribute]] = [
    MeshAxisAttr,
    MeshAttr,
    SubAxisInfoAttr,
    AxisRefAttr,
    AxisRefListAttr,
    ListOfAxisRefListsAttr,
    ManualAxesAttr,
    DimensionShardingAttr,
    TensorShardingAttr,
    TensorShardingPerValueAttr,
    DimMappingAttr,
    TensorMappingAttr,
    OpShardingRuleAttr,
    AllToAllParamAttr,
    AllToAllParamListAttr,
    EdgeValueRefAttr,
    AxisToPropagationDetailsAttr,
    PropagationOneStepAttr,
    PropagationEdgesAttr,
]
"""Every attribute of the dialect, in the order of the dialect's documentation."""
