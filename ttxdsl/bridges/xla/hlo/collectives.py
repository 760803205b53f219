"""The collectives of a compiled XLA program, read off its HLO text.

An HLO line that is a collective says its result's type, the groups of devices and,
in its metadata, the op it was made of:

    %ar = f32[8,64]{1,0} all-reduce(%dot), channel_id=1, replica_groups=[2,4]<=[8],
          …, metadata={op_name="jit(f)/dot_general" stack_frame_id=4}

Source: XLA's HLO text format; the forms of replica groups are those that XLA prints.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ttxdsl.analysis.attribution.stacks import stack_parts
from ttxdsl.analysis.calls.execution_counts import ONCE, Times
from ttxdsl.bridges.xla.hlo.runs import computations_of, times_of
from ttxdsl.costs.ring import Ring, ring_bytes
from ttxdsl.diagnostics.errors import Frame, own_frame, place_text
from ttxdsl.sharding.axes import AxisRef, sort_by_mesh
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import Groups, groups_along

KINDS = {
    "all-gather": Ring.ALL_GATHER,
    "all-reduce": Ring.ALL_REDUCE,
    "all-to-all": Ring.ALL_TO_ALL,
    "ragged-all-to-all": Ring.ALL_TO_ALL,
    "collective-broadcast": Ring.COLLECTIVE_PERMUTE,
    "collective-permute": Ring.COLLECTIVE_PERMUTE,
    "reduce-scatter": Ring.REDUCE_SCATTER,
}
"""HLO's collectives, by how their bytes count."""

_OP = re.compile(
    r"^\s*(?:ROOT )?%\S+ = (?P<type>\(.*?\)|\S+) "
    rf"(?P<kind>{'|'.join(KINDS)})(?P<start>-start)?\(",
)
_SHAPE = re.compile(r"(?P<element>[a-z]+\d*(?:e\dm\d\w*)?)\[(?P<sizes>[\d,]*)\]")
_COMMENT = re.compile(r"/\*.*?\*/")
_PERMUTATION = r"(?:T\((?P<perm>[\d,]+)\))?"
_GROUPS = re.compile(rf"\[(?P<shape>[\d,]+)\]<=\[(?P<dims>[\d,]+)\]{_PERMUTATION}")
_MESH = re.compile(
    r"mesh\[(?P<axes>.*?)\]"
    rf"(?:,\s*device_ids=\(\[(?P<dims>[\d,]+)\]{_PERMUTATION}\))?"
    r"\s*\{(?P<along>.*?)\}"
)
_AXIS = re.compile(r"'(?P<name>[^']+)'(?::\((?P<before>\d+)\)(?P<size>\d+))?")
_ASYNC_PIECE = '"async_collective_fusion_config"'
_ASYNC_START = 'custom_call_target="AsyncCollectiveStart"'
"""libtpu splits a collective into fusions, which other work stands between and in. Each
repeats its line; the first one starts it."""
_METADATA = re.compile(r'metadata=\{((?:[^"]|"(?:[^"\\]|\\.)*")*?)\}(?:,|$|\s)')


@dataclass(frozen=True, slots=True)
class HloCollective:
    """One collective of XLA: its kind with `_`, groups, bytes and origin.

    `bytes_per_device` is what a device sends by the ring model in one run of the program,
    in which it runs `times`, `tensor` the types of what it moves (its results, where an
    async op has operands in its type too).
    `op_name`, `position` and the `function` that this is in are of the metadata, None where
    there is none; of a traceback it is the user's own frame.
    """

    kind: str
    groups: Groups
    tensor: str
    bytes_per_device: int
    op_name: str | None = None
    position: str | None = None
    function: str | None = None
    times: Times = ONCE

    @property
    def place(self) -> str:
        """The position for people, `train.py:33 in block`; nothing if there is none."""
        return place_text(self.position, self.function)

    @property
    def count(self) -> int:
        """The number of times that it runs."""
        return self.times.count

    @property
    def group_size(self) -> int:
        """The number of devices in a group; 1 for a permutation that moves nothing."""
        return max((len(group) for group in self.groups), default=1)

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes of the user's program; several if XLA joined ops.

        `Model/layers_0/dot_general`; scopes of differentiation end in `backward`.
        """
        return () if self.op_name is None else scopes_of(self.op_name)


_WRAPPERS = re.compile(r"p?jit\(.*\)|jvp|vmap|\w+\.\d+")


def scopes_of(op_name: str) -> tuple[str, ...]:
    """Return the user's scopes in the name of an HLO op, each once.

    XLA writes `jit(f)/(a:b)` for what it made of `jit(f)/a` and `jit(f)/b`.
    """
    *outer, last = _split(op_name, "/")
    ends = [last]
    if last.startswith("(") and last.endswith(")"):
        ends = _split(last[1:-1], ":")
    scopes: dict[str, None] = {}
    for end in ends:
        parts = stack_parts("/".join((*outer, end)))
        named = [part for part in parts if not _WRAPPERS.fullmatch(part)]
        backward = [part for part in named if part.startswith("transpose(")]
        text = "/".join(part for part in named if part not in backward)
        # an op without a name in the program keeps the number that XLA gave it
        scopes[f"{text or end}{' backward' if backward else ''}"] = None
    return tuple(scopes)


def _split(text: str, separator: str) -> list[str]:
    """Return the parts of a text between separators that are in no parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == separator and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(",") if number.strip())


