"""The whole tensors that values of the program of one device are parts of.

The last stages leave local shapes alone. How each value is split is read before, where
tensors still have their global shapes, and found again by where ops come from.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ttxdsl.analysis.attribution.nodes import Value
from ttxdsl.analysis.attribution.origins import Origins, joined_parts
from ttxdsl.dialects import sdy
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.traversal import all_ops, ancestors


@dataclass(slots=True)
class Wholes:
    """Values of a global program, to be found from those of a program of one device."""

    _origins: Origins | None = None
    _values: dict[int, tuple[str, tuple[Value, ...]]] = field(
        default_factory=dict[int, tuple[str, tuple[Value, ...]]]
    )
    """By the number of an op its kind and what its results are."""
    _texts: IdentityMemo[str | None] = field(default_factory=IdentityMemo[str | None])

    @property
    def known(self) -> bool:
        """Whether they were read: not of a program that came partitioned."""
        return self._origins is not None

    def read(
        self,
        function: FuncOp,
        origins: Origins,
        value_of: Callable[[SSAValue, tuple[str, ...]], Value],
    ) -> None:
        """Keep the results of all ops in a function, and number the ops.

        Args:
            function: of a global program with its shardings.
            value_of: reads a value in regions that are manual on some axes.
        """
        ops = [op for op in all_ops(function) if op is not function]
        numbers = origins.mark(ops)
        for number, op in zip(numbers, ops, strict=True):
            manual = _manual_around(op)
            values = tuple(value_of(result, manual) for result in op.results)
            self._values[number] = op.name.rpartition(".")[2], values
        self._origins = origins

    def of(self, value: SSAValue, name: str) -> Value | None:
        """Return the whole that a local value is a part of, None where that is not known."""
        if self._origins is None:
            return None
        owner, index = value.owner, value.index if isinstance(value, OpResult) else 0
        if isinstance(owner, Block):
            # what a loop carries is split as what it returns
            parent = owner.parent_op()
            if parent is None or len(parent.results) != len(owner.args):
                return None
            owner, index = parent, owner.args.index(value)
        known, index = self._known(owner, index)
        if known is None or index >= len(known[1]):
            return None
        kind, values = known
        whole = values[index]
        if whole.local is None or whole.local != self._type_text(value.type):
            return None
        partial = whole.partial if kind == owner.name.rpartition(".")[2] else ()
        return whole._replace(name=name, partial=partial)

    def _type_text(self, type_: Attribute) -> str | None:
        """Return the text of a type, of which a program has few."""
        if id(type_) in self._texts:
            return self._texts[id(type_)]
        return self._texts.keep(id(type_), _type_text(type_), type_)

    def _known(
        self, op: Operation, index: int
    ) -> tuple[tuple[str, tuple[Value, ...]] | None, int]:
        """Return the results of the op that a result comes from, and which it is."""
        if self._origins is None:
            return None, index
        location: Attribute = op.location
        parts = joined_parts(location)
        if len(parts) == len(op.results) > 1:
            location, index = parts[index], 0
        numbers = self._origins.own_numbers(location)
        value = next((self._values[at] for at in numbers if at in self._values), None)
        return value, index


def _manual_around(op: Operation) -> tuple[str, ...]:
    axes: list[str] = []
    for around in ancestors(op):
        if isinstance(around, sdy.ManualComputationOp):
            axes[:0] = around.manual_axes.data
    return tuple(axes)


def _type_text(type_: Attribute) -> str | None:
    if not isinstance(type_, TensorType):
        return None
    type_ = cast("TensorType[Attribute]", type_)
    return "x".join((*map(str, type_.get_shape()), str(type_.element_type)))
