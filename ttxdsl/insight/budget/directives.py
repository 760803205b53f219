"""`COMM:` lines: what a program may send and hold, written beside it.

    // COMM: all_gather<=2, all_reduce==3, bytes<=4MiB, axis=model
    // COMM: memory<1GiB, mesh=2,4

The grammar; blanks may stand between any two words:

    line       = "//" "COMM:" item { "," item }
    item       = limit | axis | mesh | trips
    limit      = quantity comparator number
    quantity   = kind | "launches" | "count" | "bytes" | kind ".bytes" | "memory" | "peak"
    kind       = "all_gather" | "all_reduce" | "all_to_all" | "collective_broadcast"
               | "collective_permute" | "collective_reduce" | "ragged_all_to_all"
               | "reduce_scatter"
    comparator = "<=" | ">=" | "==" | "!=" | "<" | ">"
    number     = digits, for bytes and memory with a unit: B, KiB, MiB, GiB, KB, MB, GB
    axis       = "axis" "=" name
    mesh       = "mesh" "=" digits { ("," | "x") digits }
    trips      = "trip_count" "=" digits

A kind counts the collectives of that kind, `launches` or `count` all of them, `bytes` what one device
sends for all of them by the ring model; `memory` and `peak` are one thing, the most
memory that one device needs. `axis` restricts all limits of its line to collectives that
communicate along that axis of the mesh, alone or with others; several axes all have to
be among them. A collective whose groups follow no axis counts in every line, since it
may be along any. `mesh` says how many devices a program without shardings is split
over, as `--mesh-shape` does, and holds for the whole program. What stands in a loop counts
once an iteration; `trip_count` is the number of them where the program does not say it.
"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ttxdsl.analysis.usage.collectives import RINGS
from ttxdsl.costs.units import parse_bytes
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.hints import near_hint

KINDS = tuple(sorted(kind for kind in RINGS if kind.isidentifier()))
MEMORY = ("memory", "peak")
_BYTES = ("bytes", *(f"{kind}.bytes" for kind in KINDS))
LAUNCHES = ("launches", "count")
QUANTITIES = (*LAUNCHES, *KINDS, *_BYTES, *MEMORY)

COMPARATORS: dict[str, Callable[[int, int], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}

MARK = "COMM:"
_LINE = re.compile(rf"//\s*{MARK}")
_LIMIT = re.compile(r"([A-Za-z_][\w.]*)\s*(<=|>=|==|!=|<|>)\s*(.*)", re.DOTALL)
_OPTION = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_MESH = re.compile(r"\d+(\s*x\s*\d+)*")


@dataclass(frozen=True, slots=True)
class Limit:
    """One comparison, on the axes of its line; `line` and `column` count from 1."""

    quantity: str
    comparator: str
    value: int
    text: str
    axes: tuple[str, ...] = ()
    line: int = 1
    column: int = 1

    @property
    def kind(self) -> str | None:
        """The kind of collective that is meant, None for all of them."""
        kind = self.quantity.removesuffix(".bytes")
        return kind if kind in KINDS else None

    @property
    def is_memory(self) -> bool:
        """Whether memory is meant, not communication."""
        return self.quantity in MEMORY

    @property
    def is_bytes(self) -> bool:
        """Whether the value is a number of bytes."""
        return self.is_memory or self.quantity in _BYTES

    def holds(self, quantity: int) -> bool:
        """Whether a count keeps to the limit."""
        return COMPARATORS[self.comparator](quantity, self.value)

    def __str__(self) -> str:
        """The limit as it is written, with its axes."""
        return ", ".join((self.text, *(f"axis={axis}" for axis in self.axes)))


@dataclass(frozen=True, slots=True)
class Budget:
    """All limits of a program, and the mesh to compile it for."""

    limits: tuple[Limit, ...]
    mesh: tuple[int, ...] = ()
    trip_count: int | None = None


@dataclass(slots=True)
class _Item:
    text: str
    start: int
    """Offset in the line."""


@dataclass(slots=True)
class _Reader:
    """Reads one line's items; knows where they stand, for messages."""

    source: str
    line: str
    number: int
    limits: list[Limit] = field(default_factory=list[Limit])
    axes: list[str] = field(default_factory=list[str])
    mesh: tuple[int, ...] | None = None
    trip_count: int | None = None

    def error(self, item: _Item, message: str, hint: str | None = None) -> CompileError:
        length = max(1, len(item.text))
        marks = f"  {self.line}\n  {' ' * item.start}{'^' * length}"
        return CompileError(
            f"{message}\n{marks}",
            hint=hint,
            position=f"{self.source}:{self.number}:{item.start + 1}",
        )

    def read(self, start: int) -> None:
        """Read all items from an offset of the line on.

        Raises:
            CompileError: an item is malformed.
        """
        in_mesh = False
        for item in _items(self.line, start):
            if in_mesh and item.text.isdecimal() and self.mesh is not None:
                self.mesh = (*self.mesh, self._size(item))
                continue
            in_mesh = self._item(item) == "mesh"
        if self.axes:
            self._restrict()

    def _item(self, item: _Item) -> str:
        if not item.text:
            raise self.error(item, "expected a limit, axis=NAME or mesh=SIZES")
        if (match := _LIMIT.fullmatch(item.text)) is not None:
            self._limit(item, match)
            return "limit"
        match = _OPTION.fullmatch(item.text)
        if match is None:
            raise self.error(
                item,
                f"'{item.text}' is no limit",
                hint="write a quantity, <=, ==, >=, !=, < or >, and a number",
            )
        name, value = match[1], match[2].strip()
        if name in QUANTITIES:
            raise self.error(
                item, f"'{item.text}' compares with '='", hint=f"write {name}=={value}"
            )
        match name:
            case "axis":
                if _NAME.fullmatch(value.strip('"')) is None:
                    raise self.error(item, f"'{value}' is no name of an axis")
                self.axes.append(value.strip('"'))
            case "mesh":
                if _MESH.fullmatch(value) is None:
                    raise self.error(item, f"'{value}' is no mesh like 2,4 or 2x4")
                if self.mesh is not None:
                    raise self.error(item, "the mesh is given twice")
                parts = [_Item(part.strip(), item.start) for part in value.split("x")]
                self.mesh = tuple(self._size(part) for part in parts)
            case "trip_count":
                if not value.isdecimal() or int(value) < 1:
                    raise self.error(
                        item, f"'{value}' is no number of iterations from 1 up"
                    )
                if self.trip_count not in (None, int(value)):
                    raise self.error(item, "the trip count is given twice")
                self.trip_count = int(value)
            case _:
                raise self.error(
                    item,
                    f"there is no option '{name}'",
                    hint="axis=NAME restricts a line, mesh=SIZES says the devices,"
                    " trip_count=N how many iterations loops have",
                )
        return name

    def _size(self, item: _Item) -> int:
        size = int(item.text)
        if size < 1:
            raise self.error(item, "a mesh axis has at least one device")
        return size

    def _limit(self, item: _Item, match: re.Match[str]) -> None:
        quantity, comparator, number = match[1], match[2], match[3].strip()
        if quantity not in QUANTITIES:
            raise self.error(
                _Item(quantity, item.start),
                f"'{quantity}' is nothing that is counted",
                hint=near_hint([quantity], QUANTITIES, "quantities"),
            )
        where = _Item(number, item.start + match.start(3))
        is_bytes = quantity in _BYTES or quantity in MEMORY
        if is_bytes:
            try:
                value = parse_bytes(number)
            except ValueError as error:
                raise self.error(where, str(error)) from error
        elif number.isdecimal():
            value = int(number)
        else:
            raise self.error(where, f"'{number}' is no number of collectives")
        self.limits.append(
            Limit(
                quantity,
                comparator,
                value,
                f"{quantity}{comparator}{number}",
                line=self.number,
                column=item.start + 1,
            )
        )

    def _restrict(self) -> None:
        """Give the axes of the line to its limits."""
        for limit in self.limits:
            if limit.is_memory:
                raise self.error(
                    _Item(limit.text, limit.column - 1),
                    "memory is along no axis",
                    hint="write memory in a line of its own",
                )
        if not self.limits:
            start = self.line.rindex("axis")
            raise self.error(
                _Item(self.line[start:].rstrip(), start),
                "an axis restricts the limits of its own line, and there are none",
            )
        axes = tuple(self.axes)
        self.limits = [replace(limit, axes=axes) for limit in self.limits]