def _iota(match: re.Match[str]) -> Sequence[int]:
    """Return the devices that a reshaped and transposed iota lists."""
    dims = _numbers(match["dims"])
    order = np.arange(prod(dims)).reshape(dims)
    if match["perm"]:
        order = order.transpose(_numbers(match["perm"]))
    return [int(device) for device in order.reshape(-1)]


def _groups_along(match: re.Match[str]) -> Groups:
    """Groups of `mesh['a'=2,'b'=4] {'b'}`; an axis may be a part, `'b':(1)2`."""
    axes = tuple(
        (name, int(size))
        for name, size in re.findall(r"'([^']+)'=(\d+)", match["axes"])
    )
    mesh = Mesh(axes, tuple(_iota(match)) if match["dims"] else ())
    along = [
        AxisRef(axis["name"], int(axis["before"]), int(axis["size"]))
        if axis["size"]
        else AxisRef(axis["name"])
        for axis in _AXIS.finditer(match["along"])
    ]
    return groups_along(mesh, sort_by_mesh(along, mesh))


def parse_groups(line: str, devices: int) -> Groups:
    """Return the groups of device ids of a collective's line.

    They are listed (`{{0,1},{2,3}}`), a reshaped iota (`[4,2]<=[8]T(0)`), or along axes
    of a mesh; `{}` is all devices. Pairs of a permutation count as groups of two, but
    those of a device with itself.
    """
    if pairs := re.search(r"source_target_pairs=\{((?:\{\d+,\d+\},?)*)\}", line):
        moved = re.findall(r"(\d+),(\d+)", pairs[1])
        return tuple((int(s), int(t)) for s, t in moved if s != t)
    everyone = (tuple(range(devices)),)
    match = re.search(r"replica_groups=(.*)", line)
    if match is None:
        return everyone
    text = match[1]
    if iota := _GROUPS.match(text):
        order = _iota(iota)
        size = _numbers(iota["shape"])[-1]
        return tuple(
            tuple(order[start : start + size]) for start in range(0, len(order), size)
        )
    if mesh := _MESH.match(text):
        return _groups_along(mesh)
    if listed := re.match(r"\{((?:\{[\d,]*\},?)+)\}", text):
        return tuple(
            _numbers(group) for group in re.findall(r"\{([\d,]*)\}", listed[1])
        )
    return everyone


def _bits(element: str) -> int:
    if element == "pred":
        return 8
    number = re.search(r"\d+", element)
    return int(number[0]) if number else 0


