"""Families of dimensions that must be split together.

The groups of `ttxdsl.analysis.batching.dimensions` can be split into as many parts as divide all
of their factors: of 30 heads in a dimension of 1920 it is 30 that counts.

Layers repeat, and with them groups that differ in nothing but the layer. Groups whose
arguments have the same shapes and that share no argument are one *family* and are split
alike: in a chain of square layers this takes every second one, as Megatron does.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd, isqrt, prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ttxdsl.analysis.batching.dimensions import ADDED_UP, Dim, JoinedDimensions, Touch
from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.memory import argument_name
from ttxdsl.diagnostics.errors import Frame, source_frame
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of, value_bytes
from ttxdsl.ir.traversal import enclosing
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.devices.mesh import MOST_DEVICES
from ttxdsl.sharding.factors import OpShardingRule


@dataclass(frozen=True, slots=True)
class ArgumentDim:
    """A dimension of an argument: `params['wq'].1`."""

    argument: int
    dim: int
    name: str
    size: int

    def __str__(self) -> str:
        """The argument's name and the dimension's number."""
        return f"{self.name}.{self.dim}"


@dataclass(frozen=True, slots=True)
class Family:
    """Groups of dimensions that are split alike, at least one an argument's.

    `size` is what a number of parts must divide, `groups` how many alike there are,
    `dims` counts all dimensions in them. `communicates` counts the ops that need the
    group's dimension whole or add it up, by what they do with it.
    """

    name: str
    size: int
    groups: int
    arguments: tuple[ArgumentDim, ...]
    dims: int
    communicates: tuple[tuple[str, int], ...]
    stacked: bool = False
    """Whether a loop takes one slice along it an iteration: layers are stacked so."""

    @property
    def allowed(self) -> tuple[int, ...]:
        """The numbers of parts that divide the group everywhere."""
        return divisors(self.size)

    def splits(self, parts: int) -> tuple[ArgumentDim, ...]:
        """The argument dimensions that can be split so, the first of each argument."""
        split: dict[int, ArgumentDim] = {}
        for dim in self.arguments:
            if dim.size % parts == 0:
                split.setdefault(dim.argument, dim)
        return tuple(split.values())

    def padding(self, parts: int) -> float:
        """Return the share of memory that is padding if shards are filled up."""
        padded = -(-self.size // parts) * parts
        return 1 - self.size / padded


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that splitting a family moves, before other families split the tensor."""

    family: int
    adds_up: bool
    """Whether partial sums are added; else the dimension is gathered."""
    split_by: frozenset[int]


