"""The ttcore dialect: what ttir and ttnn share about meshes, shards and arguments.

Five enumerations, nine attributes, and what tt-mlir writes around programs
(`_tt/modules.py`). The spelling is tt-mlir's (`TTCoreOpsEnums.td`,
`TTCoreOpsTypes.td`), so that its parser and ours read each other's text. One difference is deliberate: the status of an argument whose data
already lies on the devices is `sharded`, as in the design request; tt-mlir's
`presharded` means the same thing.
"""

from collections.abc import Iterable
from math import prod
from typing import TypeVar, cast, get_args

from typing_extensions import get_original_bases
from xdsl.dialects.builtin import (
    ArrayAttr,
    IntAttr,
    ModuleOp,
    NoneAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Data, Operation, ParametrizedAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ttxdsl.dialects._tt import modules
from ttxdsl.dialects.definitions import dialect_of
from ttxdsl.ir.compat.speed.definitions import irdl_attr_definition
from ttxdsl.ir.compat.speed.verify_once import looks_around
from ttxdsl.sharding.devices.mesh import MOST_DEVICES

MESHES_ATTRIBUTE = "ttcore.meshes"
"""Name of the module attribute that lists the meshes of a ttir or ttnn module."""

ARGUMENT_TYPE_ATTRIBUTE = "ttcore.argument_type"
"""Name of the argument attribute that holds an `ArgumentTypeAttr`."""

WEIGHT_DTYPE_ATTRIBUTE = "ttcore.weight_dtype"
"""Name of the argument attribute that says to which type a weight is rounded, as text."""

ARGUMENT_NAME_ATTRIBUTE = "ttir.name"
"""Name of the argument attribute that holds the argument's name in the model."""

MARKS = (ARGUMENT_TYPE_ATTRIBUTE, ARGUMENT_NAME_ATTRIBUTE, WEIGHT_DTYPE_ATTRIBUTE)
"""Names of the attributes with the role of an argument in the model."""

SHARD_STATUS_ATTRIBUTE = "ttcore.shard_status"
"""Name of the argument and result attribute that holds a `ShardStatusAttr`."""


SHARDS_ATTRIBUTE = "ttxdsl.shards"
"""Name of the attribute that places an argument or result of local type: a dictionary
of the properties of a `mesh_shard`, beside tt-mlir's own attributes."""


class ArgumentType(StrEnum):
    """The role of a function argument in the model."""

    INPUT = "input"
    """Activations: different at each call."""
    PARAMETER = "parameter"
    """Weights: the same at each call, updated by training."""
    CONSTANT = "constant"
    """Never changes."""
    DEFAULT = "default"
    """Nothing is known."""


class MeshShardDirection(StrEnum):
    """The direction in which a `mesh_shard` moves data."""

    FULL_TO_SHARD = "full_to_shard"
    """One global tensor becomes one local tensor a device."""
    SHARD_TO_FULL = "shard_to_full"
    """The local tensors of the devices become one global tensor."""


class MeshShardType(StrEnum):
    """The way in which a `mesh_shard` distributes data."""

    IDENTITY = "identity"
    """The data is on the devices before and after: nothing moves."""
    REPLICATE = "replicate"
    """Every device holds the whole tensor."""
    DEVICES = "devices"
    """Every device holds its shard of the tensor."""


class ReduceType(StrEnum):
    """The operation by which a reducing collective combines the devices' values.

    `prod`, `invalid` and `logsumexp` are tt-mlir's additions to the six kinds of the
    design request. `invalid` combines nothing: in a scatter the last value stands;
    `logsumexp` is for what accumulates along a dimension. No collective takes them.
    """

    LOGSUMEXP = "logsumexp"
    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"
    STD = "std"
    VAR = "var"
    PROD = "prod"
    INVALID = "invalid"


class ShardStatus(StrEnum):
    """The distribution of an argument or result before the program starts."""

    SHARDED = "sharded"
    PRESHARDED = "presharded"
    """The same; tt-mlir's name for it, kept as it was written."""
    UNSHARDED = "unsharded"


_Member = TypeVar("_Member", bound=StrEnum)


class _MemberAttr(Data[_Member]):
    """Base of attributes that are one of several names, `<name>`."""

    @classmethod
    def named(cls, text: str) -> _Member | None:
        """Return the member of a name, or None."""
        return next((member for member in cls._members() if member.value == text), None)

    @classmethod
    def _members(cls) -> type[_Member]:
        (base,) = get_original_bases(cls)
        return get_args(base)[0]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> _Member:
        """Read `<name>`.

        Raises:
            ParseError: there is no member of that name; the message lists them.
        """
        with parser.in_angle_brackets():
            start = parser.pos
            text = parser.parse_identifier()
            member = cls.named(text)
            if member is None:
                names = ", ".join(member.value for member in cls._members())
                message = f"expected one of {names}, got {text}"
                parser.raise_error(message, start, parser.pos)
        return member

    def print_parameter(self, printer: Printer) -> None:
        """Write `<name>`."""
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)