def _tensors(type_: str) -> list[tuple[str, int]]:
    """Return the text and the bytes of each tensor of an HLO type, also in tuples."""
    tensors: list[tuple[str, int]] = []
    for shape in _SHAPE.finditer(_COMMENT.sub("", type_)):
        sizes = _numbers(shape["sizes"])
        size = -(-prod(sizes) * _bits(shape["element"]) // 8)
        tensors.append(("x".join((*map(str, sizes), shape["element"])), size))
    return tensors


_SECTION = re.compile(
    r"^(FileNames|FunctionNames|FileLocations|StackFrames)\n((?:\d+ .*\n)*)",
    re.MULTILINE,
)


def _frames(hlo: str) -> dict[str, Frame]:
    """For each numbered stack frame of a module's head the user's own frame there."""
    tables: dict[str, dict[str, str]] = {}
    for section in _SECTION.finditer(hlo):
        tables[section[1]] = dict(row.split(" ", 1) for row in section[2].splitlines())

    def named(table: str, number: str | None) -> str:
        return tables.get(table, {}).get(number or "", "").strip('"')

    frames: dict[str, Frame] = {}
    parents: dict[str, str] = {}
    for number, frame in tables.get("StackFrames", {}).items():
        ids = dict(re.findall(r"(\w+)=(\d+)", frame))
        row = tables.get("FileLocations", {}).get(ids.get("file_location_id", ""))
        if row is None:
            continue
        fields = dict(re.findall(r"(\w+)=(\d+)", row))
        file = named("FileNames", fields.get("file_name_id"))
        place = (fields.get("line", "0"), fields.get("column", "0"))
        function = named("FunctionNames", fields.get("function_name_id"))
        frames[number] = Frame(function, ":".join((file, *place)))
        # XLA writes one more than the number of the frame, so that 1 is none
        parents[number] = str(int(ids.get("parent_frame_id", "1")) - 1)

    def outward(number: str) -> Iterator[Frame]:
        for _ in frames:  # of a text that somebody wrote: it may be a circle
            if number not in frames:
                return
            yield frames[number]
            number = parents[number]

    own = {number: own_frame(outward(number)) for number in frames}
    return {number: frame for number, frame in own.items() if frame is not None}


def _metadata(line: str, frames: dict[str, Frame]) -> tuple[str | None, Frame | None]:
    """Return the name of the op that a line was made of, and where that is."""
    match = _METADATA.search(line)
    if match is None:
        return None, None
    name = re.search(r'op_name="((?:[^"\\]|\\.)*)"', match[1])
    frame = re.search(r"stack_frame_id=(\d+)", match[1])
    text = re.sub(r"\\(.)", r"\1", name[1]) if name else None
    return text, frames.get(frame[1]) if frame else None


def list_hlo_collectives(
    hlo: str, devices: int, trip_count: int | None = None
) -> list[HloCollective]:
    """Return the collectives of a partitioned module's text, async by their start."""
    frames = _frames(hlo)
    collectives: list[HloCollective] = []
    computations, places = computations_of(hlo)
    inside: list[str | None] = []
    starts = {
        place
        for line, place in zip(hlo.splitlines(), places, strict=True)
        if _ASYNC_START in line
    }
    for line, place in zip(hlo.splitlines(), places, strict=True):
        op = _OP.match(line)
        if op is None or (_ASYNC_PIECE in line and place not in starts):
            continue
        ring = KINDS[op["kind"]]
        groups = parse_groups(line, devices)
        tensors = _tensors(op["type"])
        if op["start"] and op["type"].startswith("(") and ring is not Ring.ALL_REDUCE:
            # operands, then results (then, for permutes, two counters)
            half = 1 if ring is Ring.COLLECTIVE_PERMUTE else len(tensors) // 2
            tensors = tensors[half : 2 * half]
        size = max((len(group) for group in groups), default=1)
        # our model counts from the operand's bytes, HLO has the result's type
        total = sum(bytes_ for _, bytes_ in tensors)
        if ring is Ring.ALL_GATHER:
            total //= size
        elif ring is Ring.REDUCE_SCATTER:
            total *= size
        name, frame = _metadata(line, frames)
        collectives.append(
            HloCollective(
                kind=op["kind"].replace("-", "_"),
                groups=groups,
                tensor=", ".join(text for text, _ in tensors),
                bytes_per_device=ring_bytes(ring, total, size),
                op_name=name,
                position=None if frame is None else frame.position,
                function=None if frame is None else frame.function or None,
            )
        )
        inside.append(place)
    sent: Counter[str] = Counter()
    for collective, place in zip(collectives, inside, strict=True):
        sent[place or ""] += collective.bytes_per_device
    times = times_of(computations, sent, trip_count)
    return [
        _counted(collective, times.get(place or "", ONCE))
        for collective, place in zip(collectives, inside, strict=True)
    ]


def _counted(collective: HloCollective, times: Times) -> HloCollective:
    total = times.count * collective.bytes_per_device
    return replace(collective, bytes_per_device=total, times=times)