@dataclass(frozen=True, slots=True)
class Product:
    """A product whose result has the batch.

    Its fields are the op's number in a walk through the function, the batch's dimension
    and the rank, the families of its result, and the op's position and function.
    """

    op: int
    dim: int
    rank: int
    families: frozenset[int] = field(compare=False)
    position: str | None = field(compare=False)
    function: str | None = field(compare=False, default=None)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The work of one device, from the rules alone: see `Analysis.estimate`."""

    operations: int
    bytes_touched: int
    bytes_sent: int
    rounds: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """The families of a program, and what an estimate needs.

    `work` counts operations by the families that share them, `touched` the bytes of
    operands and results by the families that split them, `traffic` how many ops move
    how many bytes, by what moves them.
    """

    families: tuple[Family, ...]
    work: dict[frozenset[int], int]
    touched: dict[frozenset[int], int]
    traffic: dict[Traffic, tuple[int, int]]
    ops: int
    batch: int | None
    """The family that is the batch, if one is."""
    products: tuple["Product", ...]
    """The products that have the batch in their results."""

    def estimate(self, parts: dict[int, int]) -> Estimate:
        """Estimate a device's work from the rules and the parts of each split family."""

        def share(families: frozenset[int]) -> int:
            return prod(parts.get(family, 1) for family in families)

        sent = rounds = 0
        for traffic, (ops, count) in self.traffic.items():
            size = parts.get(traffic.family, 1)
            if size > 1:
                times = 2 if traffic.adds_up else 1
                sent += times * (size - 1) * (count // share(traffic.split_by)) // size
                rounds += times * (size - 1) * ops
        return Estimate(
            sum(count // share(by) for by, count in self.work.items()),
            sum(count // share(by) for by, count in self.touched.items()),
            sent,
            rounds,
        )


def divisors(number: int) -> tuple[int, ...]:
    """All divisors in order; beyond 2^40 those that a mesh may have as its size.

    Raises:
        ValueError: if the number is not positive.
    """
    if number < 1:
        raise ValueError(f"{number} has no divisors to list")
    root = isqrt(number)
    small = [d for d in range(1, min(root, MOST_DEVICES) + 1) if number % d == 0]
    if root > MOST_DEVICES:
        return tuple(small)
    return tuple(sorted({*small, *(number // d for d in small)}))


@dataclass(slots=True)
class _Group:
    dims: list[Dim] = field(default_factory=list[Dim])
    touches: list[Touch] = field(default_factory=list[Touch])
    arguments: list[ArgumentDim] = field(default_factory=list[ArgumentDim])

    @property
    def size(self) -> int:
        sizes = [touch.size for touch in self.touches]
        return gcd(*sizes, *(dim.size for dim in self.arguments))

    @property
    def likeness(self) -> tuple[object, ...]:
        """The key that groups of repeated layers have in common."""
        shapes = Counter((shape_of(self._value(d)), d.dim) for d in self.arguments)
        return (self.size, tuple(sorted(shapes.items())))

    def _value(self, dim: ArgumentDim) -> SSAValue:
        return next(
            value
            for value, at in self.dims
            if at == dim.dim
            and isinstance(value, BlockArgument)
            and value.index == dim.argument
            and isinstance(value.block.parent_op(), FuncOp)
        )


def _collect(
    function: FuncOp, joined: JoinedDimensions
) -> tuple[list[_Group], dict[Dim, int]]:
    """The groups, and for each dimension the index of its group."""
    sets = joined.groups
    groups: dict[Dim, _Group] = {}
    index_of: dict[Dim, int] = {}
    order: dict[Dim, int] = {}
    for dim in sets.members():
        root = sets.find(dim)
        groups.setdefault(root, _Group()).dims.append(dim)
        index_of[dim] = order.setdefault(root, len(order))
    for touch in joined.touches:
        groups[sets.find(touch.dims[0])].touches.append(touch)
    for index, argument in enumerate(function.body.block.args):
        name = argument_name(function, index)
        for dim, size in enumerate(shape_of(argument)):
            if size > 1:
                argument_dim = ArgumentDim(index, dim, name, size)
                groups[sets.find((argument, dim))].arguments.append(argument_dim)
    return list(groups.values()), index_of


def _families(groups: Sequence[_Group]) -> list[list[int]]:
    """Indices of groups with arguments, those that are alike together."""
    families: list[list[int]] = []
    alike: dict[object, list[tuple[list[int], set[int]]]] = {}
    for index, group in enumerate(groups):
        if not group.arguments:
            continue
        mine = {dim.argument for dim in group.arguments}
        for members, taken in alike.setdefault(group.likeness, []):
            if not mine & taken:
                members.append(index)
                taken |= mine
                break
        else:
            alike[group.likeness].append(([index], mine))
            families.append(alike[group.likeness][-1][0])
    return families


# Names


def _origin(value: SSAValue) -> SSAValue:
    """Return the value that this one is a converted or rearranged form of."""
    while not isinstance(value, BlockArgument):
        op = value.owner
        if not isinstance(
            op, stablehlo.ConvertOp | stablehlo.TransposeOp | stablehlo.ReshapeOp
        ):
            break
        value = op.operands[0]
    return value


def _roles(groups: Iterable[_Group], function: FuncOp) -> Counter[str]:
    """In how many products the groups play a part, by the part."""
    arguments = set(function.body.block.args)
    roles: Counter[str] = Counter()
    for group in groups:
        for touch in group.touches:
            op = touch.op
            if not isinstance(op, stablehlo.DotGeneralOp):
                continue
            weight = any(_origin(operand) in arguments for operand in op.operands)
            if len({value for value, _ in touch.dims}) == 3:
                roles["experts" if weight else "heads"] += 1
            elif touch.need == ADDED_UP and weight:
                roles["contracted"] += 1
    return roles


def short_name(name: str) -> str:
    """The last part of a path: `wq` of `params['layers'][0]['wq']`, `p0` of `p[0]`."""
    words = re.findall(r"\w+", name)
    named = [at for at, word in enumerate(words) if not word.isdigit()]
    return "".join(words[named[-1] :]) if named else f"arg{''.join(words)}"


def _arguments(family: Iterable[_Group]) -> list[ArgumentDim]:
    return [dim for group in family for dim in group.arguments]


def _touches(family: Iterable[_Group]) -> Iterator[Touch]:
    return (touch for group in family for touch in group.touches)


def _twice(family: Iterable[_Group]) -> int:
    """Values with two dimensions in one group."""
    return sum(
        len(group.dims) - len({value for value, _ in group.dims}) for group in family
    )


def _batch_family(families: Sequence[Sequence[_Group]]) -> int | None:
    """The family to call the batch: the first dimension of all its arguments.

    It runs through much of the program: at least a third as many dimensions are in it as
    in the largest family, no value has it twice, and no loop goes through it.
    """
    spread = [sum(len(group.dims) for group in family) for family in families]
    best: int | None = None
    for index, family in enumerate(families):
        leads = all(dim.dim == 0 for dim in _arguments(family))
        if leads and any(map(_steps_through, _touches(family))):
            continue
        if leads and 3 * spread[index] >= max(spread) and not _twice(family):
            best = index if best is None or spread[index] > spread[best] else best
    return best


def _names(families: Sequence[Sequence[_Group]], function: FuncOp) -> list[str]:
    names: list[str | None] = [None] * len(families)
    taken: set[str] = set()

    def name(index: int, text: str) -> None:
        unique, count = text, 2
        while unique in taken:
            unique, count = f"{text}_{count}", count + 1
        taken.add(unique)
        names[index] = unique

    batch = _batch_family(families)
    if batch is not None:
        name(batch, "batch")
    inputs: set[int] = set()
    if batch is not None:
        inputs = {dim.argument for dim in _arguments(families[batch])}
    widths: list[int] = []
    for index, family in enumerate(families):
        roles = _roles(family, function)
        mine = {d.argument for d in _arguments(family)}
        if names[index] is None:
            if roles["experts"]:
                name(index, "experts")
            elif roles["heads"] and len(mine) > 1 and not _twice(family):
                name(index, "heads")
            elif _twice(family) and mine & inputs:
                name(index, "sequence")
        widths.append(0 if names[index] else roles["contracted"])
    widest = max(range(len(widths)), key=lambda at: widths[at], default=None)
    if widest is not None and widths[widest] > 1:
        name(widest, "hidden")
    for index, family in enumerate(families):
        if names[index] is None:
            first = family[0].arguments[0]
            name(index, f"{short_name(first.name)}_{first.dim}")
    return [text for text in names if text is not None]


# All together


class _Counts:
    """Operations and bytes, counted by the families that shard them."""

    def __init__(self, family_of: dict[Dim, int]):
        self.family_of = family_of
        self.work: Counter[frozenset[int]] = Counter()
        self.touched: Counter[frozenset[int]] = Counter()
        self.moves: Counter[Traffic] = Counter()
        self.moved: Counter[Traffic] = Counter()

    def split_by(self, value: SSAValue) -> frozenset[int]:
        dims = ((value, dim) for dim in range(len(shape_of(value))))
        return frozenset(self.family_of[d] for d in dims if d in self.family_of)

    def add(
        self,
        op: Operation,
        rule: OpShardingRule | None,
        touches: Sequence[Touch],
        times: int,
    ) -> None:
        """Count one op, as often as it runs, with all that it does with its factors."""
        shared: set[int] = set()
        for touch in touches:
            family = self.family_of.get(touch.dims[0])
            if family is None:
                continue
            if touch.need in (None, ADDED_UP):
                shared.add(family)
            if touch.need is not None:
                self._move(op, touch, family, times)
        operations = prod(rule.factor_sizes) if rule is not None else 0
        self.work[frozenset(shared)] += times * operations
        for value in (*op.operands, *op.results):
            self.touched[self.split_by(value)] += times * value_bytes(value)

    def _move(self, op: Operation, touch: Touch, family: int, times: int) -> None:
        adds_up = touch.need == ADDED_UP
        for value in op.results if adds_up else (touch.dims[0][0],):
            traffic = Traffic(family, adds_up, self.split_by(value) - {family})
            self.moves[traffic] += times
            self.moved[traffic] += times * value_bytes(value)

    def traffic(self) -> dict[Traffic, tuple[int, int]]:
        """Return the ops that move data and the bytes moved, by kind of traffic."""
        return {key: (self.moves[key], count) for key, count in self.moved.items()}


def analyze(function: FuncOp, trip_count: int | None = None) -> Analysis:
    """The families of dimensions of a function without calls, shardings aside."""
    module = function.parent_op()
    assert isinstance(module, ModuleOp)
    runs = Runs(module, trip_count)
    joined = JoinedDimensions.of(function, sharding_rule, least=2)
    groups, index_of = _collect(function, joined)
    members = _families(groups)
    families = [[groups[at] for at in member] for member in members]
    batch = _batch_family(families)
    if batch is not None:  # it comes first, in names and on meshes
        members.insert(0, members.pop(batch))
        families.insert(0, families.pop(batch))
    family_at = {at: index for index, member in enumerate(members) for at in member}
    family_of = {dim: family_at[at] for dim, at in index_of.items() if at in family_at}
    names = _names(families, function)
    families_of_groups: list[Family] = []
    for name, family in zip(names, families, strict=True):
        needs = Counter(t.need for g in family for t in g.touches if t.need)
        arguments = _arguments(family)
        families_of_groups.append(
            Family(
                name=name,
                size=gcd(*(group.size for group in family)),
                groups=len(family),
                arguments=tuple(sorted(arguments, key=lambda d: (d.argument, d.dim))),
                dims=sum(len(group.dims) for group in family),
                communicates=tuple(sorted(needs.items())),
                stacked=any(map(_steps_through, _touches(family))),
            )
        )
    counts = _Counts(family_of)
    by_op: dict[Operation, list[Touch]] = {}
    for touch in joined.touches:
        by_op.setdefault(touch.op, []).append(touch)
    for op, mine in by_op.items():
        counts.add(op, joined.rules.get(op), mine, runs.of(op).count)
    for argument in function.body.block.args:  # of some no op is seen to touch a value
        counts.touched[counts.split_by(argument)] += 0
    return Analysis(
        families=tuple(families_of_groups),
        work=dict(counts.work),
        touched=dict(counts.touched),
        traffic=counts.traffic(),
        ops=sum(1 for _ in function.body.walk()),
        batch=None if batch is None else 0,
        products=() if batch is None else tuple(_products(function, family_of)),
    )


def _steps_through(touch: Touch) -> bool:
    """Whether a loop takes, or writes, one slice along a dimension an iteration."""
    op = touch.op
    if touch.need is None or not isinstance(
        op, stablehlo.DynamicSliceOp | stablehlo.DynamicUpdateSliceOp
    ):
        return False
    return enclosing(op, stablehlo.WhileOp) is not None


def _products(function: FuncOp, family_of: dict[Dim, int]) -> Iterator[Product]:
    """The products with the batch, which is the first family."""
    for number, op in enumerate(function.body.walk()):
        if isinstance(op, stablehlo.DotGeneralOp | stablehlo.ConvolutionOp):
            result = op.results[0]
            rank = len(shape_of(result))
            families = [family_of.get((result, dim), -1) for dim in range(rank)]
            for dim in range(rank):
                if families[dim] == 0:
                    frame = source_frame(op.location) or Frame("", "")
                    yield Product(
                        number,
                        dim,
                        rank,
                        frozenset(families),
                        frame.position or None,
                        frame.function or None,
                    )