@irdl_attr_definition
class ArgumentTypeAttr(_MemberAttr[ArgumentType]):
    """The role of an argument: `#ttcore.argument_type<input>`."""

    name = "ttcore.argument_type"


@irdl_attr_definition
class MeshShardDirectionAttr(_MemberAttr[MeshShardDirection]):
    """The direction of a mesh_shard: `#ttcore.shard_direction<full_to_shard>`."""

    name = "ttcore.shard_direction"


@irdl_attr_definition
class MeshShardTypeAttr(_MemberAttr[MeshShardType]):
    """The kind of a mesh_shard: `#ttcore.shard_type<devices>`."""

    name = "ttcore.shard_type"


@irdl_attr_definition
class ReduceTypeAttr(_MemberAttr[ReduceType]):
    """The reduction of a collective: `#ttcore.reduce_type<sum>`."""

    name = "ttcore.reduce_type"


@irdl_attr_definition
class ShardStatusAttr(_MemberAttr[ShardStatus]):
    """The distribution of data at the start: `#ttcore.shard_status<unsharded>`.

    `<presharded>` is tt-mlir's word for `<sharded>`.
    """

    name = "ttcore.shard_status"


@irdl_attr_definition
class MeshAttr(ParametrizedAttribute):
    """A mesh by name and shape: `#ttcore.mesh<"mesh" = 2x4>`.

    Constraints: the name is not empty; there is at least one axis; every axis has
    at least one device.
    """

    name = "ttcore.mesh"

    mesh_name: StringAttr
    shape: ArrayAttr[IntAttr]

    def __init__(self, mesh_name: str, shape: Iterable[int]):
        sizes = ArrayAttr(IntAttr(size) for size in shape)
        super().__init__(StringAttr(mesh_name), sizes)

    def get_shape(self) -> tuple[int, ...]:
        """Return the sizes of the mesh axes, major first."""
        return tuple(size.data for size in self.shape)

    def verify(self) -> None:
        if not self.mesh_name.data:
            raise VerifyException("a mesh needs a name")
        if not self.shape.data:
            raise VerifyException(f'mesh "{self.mesh_name.data}" has no axes')
        for axis, size in enumerate(self.get_shape()):
            if size < 1:
                raise VerifyException(
                    f'mesh "{self.mesh_name.data}": axis {axis} has size {size}, '
                    "expected at least 1"
                )
        if (devices := prod(self.get_shape())) > MOST_DEVICES:
            raise VerifyException(
                f'mesh "{self.mesh_name.data}" has {devices} devices: at most '
                f"{MOST_DEVICES} are supported"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read `<"mesh" = 2x4>`."""
        with parser.in_angle_brackets():
            mesh_name = StringAttr(parser.parse_str_literal())
            parser.parse_punctuation("=")
            dims = parser.parse_dimension_list()
        return [mesh_name, ArrayAttr(IntAttr(dim) for dim in dims)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.mesh_name.data)
            printer.print_string(" = ")
            printer.print_dimension_list(self.get_shape())


@irdl_attr_definition
class MeshesAttr(ParametrizedAttribute):
    """The meshes of a module: `#ttcore.meshes<[<"mesh" = 2x4>]>`.

    Constraints: at least one mesh; no name twice.
    """

    name = "ttcore.meshes"

    meshes: ArrayAttr[MeshAttr]

    def __init__(self, meshes: Iterable[MeshAttr]):
        super().__init__(ArrayAttr(meshes))

    def get_mesh(self, name: str) -> MeshAttr | None:
        """Return the mesh of that name, or None."""
        return next((m for m in self.meshes if m.mesh_name.data == name), None)

    def verify(self) -> None:
        if not self.meshes.data:
            raise VerifyException("the list of meshes is empty")
        seen: set[str] = set()
        for mesh in self.meshes:
            if mesh.mesh_name.data in seen:
                raise VerifyException(f'mesh "{mesh.mesh_name.data}" is listed twice')
            seen.add(mesh.mesh_name.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read `<[<"mesh" = 2x4>, …]>`."""
        with parser.in_angle_brackets():
            meshes = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE,
                lambda: MeshAttr.new(MeshAttr.parse_parameters(parser)),
            )
        return [ArrayAttr(meshes)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets(), printer.in_square_brackets():
            printer.print_list(self.meshes, lambda mesh: mesh.print_parameters(printer))


@irdl_attr_definition
class TensorMeshAttr(ParametrizedAttribute):
    """Encoding of a tensor that lives on the devices: `#ttcore.tensor_mesh<"mesh">`.

    The type's shape is then the local shape of each device of that mesh.
    Constraint: the name is not empty.
    """

    name = "ttcore.tensor_mesh"

    mesh_name: StringAttr

    def __init__(self, mesh_name: str):
        super().__init__(StringAttr(mesh_name))

    def verify(self) -> None:
        if not self.mesh_name.data:
            raise VerifyException("a tensor_mesh needs the name of a mesh")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read `<"mesh">`."""
        with parser.in_angle_brackets():
            return [StringAttr(parser.parse_str_literal())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.mesh_name.data)


LocalShapeAttr = modules.LOCAL_SHAPE
"""`#ttcore<local_shape local_shape = tensor<4x8xf32>>`: a device's local shard."""


TTCore = dialect_of(
    "ttcore",
    "ttxdsl.dialects",
    (*vars(modules).values(), *modules.TEXTS.values(), *globals().values()),
)
"""The dialect object that a context registers."""


def meshes_of(op: Operation) -> MeshesAttr | None:
    """The `ttcore.meshes` of the module around an op, or None when it has none."""
    looks_around(op, _meshes_around)
    return _meshes_around(op)


def _meshes_around(op: Operation) -> MeshesAttr | None:
    scope: Operation | None = op
    while scope is not None:
        if isinstance(scope, ModuleOp):
            meshes = scope.attributes.get(MESHES_ATTRIBUTE)
            if isinstance(meshes, MeshesAttr):
                return meshes
        scope = scope.parent_op()
    return None


def only_mesh(op: Operation) -> str | None:
    """Return the name of the mesh that an op works on whose tensors do not say it.

    tt-mlir writes no places into types: its modules have one mesh.
    """
    meshes = meshes_of(op)
    if meshes is None or len(meshes.meshes.data) != 1:
        return None
    return meshes.meshes.data[0].mesh_name.data


def device_mesh_name(type: Attribute) -> str | None:
    """The name of the mesh that a tensor of this type lives on, None on the host."""
    if not isinstance(type, TensorType):
        return None
    encoding = cast(TensorType[Attribute], type).encoding
    return encoding.mesh_name.data if isinstance(encoding, TensorMeshAttr) else None


def on_host(type: TensorType[Attribute]) -> TensorType[Attribute]:
    """Return the same tensor type without an encoding."""
    return TensorType(type.element_type, type.get_shape(), NoneAttr())
