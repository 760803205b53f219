"""Finding the batch of a program that nobody annotated.

The dimensions of arguments that are split together (`dimensions.py`) are a *candidate*. What splitting a candidate
means is found by following it through the program:

- an op with a split operand computes its part; its other operands are whole on every
  device, so that taking the part that fits costs nothing;
- a reduction over the split dimension leaves partial sums, which are added up at once.
  It is *final* if no op that computes its part uses what follows from it, as is so for
  losses and gradients;
- an op that needs a split operand whole has it gathered.

The batch is the candidate that makes the devices share the most work while nothing but
final reductions communicates. In

    x[b, d] -> h = x @ w1[d, f] -> y = h @ w2[f, e]

`{x.0}` splits both products and needs nothing; `{w1.1, w2.0}` needs a reduction of y.
If hardly any work can be shared so, a candidate that communicates in between is taken
as long as it is worth its price (a batch norm's mean).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd, prod
from typing import NamedTuple

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ttxdsl.analysis.batching.dimensions import Dim, JoinedDimensions
from ttxdsl.ir.data_flow import DataFlowTrait, Operand, data_flow_of
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.rules.supplement import supplementary_rule
from ttxdsl.sharding.factors import OpShardingRule

OPERATIONS_PER_ELEMENT_SENT = 64
"""How many multiply-adds cost what sending one element costs; only ranks choices."""

NEARLY_ALL = 0.9
"""Candidates that share this part of the most work are ranked by what they send."""

WORTH_TALKING = 2
"""How many times more work a candidate has to share to communicate in between."""


def _elements(values: Iterable[SSAValue]) -> int:
    return sum(prod(shape_of(value)) for value in values)


class _Facts(NamedTuple):
    """The facts about an op that has a sharding rule.

    Attributes:
        work: the number of its elementary operations.
        usable: the factors that can be split: each device has its part of every
            result, or a partial sum of it.
    """

    rule: OpShardingRule
    work: int
    usable: frozenset[int]


@lru_cache(maxsize=1 << 12)
def _facts(rule: OpShardingRule) -> _Facts:
    refused = {*rule.need_replication, *rule.permutation, *rule.blocked}
    for mapping in rule.tensors:
        for factors in mapping:
            # splitting a dimension splits its major factor
            refused.update(factors[1:])
    usable = frozenset(
        factor
        for factor in range(len(rule.factor_sizes))
        if factor not in refused
        and (
            factor in rule.reduction
            or all(
                any(factor in factors for factors in mapping)
                for mapping in rule.results
            )
        )
    )
    return _Facts(rule, prod(rule.factor_sizes), usable)


def _work(joined: JoinedDimensions) -> dict[Dim, int]:
    """For each group the work of all ops that it touches."""
    touching: dict[Dim, set[Operation]] = {}
    for touch in joined.touches:
        if touch.op in joined.rules:
            group = joined.groups.find(touch.dims[0])
            touching.setdefault(group, set()).add(touch.op)
    return {
        group: sum(_facts(joined.rules[op]).work for op in ops)
        for group, ops in touching.items()
    }


@dataclass
class _Flow:
    """A candidate followed through the program.

    Loops are followed until nothing changes, so everything is kept an op, and replaced
    when the op is visited again.

    Attributes:
        count: how many devices share the split dimension.
        split: the split dimension of each value that has one.
        reduced: for each value that follows from reductions, which; one bit each.
        shared: the work of each op that computes its part.
        reductions: the ops that leave partial sums, in order of their bits.
        gathered: what each op needs whole although it is split.
        met: the reductions whose sums each op uses to compute its part.
    """

    facts: Mapping[Operation, _Facts]
    count: int
    split: dict[SSAValue, int]
    reduced: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    shared: dict[Operation, int] = field(default_factory=dict[Operation, int])
    reductions: dict[Operation, int] = field(default_factory=dict[Operation, int])
    gathered: dict[Operation, list[SSAValue]] = field(
        default_factory=dict[Operation, list[SSAValue]]
    )
    _bits: dict[Operation, int] = field(default_factory=dict[Operation, int])
    met: dict[Operation, int] = field(default_factory=dict[Operation, int])

    # What came of it

    @property
    def work(self) -> int:
        """Operations that the devices share."""
        return sum(self.shared.values())

    @property
    def _early(self) -> list[Operation]:
        """The reductions that are not final."""
        met = 0
        for mask in self.met.values():
            met |= mask
        return [op for op, bit in self.reductions.items() if met & bit]

    @property
    def is_free(self) -> bool:
        """Whether nothing but final reductions communicates."""
        return not self.met and not self.gathered

    @property
    def sent_at_the_end(self) -> int:
        """Elements of final reductions."""
        early = set(self._early)
        return sum(_elements(op.results) for op in self.reductions if op not in early)

    @property
    def sent_in_between(self) -> int:
        """Elements of the other reductions, and those gathered."""
        return sum(_elements(op.results) for op in self._early) + sum(
            _elements(values) for values in self.gathered.values()
        )

    def explain(self) -> str:
        """Return a sentence on the ops that share the work, and what communicates."""
        final, early = len(self.reductions) - len(self._early), len(self._early)
        gathers = sum(len(values) for values in self.gathered.values())
        shares = " and ".join(
            f"{number} {noun}{'s' * (number > 1)}{where}"
            for number, noun, where in (
                (early, "reduction", " in between"),
                (gathers, "gather", ""),
                (final, "final reduction", ""),
            )
            if number
        )
        verb = "communicates" if early + gathers + final <= 1 else "communicate"
        ops = len(self.shared)
        shared = "1 op shares" if ops == 1 else f"{ops} ops share"
        return f"{shared} the work and {shares or 'nothing'} {verb}"

    # Following it

    def follow(self, block: Block) -> None:
        """Visit the ops of a block in order."""
        for op in block.ops:
            known = self.facts.get(op)
            if known is not None:
                self._by_rule(op, known)
            elif (edges := data_flow_of(type(op))) is not None:
                self._along_edges(op, edges)
            elif not op.has_trait(IsTerminator):
                self._whole(op)

    def _forget(self, op: Operation) -> None:
        for known in (self.shared, self.reductions, self.gathered, self.met):
            known.pop(op, None)
        for result in op.results:
            self.split.pop(result, None)
            self.reduced.pop(result, None)

    def _reduced_among(self, values: Iterable[SSAValue]) -> int:
        mask = 0
        for value in values:
            mask |= self.reduced.get(value, 0)
        return mask

    def _whole(self, op: Operation) -> None:
        """An op that nothing is known of works on whole tensors."""
        self._forget(op)
        split = [value for value in op.operands if value in self.split]
        if split:
            self.gathered[op] = split
        if mask := self._reduced_among(op.operands):
            self.reduced.update(dict.fromkeys(op.results, mask))

    def _by_rule(self, op: Operation, known: _Facts) -> None:
        """An op computes its part along the factor that most of its operands split."""
        self._forget(op)
        if not any(v in self.split or v in self.reduced for v in op.operands):
            return
        rule = known.rule
        of_factor: dict[int, list[SSAValue]] = {}
        gathered: list[SSAValue] = []
        for value, mapping in zip(op.operands, rule.operands, strict=True):
            dim = self.split.get(value)
            if dim is None:
                continue
            factors = mapping[dim]
            if (
                factors
                and factors[0] in known.usable
                and rule.factor_sizes[factors[0]] % self.count == 0
            ):
                of_factor.setdefault(factors[0], []).append(value)
            else:
                gathered.append(value)
        mask = self._reduced_among(op.operands)
        if of_factor:
            factor = max(of_factor, key=lambda f: (_elements(of_factor[f]), -f))
            gathered.extend(v for f, vs in of_factor.items() if f != factor for v in vs)
            self._compute_part(op, known, factor, mask)
        elif mask:
            self.reduced.update(dict.fromkeys(op.results, mask))
        if gathered:
            self.gathered[op] = gathered

    def _compute_part(
        self, op: Operation, known: _Facts, factor: int, mask: int
    ) -> None:
        self.shared[op] = known.work
        if mask:
            self.met[op] = mask
        for result, mapping in zip(op.results, known.rule.results, strict=True):
            dims = [dim for dim, factors in enumerate(mapping) if factor in factors]
            if dims:
                self.split[result] = dims[0]
            else:
                bit = self._bits.setdefault(op, 1 << len(self._bits))
                self.reductions[op] = bit
                self.reduced[result] = bit | mask

    def _along_edges(self, op: Operation, edges: DataFlowTrait) -> None:
        """Loops and branches hand values on; a loop until what it carries stays."""
        self._hand_on_all(op, edges)
        while op.regions:
            for region in op.regions:
                for block in region.blocks:
                    self.follow(block)
            if not self._hand_on_all(op, edges):
                break

    def _hand_on_all(self, op: Operation, edges: DataFlowTrait) -> bool:
        """Let values that an op's are handed on to know the same; return if any is new."""
        self.gathered.pop(op, None)
        self.met.pop(op, None)
        changed = False
        handed: set[Operand] = set()
        for owner in edges.edge_owners(op):
            sources = edges.edge_sources(op, owner)
            handed.update(sources)
            targets = (owner, *edges.other_targets(op, owner))
            changed |= self._hand_on(op, [s.value for s in sources], targets)
        # what decides which way the program goes
        ends = (b.last_op for region in op.regions for b in region.blocks)
        for user in (op, *(end for end in ends if end is not None)):
            for index, value in enumerate(user.operands):
                if Operand(user, index) not in handed:
                    self._need_whole(op, value)
        return changed

    def _need_whole(self, op: Operation, value: SSAValue) -> None:
        if value in self.split:
            self.gathered.setdefault(op, []).append(value)
        if mask := self.reduced.get(value, 0):
            self.met[op] = self.met.get(op, 0) | mask

    def _hand_on(
        self, op: Operation, sources: list[SSAValue], targets: tuple[SSAValue, ...]
    ) -> bool:
        """Let targets of an edge know what its sources do; return if any of it is new."""
        owner = targets[0]
        dim = self.split.get(owner)
        mask = self.reduced.get(owner, 0) | self._reduced_among(sources)
        for value in sources:
            split_dim = self.split.get(value)
            if dim is None:
                dim = split_dim
            if split_dim is not None and split_dim != dim:
                self.gathered.setdefault(op, []).append(value)
        changed = (self.split.get(owner), self.reduced.get(owner, 0)) != (dim, mask)
        for target in targets:
            if dim is not None:
                self.split[target] = dim
            if mask:
                self.reduced[target] = mask
        if mask and dim is not None:
            self.met[op] = self.met.get(op, 0) | mask
        return changed


