"""XLA's shardings as it writes them in strings: tiles, and the device of each.

    {replicated}  {manual}  {unknown}  {maximal device=3}
    {devices=[2,1,4]<=[2,4]T(1,0) last_tile_dim_replicate}
    {devices=[2,2]0,2,1,3 last_tile_dims={manual, replicated}}
    {{replicated}, {devices=[8]<=[8]}}

A tiled sharding splits dimension `i` of a tensor into `dims[i]` tiles; dimensions of the
tiling beyond the tensor's are subgroups, in which devices hold the same tile, hold parts
of a sum, or are on their own. Devices are listed tile by tile, the last dimension first.

Source: XLA's `HloSharding` and its text form; `OpSharding` in `xla_data.proto`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from ttxdsl.sharding.devices.mesh import MOST_DEVICES


class HloKind(StrEnum):
    """The kind of a sharding, of a whole tensor or of the devices of a subgroup."""

    REPLICATED = "replicated"
    MANUAL = "manual"
    UNREDUCED = "unreduced"
    UNKNOWN = "unknown"
    MAXIMAL = "maximal"
    TILED = "devices"


@dataclass(frozen=True, slots=True)
class HloSharding:
    """One sharding of one tensor.

    Attributes:
        kind: `TILED` if the tensor is split; `dims`, `devices` and `subgroups` are empty
            otherwise, but for the one device of `MAXIMAL`.
        dims: the number of tiles along each dimension, then of each subgroup.
        devices: the device of each tile in row-major order.
        subgroups: what the last dimensions of `dims` are.
        group: the number of the group of tensors that are sharded alike.
    """

    kind: HloKind
    dims: tuple[int, ...] = ()
    devices: tuple[int, ...] = ()
    subgroups: tuple[HloKind, ...] = ()
    group: int | None = None

    @property
    def rank(self) -> int:
        """The number of dimensions of the tensor; of a tiled sharding only."""
        return len(self.dims) - len(self.subgroups)


def parse_hlo_sharding(text: str) -> tuple[HloSharding, ...]:
    """Return the shardings that a string spells, several for a tuple.

    Raises:
        ValueError: it is not XLA's text of a sharding, saying what is wrong.
    """
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError("it does not stand in braces")
    if not text[1:-1].lstrip().startswith("{"):
        return (_parse_one(text),)
    return tuple(_parse_one(part) for part in _parts(text[1:-1]))


def _parts(text: str) -> Iterator[str]:
    """Yield the texts between commas outside of braces."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            break
        if character == "," and not depth:
            yield text[start:at].strip()
            start = at + 1
    if depth:
        raise ValueError("its braces do not match")
    yield text[start:].strip()


