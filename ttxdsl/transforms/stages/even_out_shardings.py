"""`even-out-shardings`: split no dimension by axes that do not divide it.

Propagation looks at axes and not at sizes, and stage 11 makes all shards of a tensor
the same size. This pass keeps the leading axes that divide a dimension and drops the
others, and drops all axes of quantized tensors with a scale for each slice
(`ttxdsl.rules.quantized`). The value is then computed whole along them, which is exact
and costs what the warning says; so are even values between such (`even_islands.py`).
The pipeline runs it before stage 8, and warns at its end of what is whole then.

Shardings of the program's arguments and results are the caller's: `pad-borders` pads
these, or `check_boundary_shardings` refuses them.

Source: DESIGN section 6.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.diagnostics.remarks import Cost, OpsAt, emit_cost
from ttxdsl.dialects import sdy
from ttxdsl.dialects.quant import scaled_dim
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.tensors import tensor_bytes
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.partition.localizer import scaled_error, uneven_error
from ttxdsl.transforms.shardy.meshes import mesh_lookup
from ttxdsl.transforms.stages.even_islands import keep_islands_whole


def leading_axes_that_divide(axes: Axes, size: int, mesh: Mesh) -> Axes:
    """Return the longest run of whole leading axes whose product divides `size`."""
    kept: list[AxisRef] = []
    for axis in axes:
        extent = axis.size_in(mesh)
        if size % extent:
            break
        kept.append(axis)
        size //= extent
    return tuple(kept)


def _static_tensor(type_: Attribute) -> TensorType[Attribute] | None:
    """Return a type as a ranked tensor of static shape, or None."""
    if not isinstance(type_, TensorType):
        return None
    tensor = cast("TensorType[Attribute]", type_)
    return tensor if tensor.has_static_shape() else None


def _is_scaled(type_: TensorType[Attribute]) -> bool:
    """Whether quantized elements have a scale for each slice."""
    return scaled_dim(type_.element_type) is not None


def _divided_sizes(type_: TensorType[Attribute]) -> Sequence[int]:
    """Return sizes that axes must divide: a tensor with a scale a slice is one piece."""
    shape = type_.get_shape()
    return [1] * len(shape) if _is_scaled(type_) else shape


def find_uneven_dimension(
    sharding: TensorSharding, type_: Attribute, mesh: Mesh
) -> int | None:
    """Return the first dimension of a value that its axes do not divide, if any."""
    tensor = _static_tensor(type_)
    if tensor is None or mesh.is_maximal or sharding.rank != tensor.get_num_dims():
        return None
    for dim, size in enumerate(_divided_sizes(tensor)):
        if size % sharding.dims[dim].sharded_size(mesh):
            return dim
    return None


_WHOLE = "; sdy-update-non-divisible-input-output-shardings keeps it whole"


def _require_even(
    sharding: TensorSharding,
    type_: Attribute,
    mesh: Mesh,
    where: Operation,
    name: str,
    otherwise: str = "",
) -> None:
    """Refuse a value that is split by axes that do not divide it."""
    dim = find_uneven_dimension(sharding, type_, mesh)
    if dim is not None and isinstance(type_, TensorType):
        if _is_scaled(cast("TensorType[Attribute]", type_)):
            raise scaled_error(where, name)
        layout = Layout.of(sharding, mesh, type_.get_shape())
        raise uneven_error(layout, dim, where, name, otherwise)


@dataclass(frozen=True, slots=True)
class _Whole:
    """A value that is not split as it was to be.

    Attributes:
        where: the op that said so, later maybe one of the finished program.
        size: what every device has of the dimension.
    """

    where: Operation
    location: LocationAttr
    dim: int
    rank: int
    size: int
    more_bytes: int

    def at_end(self, ops_at: OpsAt | None) -> "_Whole | None":
        """The same with an op of the finished program; None if there is none like it."""
        if ops_at is None:
            return self
        if isinstance(self.where, FuncOp):
            return self if any(map(self._is, _at_border(self.where))) else None
        like = [op for op in ops_at(self.location) if any(map(self._is, op.results))]
        if not like:
            return None
        of_its_name = (op for op in like if op.name == self.where.name)
        return replace(self, where=next(of_its_name, like[0]))

    def _is(self, value: SSAValue) -> bool:
        tensor = _static_tensor(value.type)
        if tensor is None or tensor.get_num_dims() != self.rank:
            return False
        return tensor.get_shape()[self.dim] == self.size


def _at_border(function: FuncOp) -> Iterator[SSAValue]:
    """Yield a device's values of a function's arguments and results."""
    for op in function.body.ops:
        if isinstance(op, sdy.ManualComputationOp):
            yield from op.body.block.args
            end = op.body.block.last_op
            yield from () if end is None else end.operands


@dataclass
class _Finding:
    """Dimensions of one size that the same axes do not divide.

    Those of tensors with a scale for each slice have size 1: each is one piece.
    """

    size: int
    is_scaled: bool
    axes: Axes
    kept: Axes
    mesh: Mesh
    values: list[_Whole] = field(default_factory=list[_Whole])

    def judge(self, ops_at: OpsAt | None) -> tuple[str, Operation] | None:
        """Return the cost to the program as it ends, see `Cost`."""
        values = [there for uneven in self.values if (there := uneven.at_end(ops_at))]
        more_bytes = sum(uneven.more_bytes for uneven in values)
        if not more_bytes:
            return None
        # an op of the program says more than the border of the function
        ops = (uneven for uneven in values if not isinstance(uneven.where, FuncOp))
        first = next(ops, values[0])
        split = (
            f"is split by {_axes_text(self.kept, self.mesh)} only"
            if self.kept
            else "is kept whole on every device"
        )
        others = f", as {len(values) - 1} like it are" if len(values) > 1 else ""
        text = _axes_text(self.axes, self.mesh)
        why = (
            f"cannot be split by {text}, as each slice has a scale of its own"
            if self.is_scaled
            else f"of size {self.size} is not divisible by "
            f"{prod(axis.size_in(self.mesh) for axis in self.axes)}, "
            f"the product of its axes {text}"
        )
        message = (
            f"dimension {first.dim} {why}: it {split}{others}, which takes "
            f"{more_bytes} bytes a device more than shards would"
        )
        return message, first.where


@dataclass
class _Evener:
    """Changes the shardings of one module and remembers which.

    Attributes:
        findings: what was changed, by the size, kind, axes and mesh of the dimension.
        changed: the ops of other dialects whose shardings have fewer axes than before.
    """

    module: ModuleOp
    findings: dict[tuple[int, bool, Axes, Mesh], _Finding] = field(
        default_factory=dict[tuple[int, bool, Axes, Mesh], _Finding]
    )
    changed: dict[Operation, None] = field(default_factory=dict[Operation, None])

    def __post_init__(self) -> None:
        self._mesh_of = mesh_lookup(self.module)
        self._is_even = IdentityMemo[bool]()

    def even(
        self, sharding: TensorSharding, where: Operation, type_: Attribute
    ) -> TensorSharding:
        """Return the sharding without the axes that do not divide."""
        key = id(sharding), id(type_)
        if key in self._is_even:
            return sharding
        tensor, mesh = _static_tensor(type_), self._mesh_of(sharding)
        new = sharding
        if tensor and not mesh.is_maximal and sharding.rank == tensor.get_num_dims():
            for dim, size in enumerate(_divided_sizes(tensor)):
                if size % sharding.dims[dim].sharded_size(mesh):
                    axes = sharding.dims[dim].axes
                    kept = leading_axes_that_divide(axes, size, mesh)
                    new = new.with_dim(dim, new.dims[dim].with_axes(kept))
                    self._record(sharding, new, dim, size, where, tensor)
        if new is sharding:
            self._is_even.keep(key, True, sharding, type_)
        elif not isinstance(where, FuncOp) and where.dialect_name() != "sdy":
            self.changed[where] = None
        return new

    def _record(
        self,
        old: TensorSharding,
        new: TensorSharding,
        dim: int,
        size: int,
        where: Operation,
        tensor: TensorType[Attribute],
    ) -> None:
        """Remember that a dimension of `size` keeps only some of its axes."""
        mesh, axes, kept = self._mesh_of(old), old.dims[dim].axes, new.dims[dim].axes
        key = size, _is_scaled(tensor), axes, mesh
        finding = self.findings.setdefault(
            key, _Finding(size, key[1], axes, kept, mesh)
        )
        shape = tensor.get_shape()
        now, before = (
            sharding.local_shape(shape, mesh, pad=True) for sharding in (new, old)
        )
        more = tensor_bytes(now, tensor.element_type)
        more -= tensor_bytes(before, tensor.element_type)
        if isinstance(where, sdy.ManualComputationOp | sdy.NamedComputationOp):
            where = _function_of(where)  # it will be opened
        finding.values.append(
            _Whole(where, where.location, dim, len(shape), now[dim], more)
        )


def _axes_text(axes: Axes, mesh: Mesh) -> str:
    return "{" + ", ".join(f"{axis}={axis.size_in(mesh)}" for axis in axes) + "}"


def _function_of(op: Operation) -> Operation:
    """Return the function that an op is in, or the outermost op if it is in none."""
    while not isinstance(op, FuncOp) and (around := op.parent_op()) is not None:
        op = around
    return op


def _require_even_collectives(module: ModuleOp) -> None:
    """Refuse collectives over uneven shards: they say themselves how axes move."""
    mesh_of = mesh_lookup(module)
    for op in ops_of_type(module, sdy.CollectiveOp):
        if isinstance(op, sdy.AllReduceOp):
            continue  # moves no axes of dimensions
        sides = {"operand": sdy.get_sharding(op.tensor), "result": op.out_sharding.data}
        for name, sharding in sides.items():
            if sharding is not None:
                mesh = mesh_of(sharding)
                _require_even(sharding, op.result.type, mesh, op, f"the {name}")


def even_out_shardings(
    module: ModuleOp, *, strict: bool = False, islands: bool = True
) -> None:
    """Change all shardings in place and warn of each kind of change once.

    With `islands`, values between those that are made whole are made whole, too.

    Raises:
        UnsupportedError: a collective moves axes of a dimension that they do not divide;
            with `strict`, any such dimension, instead of the first warning, in the
            pipeline at its end.
    """
    _require_even_collectives(module)
    evener = _Evener(module)
    sdy.transform_shardings_of_values(module, evener.even)
    if islands:
        keep_islands_whole(evener.changed)
    hint = "use sizes that the axes divide, or leave strict off"
    for finding in evener.findings.values():
        emit_cost(Cost(finding.judge, hint, strict))


def check_boundary_shardings(module: ModuleOp) -> None:
    """Refuse arguments and results of the program that users want in uneven shards.

    Raises:
        UnsupportedError: naming the value, the dimension, its axes, and what would fit.
    """
    mesh_of = mesh_lookup(module)

    def check(
        function: FuncOp,
        kind: str,
        shardings: Sequence[TensorSharding | None],
        types: Iterable[Attribute],
    ) -> None:
        for index, (sharding, type_) in enumerate(zip(shardings, types, strict=True)):
            if sharding is None:
                continue
            mesh = mesh_of(sharding)
            name = f"{kind} {index}"
            _require_even(sharding, type_, mesh, function, name, _WHOLE)

    for function in entry_functions(module):
        type_ = function.function_type
        arguments = sdy.func_argument_shardings(function)
        results = sdy.func_result_shardings(function)
        check(function, "argument", arguments, type_.inputs)
        check(function, "result", results, type_.outputs)


@dataclass(frozen=True)
class EvenOutShardingsPass(ModulePass):
    """Drop the axes of dimensions that they do not divide, everywhere.

    Options:
        strict: raise an error instead of warning.
        islands: make whole what lies between values that are made whole, too (true).
    """

    name = "even-out-shardings"

    strict: bool = False
    islands: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        even_out_shardings(op, strict=self.strict, islands=self.islands)