def _items(line: str, start: int) -> list[_Item]:
    items: list[_Item] = []
    for part in line[start:].split(","):
        blanks = len(part) - len(part.lstrip())
        items.append(_Item(part.strip(), start + blanks))
        start += len(part) + 1
    return items


def has_budget(text: str) -> bool:
    """Whether a text has a `COMM:` line."""
    return _LINE.search(text) is not None


def parse_budget(text: str, source: str = "<budget>") -> Budget:
    """The limits of all `COMM:` lines of a program's text.

    Raises:
        CompileError: a line is malformed, with its line, column and text, or two lines
            give different meshes.
    """
    limits: list[Limit] = []
    mesh: tuple[int, ...] | None = None
    trips: int | None = None
    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE.search(line)
        if match is None:
            continue
        reader = _Reader(source, line, number)
        reader.read(match.end())
        limits.extend(reader.limits)
        if reader.mesh is not None:
            if mesh is not None and reader.mesh != mesh:
                start = line.index("mesh")
                raise reader.error(
                    _Item(line[start:].rstrip(), start),
                    f"another line says mesh={','.join(map(str, mesh))}",
                )
            mesh = reader.mesh
        if reader.trip_count is not None:
            if trips not in (None, reader.trip_count):
                start = line.index("trip_count")
                raise reader.error(
                    _Item(line[start:].rstrip(), start),
                    f"another line says trip_count={trips}",
                )
            trips = reader.trip_count
    return Budget(tuple(limits), mesh or (), trips)


def parse_limits(text: str) -> Budget:
    """The limits of one line without its `// COMM:`, as `assert_budget` takes them.

    Raises:
        CompileError: the text is malformed.
    """
    reader = _Reader("<budget>", text, 1)
    reader.read(0)
    return Budget(tuple(reader.limits), reader.mesh or (), reader.trip_count)
