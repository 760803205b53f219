"""The error of devices that should hold the same value and do not."""

from xdsl.utils.exceptions import InterpretationError


class ReplicaMismatchError(InterpretationError):
    """Devices that a sharding calls replicas of each other hold different values.

    `coordinates` names the first device that differs from the device at the start of
    its axes, `index` the first element of its local value that does, `found` what it
    holds there; `replica` and `expected` are those of the device that it is held
    against. Whoever knows it may set `value_name`, what the value is in the program,
    and `value`, the value that the parts were to be put together to.
    """

    value_name: str | None = None
    value: object = None

    def __init__(
        self,
        coordinates: dict[str, int],
        index: tuple[int, ...],
        found: object,
        expected: object,
        replica: dict[str, int] | None = None,
    ):
        self.coordinates = coordinates
        self.index = index
        self.found = found
        self.expected = expected
        self.replica = replica or {}
        place = ", ".join(f"{name}={at}" for name, at in coordinates.items())
        self._text = (
            f"replicas differ: device ({place}) holds {found} at local index "
            f"{list(index)} where its replica holds {expected}"
        )
        super().__init__(self._text)

    def __str__(self) -> str:
        return f"{self.value_name}: {self._text}" if self.value_name else self._text