def name_dimensions(dims: Mapping[int, int]) -> str:
    """`dimension 0 of arguments 4 and 5, dimension 1 of argument 6`."""
    arguments: dict[int, list[int]] = {}
    for argument, dim in sorted(dims.items()):
        arguments.setdefault(dim, []).append(argument)
    return ", ".join(
        f"dimension {dim} of argument{'s' * (len(args) > 1)} {_and(args)}"
        for dim, args in arguments.items()
    )


def _and(numbers: Sequence[int]) -> str:
    *others, last = map(str, numbers)
    return f"{', '.join(others)} and {last}" if others else last


def _candidates(
    function: FuncOp, joined: JoinedDimensions
) -> list[tuple[int, dict[int, int]]]:
    """For each group that arguments are in, the work that it touches and their dimensions.

    One dimension an argument, the first of several. The most work comes first.
    """
    work = _work(joined)
    splits_of_groups: dict[Dim, dict[int, int]] = {}
    for index, argument in enumerate(function.body.block.args):
        for dim in range(len(shape_of(argument))):
            splits_of_groups.setdefault(
                joined.groups.find((argument, dim)), {}
            ).setdefault(index, dim)
    return sorted(
        ((work.get(group, 0), dims) for group, dims in splits_of_groups.items()),
        key=lambda candidate: -candidate[0],
    )


