"""The bases of ttir's and ttnn's ops: how a declaration becomes an op of a dialect."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import AnyTensorTypeConstr, TensorType
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.ttcore import device_mesh_name
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition
from ttxdsl.ir.compat.speed.verify_once import VerifiedOnce
from ttxdsl.ir.tensors import Tensor, tensor_type


class TTOp(VerifiedOnce):
    """Base of declarations, which have a `name`, and of bases of a `DIALECT`.

    A class with both is an op: it gets the name `DIALECT.name`, the declaration's
    docstring unless it has its own, is defined, and is listed in the dialect's `OPS`.
    Operands come in the order of the class's bases.

    Constraint: all tensors of an op live in one place.
    """

    DIALECT: ClassVar[str]
    OPS: ClassVar[list[type["TTOp"]]]

    IN_TT_MLIR: ClassVar[bool] = True
    """Whether tt-mlir of today has an op of this name."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if hasattr(cls, "name") and hasattr(cls, "DIALECT"):
            cls.__doc__ = next(base.__doc__ for base in cls.mro() if base.__doc__)
            cls.name = f"{cls.DIALECT}.{cls.name}"
            cls.OPS.append(irdl_op_definition(cls))

    @classmethod
    def later_fields(cls) -> dict[str, Any]:
        """Fields that are added when the class is defined, see `ir/compat/speed/definitions.py`."""
        return {}

    @classmethod
    def mnemonic(cls) -> str:
        """The name by which both dialects know the op: its own without the dialect's."""
        return cls.name.partition(".")[2]

    @property
    def reads(self) -> Sequence[SSAValue]:
        """The operands that are read: all but destinations and device handles."""
        return self.operands

    def verify_(self) -> None:
        """Check the constraints of every op, then the op's own shapes."""
        self.verify_places()
        self.verify_shapes()

    def verify_places(self) -> None:
        """All tensors live in one place."""
        self.mesh_name()

    def verify_shapes(self) -> None:
        """The constraints of the op itself."""

    def mesh_name(self) -> str | None:
        """Return the name of the mesh that all tensors live on, None on the host.

        Raises:
            VerifyException: they live in different places.
        """
        names = {
            device_mesh_name(value.type)
            for value in (*self.operands, *self.results)
            if value.type.name == TensorType.name
        }
        if len(names) > 1:
            places = ", ".join(
                sorted("the host" if n is None else f'mesh "{n}"' for n in names)
            )
            raise VerifyException(
                f"operands and results live in different places: {places}"
            )
        return next(iter(names), None)


class ComputeOp(TTOp):
    """Base of ops that do nothing but compute their results."""

    traits = traits_def(Pure())


class OneInputOp(ComputeOp):
    """Base of ops with one tensor and one result."""

    input = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    @property
    def types(self) -> tuple[Tensor, Tensor]:
        """The types of input and result."""
        return tensor_type(self.input), tensor_type(self.result)


_Op = TypeVar("_Op", bound=TTOp)


def op_of(
    declaration: type[_Op], dialect: type[TTOp], name: str, summary: str, **fields: Any
) -> type[_Op]:
    """The op of a line of a table; `logical_not` becomes the class `LogicalNotOp`.

    Args:
        declaration: what the ops of the table have in common.
        dialect: the dialect's base.
        fields: what it has beside both.
    """
    members = {"name": name, "__doc__": summary, "__module__": dialect.__module__}
    title = "".join(part.capitalize() for part in name.split("_")) + "Op"
    return cast(type[_Op], type(title, (declaration, dialect), {**members, **fields}))


class LineOps(Mapping[str, type[_Op]], Generic[_Op]):
    """The ops of a table in one dialect, each a class once somebody asks for it.

    A program has ten of three hundred, and a class takes thirty microseconds.
    """

    def __init__(self, lines: Mapping[str, Callable[[], type[_Op]]]) -> None:
        self._lines = lines
        self._classes: dict[str, type[_Op]] = {}

    def __getitem__(self, key: str) -> type[_Op]:
        op = self._classes.get(key)
        if op is None:
            op = self._classes[key] = self._lines[key]()
        return op

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def key_of(self, op: type[TTOp]) -> str | None:
        """Of which line a class is."""
        return next((key for key, known in self._classes.items() if known is op), None)


class TTDialect(Dialect):
    """A dialect whose ops are listed in `OPS` of its base, and in tables."""

    def __init__(
        self,
        name: str,
        base: type[TTOp],
        tables: Sequence[LineOps[Any]],
        attributes: Sequence[type[Attribute]] = (),
    ) -> None:
        super().__init__(name, [], [*attributes])
        self.base = base
        self.tables = tables

    @property
    @override
    def operations(self) -> Iterator[type[TTOp]]:
        """All ops; the classes of the tables are made."""
        for table in self.tables:
            tuple(table.values())
        return iter([*self.base.OPS])