_ONE = re.compile(
    r"""\{\s*
    (?: (?P<plain> replicated | manual | unreduced | unknown )
      | maximal \s+ device= (?P<device> \d+ )
      | devices= \[ (?P<dims> [\d,\s]+ ) \]
        (?: <= \[ (?P<shape> [\d,\s]+ ) \] (?: T\( (?P<order> [\d,\s]+ ) \) )?
          | (?P<list> [\d,\s]*\d ) )
    )
    (?: \s+ (?P<last> last_tile_dim_replicate )
      | \s+ last_tile_dims= \{ (?P<kinds> [a-z,\s]* ) \} )?
    (?: \s+ shard_(?:as|like) \s+ (?P<group> \d+ ) )?
    (?: ,? \s* metadata= \{ .* \} )?
    \s*\}""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


def _parse_one(text: str) -> HloSharding:
    match = _ONE.fullmatch(text)
    if match is None:
        raise ValueError("it is no form of XLA's that is known here")
    group = None if match["group"] is None else int(match["group"])
    if match["plain"]:
        return HloSharding(HloKind(match["plain"]), group=group)
    if match["device"]:
        return HloSharding(
            HloKind.MAXIMAL, devices=(int(match["device"]),), group=group
        )
    dims = _numbers(match["dims"])
    subgroups: tuple[HloKind, ...] = ()
    if match["last"]:
        subgroups = (HloKind.REPLICATED,)
    elif match["kinds"] is not None:
        words = [word.strip() for word in match["kinds"].split(",")]
        subgroups = tuple(_subgroup(word) for word in words if word)
    if match["list"]:
        devices = _numbers(match["list"])
    else:
        shape = _numbers(match["shape"])
        order = _numbers(match["order"]) if match["order"] else ()
        devices = iota_devices(shape, order)
    return tiled(dims, devices, subgroups, group)


def _subgroup(word: str) -> HloKind:
    kinds = (HloKind.REPLICATED, HloKind.MANUAL, HloKind.UNREDUCED)
    if word not in kinds:
        raise ValueError(f"subgroups of devices are not '{word}'")
    return HloKind(word)


def iota_devices(shape: Sequence[int], order: Sequence[int] = ()) -> tuple[int, ...]:
    """The numbers from 0 in an array of that shape, its dimensions put in that order.

    Raises:
        ValueError: it has too many, or the order is none of the dimensions.
    """
    if prod(shape) > MOST_DEVICES:
        raise ValueError(f"it has more than {MOST_DEVICES} devices")
    order = order or list(range(len(shape)))
    if sorted(order) != list(range(len(shape))):
        raise ValueError(f"T({', '.join(map(str, order))}) is no order of dimensions")
    numbers = [0]
    for axis in order:
        stride = prod(shape[axis + 1 :])
        steps = range(0, stride * shape[axis], stride) if stride else ()
        numbers = [number + step for number in numbers for step in steps]
    return tuple(numbers)


def tiled(
    dims: tuple[int, ...],
    devices: tuple[int, ...],
    subgroups: tuple[HloKind, ...] = (),
    group: int | None = None,
) -> HloSharding:
    """Return a tiled sharding.

    Raises:
        ValueError: there is not one device for each tile, each once.
    """
    if not all(dims) or prod(dims) != len(devices):
        raise ValueError(
            f"{'x'.join(map(str, dims))} tiles want {prod(dims)} devices, and it has "
            f"{len(devices)}"
        )
    if len(set(devices)) != len(devices):
        raise ValueError("a device holds two tiles")
    if sorted(devices) != list(range(len(devices))):
        raise ValueError(
            f"its devices are not those from 0 to {len(devices) - 1}, each once"
        )
    if len(subgroups) > len(dims):
        raise ValueError("it has more subgroups than dimensions")
    return HloSharding(HloKind.TILED, dims, devices, subgroups, group)


# --- as protocol buffer --------------------------------------------------------


_PROTO_KINDS = (
    HloKind.REPLICATED,
    HloKind.MAXIMAL,
    None,  # a tuple
    HloKind.TILED,
    HloKind.MANUAL,
    HloKind.UNKNOWN,
    HloKind.UNREDUCED,
)


def parse_op_sharding(data: bytes) -> tuple[HloSharding, ...]:
    """Return the same of a serialized `OpSharding`, which JAX writes for many devices.

    Raises:
        ValueError: it is none.
    """
    numbers: dict[int, list[int]] = {}
    parts: list[bytes] = []
    for field, value in _fields(data):
        if isinstance(value, int):
            numbers.setdefault(field, []).append(value)
        elif field == 5:
            parts.append(value)
        elif field != 7 and (several := [*_varints(value)]):  # 7: metadata
            numbers.setdefault(field, []).extend(several)
    kind_number = numbers.get(1, [0])[-1]
    if kind_number == 2:
        return tuple(tile for part in parts for tile in parse_op_sharding(part))
    kind = _PROTO_KINDS[kind_number] if kind_number < len(_PROTO_KINDS) else None
    if kind is None:
        raise ValueError(f"type {kind_number} of OpSharding is not known here")
    group = numbers.get(12, [0])[-1] if numbers.get(11, [0])[-1] else None
    devices = tuple(numbers.get(4, ()))
    if kind is HloKind.MAXIMAL:
        if len(devices) != 1:
            raise ValueError("a maximal sharding is of one device")
        return (HloSharding(kind, devices=devices, group=group),)
    if kind is not HloKind.TILED:
        return (HloSharding(kind, group=group),)
    subgroups: list[HloKind] = []
    for number in numbers.get(8, ()):
        known = _PROTO_KINDS[number] if number < len(_PROTO_KINDS) else None
        subgroups.append(_subgroup(str(known)))
    if not subgroups and numbers.get(6, [0])[-1]:
        subgroups = [HloKind.REPLICATED]
    devices = devices or iota_devices(numbers.get(9, ()), numbers.get(10, ()))
    return (tiled(tuple(numbers.get(3, ())), devices, tuple(subgroups), group),)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of a message by number, as protocol buffers are written."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        field, wire = key >> 3, key & 7
        value, at = _varint(data, at)
        if wire == 2:
            if at + value > len(data):
                raise ValueError("it is cut short")
            yield field, data[at : at + value]
            at += value
        elif wire == 0:
            yield field, value
        else:
            raise ValueError("it is no serialized OpSharding")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("it is no serialized OpSharding")
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _varints(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value