class Batch(NamedTuple):
    """The answer of `find_batch`.

    Attributes:
        dims: the dimension to split of each argument that has one.
        work: how many operations the devices then share.
        reason: what is split, who shares the work, and what communicates.
    """

    dims: Mapping[int, int]
    work: int
    reason: str


def _best(
    free: list[tuple[dict[int, int], _Flow]], others: list[tuple[dict[int, int], _Flow]]
) -> tuple[dict[int, int], _Flow] | None:
    """Return the best of those that only reduce last (free), else of the others."""
    most = max((flow.work for _, flow in free), default=0)
    more = [
        candidate for candidate in others if candidate[1].work > WORTH_TALKING * most
    ]
    if more:
        return max(more, key=lambda candidate: candidate[1].work - _price(candidate[1]))
    nearly = [candidate for candidate in free if candidate[1].work >= NEARLY_ALL * most]
    return max(
        nearly,
        key=lambda candidate: candidate[1].work - _price(candidate[1]),
        default=None,
    )


def _price(flow: _Flow) -> int:
    """Return the operations that cost as much as what is sent."""
    sent = flow.sent_at_the_end + flow.sent_in_between
    return OPERATIONS_PER_ELEMENT_SENT * sent


def find_batch(function: FuncOp, count: int) -> Batch | None:
    """Return the dimensions of arguments to split over `count` devices.

    Returns:
        None if there are none that `count` devices can share evenly and that run
        through the program with little enough communication: every device has to
        compute all of it.
    """
    block = function.body.block
    joined = JoinedDimensions.of(
        function, lambda op: sharding_rule(op) or supplementary_rule(op)
    )
    facts = {op: _facts(rule) for op, rule in joined.rules.items()}
    free: list[tuple[dict[int, int], _Flow]] = []
    others: list[tuple[dict[int, int], _Flow]] = []
    most = 0
    for touched, all_dims in _candidates(function, joined):
        if touched < NEARLY_ALL * most:
            break  # it cannot share enough
        dims = {
            index: dim
            for index, dim in all_dims.items()
            if (size := shape_of(block.args[index])[dim]) and size % count == 0
        }
        if not dims:
            continue
        flow = _Flow(facts, count, {block.args[i]: dim for i, dim in dims.items()})
        flow.follow(block)
        if flow.is_free:
            free.append((dims, flow))
            most = max(most, flow.work)
        elif flow.work > OPERATIONS_PER_ELEMENT_SENT * flow.sent_in_between:
            others.append((dims, flow))
    best = _best(free, others)
    if best is None:
        return None
    dims, flow = best
    reason = f"{name_dimensions(dims)} split over {count} devices; {flow.explain()}"
    return Batch(dims, flow.work, reason)


def fitting_device_counts(function: FuncOp) -> tuple[Mapping[int, int], list[int]]:
    """The batch of a program whatever its size, and how many devices can share it."""
    batch = find_batch(function, 1)
    if batch is None or not batch.work:
        return {}, []
    arguments = function.body.block.args
    size = gcd(*(shape_of(arguments[index])[dim] for index, dim in batch.dims.items()))
    counts = [
        count
        for count in range(2, size + 1)
        if size % count == 0
        and (smaller_batch := find_batch(function, count)) is not None
        and smaller_batch.dims == batch.dims
    ]
    return batch.dims, counts
