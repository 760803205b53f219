"""Limits of a run: the memory that it holds, and the iterations of its loops."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import Any, cast

from numpy.lib.array_utils import byte_bounds
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttxdsl.costs.units import bytes_text, parse_bytes
from ttxdsl.diagnostics.errors import CompileError, source_position
from ttxdsl.interpreters.compare import COMPARED_BYTES
from ttxdsl.interpreters.inputs import argument_types
from ttxdsl.interpreters.runtime.memory.footprint import Footprint, types_bytes
from ttxdsl.interpreters.runtime.memory.free_memory import free_memory
from ttxdsl.interpreters.runtime.regions import LimitError, expected

_NEVER_TOO_MUCH = 1 << 24
"""Bytes for which the system is not asked how much is free."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run's memory and iterations.

    Attributes:
        memory: bytes that its values may take at once, as `footprint` counts them; three
            quarters of what is free (and of what its inputs take already) unless given.
        steps: iterations of all of its loops together; any number unless given.
    """

    memory: int | None = None
    steps: int | None = None

    @staticmethod
    def of(
        max_memory: int | str | None = None, max_steps: int | None = None
    ) -> "Limits":
        """Return limits as people write them: `"8GiB"`, or a number of bytes."""
        if isinstance(max_memory, str):
            try:
                max_memory = parse_bytes(max_memory)
            except ValueError as error:
                raise CompileError(f"max_memory: {error}") from error
        return Limits(max_memory, max_steps)

    def has_room(self, needed: int, there: int = 0) -> bool:
        """Return True if a run that needs so many bytes may start.

        `there` bytes of what it needs are taken already.
        """
        if self.memory is not None:
            return needed <= self.memory
        if needed <= _NEVER_TOO_MUCH or (free := free_memory()) is None:
            return True
        return needed <= _part_of_free(free + there)

    def require_room(self, needs: Footprint, there: int = 0) -> None:
        """Raise a `LimitError` if a run needs more memory than it may have."""
        if self.has_room(needs.bytes, there):
            return
        most, why = self.memory, "that it may have"
        known = free_memory()
        free = (known or 0) + there
        if most is None:
            most = _part_of_free(free)
            why = f"that are three quarters of the free {bytes_text(free)}"
        largest = ""
        if needs.largest is not None:
            size = bytes_text(needs.largest_bytes)
            largest = f"; its largest value is {_named(needs.largest)} of {size}"
        raise LimitError(
            f"the run needs {bytes_text(needs.bytes)} of memory here, more than the"
            f" {bytes_text(most)} {why}{largest}",
            needs.at,
            hint="a larger --max-memory (max_memory= in Python) runs it all the same"
            if known is None or needs.bytes <= free
            else "so much is not free: why, plan and report tell what it sends and holds"
            " without running it",
        )

    def require_inputs(self, function: FuncOp) -> None:
        """Raise a `LimitError` if inputs that are to be made need too much memory."""
        types = argument_types(function)
        sizes = [prod(shape) * dtype.itemsize for shape, dtype in types]
        # the numbers of one argument are drawn, or counted, in eight bytes
        drawn = max((prod(shape) * 8 for shape, _ in types), default=0)
        largest = max(range(len(sizes)), key=sizes.__getitem__, default=None)
        self.require_room(
            Footprint(
                sum(sizes) + drawn,
                function,
                None if largest is None else function.body.block.args[largest],
                max(sizes, default=0),
            )
        )


def _part_of_free(free: int) -> int:
    return free * 3 // 4


NO_LIMITS = Limits()
"""No other than that the values of a run must fit into the memory that is free."""


def beside_comparison(needs: Footprint, function: FuncOp, inputs: int = 1) -> Footprint:
    """Return the footprint where several inputs and their results are kept and compared.

    Args:
        inputs: how many inputs there are, at least one.
    """
    types = function.function_type
    results = types_bytes(types.outputs)
    of_one_input = types_bytes(types.inputs) + results
    kept, others = inputs * of_one_input, (inputs - 1) * of_one_input
    of_one = (elements for type_ in types.outputs if (elements := _elements(type_)))
    compared = results + COMPARED_BYTES * max(of_one, default=0)
    if kept + compared > needs.bytes + others:
        return replace(needs, bytes=kept + compared, at=function)
    return replace(needs, bytes=needs.bytes + others)


def _elements(type_: Attribute) -> int:
    shape, dtype = expected(type_)
    return 0 if dtype is None else prod(shape)


def bytes_of(arrays: Iterable[Any]) -> int:
    """Return the memory that arrays show; a number that is repeated counts once."""
    bounds = (byte_bounds(array) for array in arrays if array is not None)
    return sum(high - low for low, high in bounds)


def _named(value: SSAValue) -> str:
    """Return `argument 0 (tensor<4xf32>)`, or the op that makes the value and its place."""
    if isinstance(value, BlockArgument):
        return f"argument {value.index} ({value.type})"
    op = cast(Operation, value.owner)
    position = source_position(op.location)
    place = "" if position is None else f" at {position}"
    return f"that of '{op.name}'{place} ({value.type})"
