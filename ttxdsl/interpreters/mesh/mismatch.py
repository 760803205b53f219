"""The error of devices that should hold the same value and do not."""

from xdsl.ir import Operation, OpResult
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.diagnostics.errors import CompileError, source_position


class ReplicaMismatchError(CompileError, InterpretationError):
    """Devices that a sharding calls replicas of each other hold different values.

    `coordinates` names the first device that differs from the device at the start of
    its axes, `index` the first element of its local value that does, `found` what it
    holds there; `replica` and `expected` are those of the device that it is held
    against; `value` is the one that the parts were to be put together to, once known.
    """

    value: OpResult | None = None

    def __init__(
        self,
        coordinates: dict[str, int],
        index: tuple[int, ...],
        actual: object,
        expected: object,
        replica: dict[str, int] | None = None,
    ):
        self.coordinates = coordinates
        self.index = index
        self.found = actual
        self.expected = expected
        self.replica = replica or {}
        place = ", ".join(f"{name}={at}" for name, at in coordinates.items())
        super().__init__(
            f"replicas differ: device ({place}) holds {actual} at local index "
            f"{list(index)} where its replica holds {expected}"
        )

    def locate(self, where: Operation | OpResult, title: str, hint: str) -> None:
        """Name the value in the message.

        Args:
            where: the value whose parts differ, or the op that puts it together.
            title: what to call it, in words that fit the text it was read from.
            hint: see `CompileError`.
        """
        if isinstance(where, OpResult):
            self.value, where = where, where.op
        CompileError.__init__(
            self,
            f"{title}: {self.message}",
            hint=hint,
            position=source_position(where.location),
        )
