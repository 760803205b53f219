"""Roles of values in training: parameters, gradients, activations, …

A training step is known by its gradients. A value is the gradient of a parameter if

- it is made of something else (a contraction, a reduction, a scatter), depends on that
  parameter, and belongs to a result that is a new value of it; and
- somewhere a gradient is a product with the very value that its parameter is multiplied
  with, or looks up with the same indices: what reverse-mode differentiation does, and a
  step of inference that adds to its state does not.

What is computed from gradients and state alone is the optimizer's.
"""

from enum import Enum

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation

from ttxdsl.analysis.attribution.stacks import names_in
from ttxdsl.analysis.usage.collectives import collective_ops
from ttxdsl.analysis.values.state import results_of_arguments
from ttxdsl.analysis.values.value_flow import Flow, ValueFlow, bits, union
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of, value_bytes
from ttxdsl.ir.traversal import all_ops, enclosing

_PRODUCTS = (
    stablehlo.ConvolutionOp,
    stablehlo.DotGeneralOp,
    stablehlo.DotOp,
    stablehlo.EinsumOp,
    stablehlo.GatherOp,
)
"""Ops that combine a parameter with a value which its gradient is combined with, too."""


class Role(Enum):
    """The role of a value; the text is its name in tables."""

    ACTIVATIONS = "activations"
    ARGUMENTS = "arguments"
    GRADIENTS = "gradients"
    GRADIENT_STATISTICS = "gradient statistics"
    OPTIMIZER_STATE = "optimizer state"
    PARAMETERS = "parameters"
    RESULTS = "results"
    UPDATES = "updates"


_DATA, _GRADIENT, _OPTIMIZER = 1, 2, 4
"""What values are made of, as bits: of the batch, by differentiation, of gradients."""


class Roles:
    """The roles of the values of a function without calls, per-device or global."""

    def __init__(self, function: FuncOp):
        self._flow = flow = ValueFlow(function)
        self._arguments = list(function.body.block.args)
        types = function.function_type
        becomes = results_of_arguments(function)
        self._before = {result: argument for argument, result in becomes.items()}
        """The argument that a result is the new value of."""
        count = len(types.outputs.data)
        self._updates = [flow.updated(result) for result in range(count)]
        """For each result the arguments that it is computed from as a new value."""
        updated = union(self._updates)
        self._data = sum(
            1 << argument.index
            for argument in self._arguments
            if shape_of(argument) and not updated >> argument.index & 1
        )
        self._differentiated = (
            self._updates
            if updated or _is_forward_only(function)
            else [self._of_type(type_) for type_ in types.outputs.data]
        )
        """For each result the arguments that it may be an update or the gradient of."""
        self._trained = [0] * count
        """For each result the parameters that it is an update or the gradient of."""
        self._depends = self._dependences()
        self._is_made = self._are_computed()
        self._made_of = self._classified()
        self._parameters = union(self._trained)
        self._optimizer_state = 0
        for result, mask in enumerate(self._updates):
            made_of = self._made_of[flow.returned(result)]
            if made_of and not made_of & _DATA:
                self._optimizer_state |= mask & ~self._parameters

    def of_arguments(self) -> dict[int, Role]:
        """Return the roles of the arguments that are parameters or optimizer state."""
        return {
            index: role
            for role, mask in (
                (Role.PARAMETERS, self._parameters),
                (Role.OPTIMIZER_STATE, self._optimizer_state),
            )
            for index in bits(mask)
        }

    def all_of(self, op: Operation) -> tuple[Role, ...]:
        """Return what a collective of several tensors sends, of most bytes first."""
        return tuple(dict.fromkeys(self.of(op, which) for which in _sent(op)))

    def of(self, op: Operation, which: int | None = None) -> Role:
        """Return the role of a tensor that a collective sends, by number; of the largest by default."""
        which = _sent(op)[0] if which is None else which
        flow, at = self._flow, self._number(op, which)
        if at is None:
            return Role.ACTIVATIONS
        sources, made_of = flow.sources[at], self._made_of[at]
        if not flow.is_mixed[at] and flow.pieces[at]:
            return self._of_arguments(flow.pieces[at]) or Role.ARGUMENTS
        ends, moved = (
            self._reached(op, which, ends) for ends in (flow.ends, flow.moved_ends)
        )
        whose = sources | self._depends[at]
        if not made_of and (known := self._of_arguments(whose)):
            return known
        if not made_of or made_of & _DATA:
            used = any(
                flow.is_used[flow.number[result]]
                for result in op.results[which : which + 1]
            )
            is_result = ends and (flow.is_scalar[at] or not used)
            if is_result:
                return Role.RESULTS
            is_argument = not made_of and whose.bit_count() == 1
            return Role.ARGUMENTS if is_argument else Role.ACTIVATIONS
        if made_of & _GRADIENT and not sources:
            return Role.GRADIENTS
        trained = sum(1 << result for result, mask in enumerate(self._trained) if mask)
        if moved:
            whose = sum(
                1 << self._before[piece]
                for piece in bits(moved)
                if piece in self._before
            )
            known = self._of_arguments(whose)
            return known or (
                Role.PARAMETERS if moved & trained else Role.OPTIMIZER_STATE
            )
        if ends and not ends & ~trained:
            is_new = sources & self._parameters
            return Role.PARAMETERS if is_new else Role.UPDATES
        if sources & self._parameters:
            return Role.GRADIENTS  # with a decay of weights
        kept = union(self._updates[result] for result in bits(ends))
        is_state = kept & self._optimizer_state
        return Role.OPTIMIZER_STATE if is_state else Role.GRADIENT_STATISTICS

    def is_argument(self, op: Operation) -> bool:
        """Whether a collective sends what the caller gave, and nothing computed of data."""
        at = self._number(op, _sent(op)[0])
        return at is not None and not self._made_of[at]

    def arguments(self, op: Operation, which: int | None = None) -> list[BlockArgument]:
        """The arguments that a collective is there for, the nearest that there are.

        Of one of its tensors, by its number, or of all.

        What it sends pieces of; else the parameters whose gradients or new values it
        sends; else what the op before it reads, or the ops behind it.
        """
        sent = _sent(op) if which is None else [which]
        masks = (self._arguments_of(op, at) for at in sent)
        return [self._arguments[index] for index in bits(union(masks))]

    def _arguments_of(self, op: Operation, which: int) -> int:
        flow, at = self._flow, self._number(op, which)
        if at is None:
            return 0
        mask = 0 if flow.is_mixed[at] else flow.pieces[at]
        if not mask:
            match self.of(op, which):
                case Role.PARAMETERS | Role.GRADIENTS | Role.UPDATES:
                    ends = bits(self._reached(op, which, flow.ends))
                    mask = union(self._trained[end] for end in ends)
                    mask = mask or flow.sources[at] & self._parameters
                case Role.OPTIMIZER_STATE:
                    mask = flow.sources[at] & self._optimizer_state
                case _:
                    pass
        while (before := flow.moved_from[at]) is not None:
            at = before
        mask = mask or self._read(flow.makers[at])
        if not mask:
            results = op.results[which : which + 1]
            users = (use.operation for result in results for use in result.uses)
            mask = union(map(self._read, users))
        return mask

    def _read(self, op: Operation | None) -> int:
        """The arguments that operands of an op are pieces of."""
        flow = self._flow
        known = (flow.number.get(value) for value in op.operands) if op else ()
        return union(
            flow.pieces[at] for at in known if at is not None and not flow.is_mixed[at]
        )

    def _number(self, op: Operation, which: int) -> int | None:
        """Return the number of a tensor that is sent; None in regions too deep to follow."""
        number = self._flow.number
        if any(result not in number for result in op.results):
            return None
        return number.get(op.operands[which])

    def _reached(self, op: Operation, which: int, ends: list[int]) -> int:
        results = op.results[which : which + 1]
        return union(ends[self._flow.number[result]] for result in results)

    def _of_arguments(self, mask: int) -> Role | None:
        """The role of what is made of arguments of the state alone; None of others."""
        if not mask or mask & ~(self._parameters | self._optimizer_state):
            return None
        return Role.PARAMETERS if mask & self._parameters else Role.OPTIMIZER_STATE

    def _of_type(self, type_: Attribute) -> int:
        """The arguments of a type; none of a scalar's, which is no sign of anything."""
        return sum(
            1 << argument.index
            for argument in self._arguments
            if argument.type == type_ and shape_of(argument)
        )

    # What depends on what, in one iteration of every loop

    def _dependences(self) -> list[int]:
        """The arguments that values depend on through more than moves and work."""
        flow = self._flow
        depends = [0] * len(flow.makers)
        for source, target, kind in flow.edges:
            if kind > Flow.WORKED:
                depends[target] |= flow.first_sources[source]
            # a norm or a loss depends on everything, which says nothing
            if kind <= Flow.WORKED or not flow.is_scalar[source]:
                depends[target] |= depends[source]
        return depends

    def _are_computed(self) -> list[bool]:
        """Return which values are more than arguments, moved and worked on."""
        is_made = [False] * len(self._flow.makers)
        for source, target, kind in self._flow.edges:
            is_made[target] |= kind is Flow.MADE or is_made[source]
        return is_made

    def _classified(self) -> list[int]:
        """Return the roots that each value is made of; note what each result trains."""
        flow = self._flow
        roots, trained, is_gradient = self._roots()
        if is_gradient:
            self._trained = trained
        else:
            is_gradient = [False] * len(flow.makers)
            roots = dict.fromkeys(roots, _DATA)
        made_of = [roots.get(at, 0) for at in range(len(flow.makers))]
        changed = True
        while changed:
            changed = False
            for source, target, kind in (*flow.back_edges, *flow.edges):
                scalar = flow.is_scalar[source]
                if kind <= Flow.WORKED or (kind is Flow.SPREAD and not scalar):
                    known = made_of[target] | made_of[source]
                    if is_gradient[target]:
                        known &= ~_DATA
                    changed |= known != made_of[target]
                    made_of[target] = known
            changed &= bool(flow.back_edges)
        return made_of

    def _roots(self) -> tuple[dict[int, int], list[int], list[bool]]:
        """Return the roots of the values that belong to no operand.

        Returns:
            The roots; for each result what it trains; for each value whether it is a
            gradient, empty if nothing is differentiated.
        """
        flow = self._flow
        factors = self._factors()
        data = [bool(mask & self._data) for mask in flow.first_sources]
        after = [False] * len(data)
        roots: dict[int, int] = {}
        trained = [0] * len(self._trained)
        used = 0  # with the batch, so far
        is_gradient = [False] * len(data)
        is_differentiated = False
        for source, target, kind in flow.edges:
            data[target] |= data[source]
            after[target] |= after[source]
            if kind <= Flow.WORKED and is_gradient[source] and flow.ends[target]:
                is_gradient[target] = (
                    True  # by the chain rule, whatever it is scaled by
                )
            if is_gradient[target]:
                data[target] = False
            if kind is not Flow.MADE:
                continue
            if after[target] and not data[target]:
                roots[target] = _OPTIMIZER
                continue
            # the gradient of a last bias depends on constants alone
            depends = used
            if data[target]:
                roots[target] = _DATA
                depends = self._depends[target]
                used |= depends
            shared = self._shared_factors(target, factors)
            for result in bits(flow.ends[target]):
                mask = self._differentiated[result] & (depends | shared)
                if mask:
                    trained[result] |= mask
                    is_differentiated |= bool(mask & shared)
                    roots[target] = _GRADIENT
                    is_gradient[target] = after[target] = True
                    data[target] = False
        return roots, trained, is_gradient if is_differentiated else []

    def _factors(self) -> dict[int, int]:
        """For a class of values the arguments that are multiplied with, or looked up by it."""
        flow = self._flow
        factors: dict[int, int] = {}
        for op in flow.makers:
            if isinstance(op, _PRODUCTS):
                first, second = (flow.number[value] for value in op.operands[:2])
                for mine, factor in ((first, second), (second, first)):
                    alike = flow.likeness[factor]
                    factors[alike] = factors.get(alike, 0) | self._alone(mine)
        return factors

    def _shared_factors(self, at: int, factors: dict[int, int]) -> int:
        """The arguments that are multiplied with what a value is a product with, too."""
        flow = self._flow
        op = flow.makers[at]
        operands = [flow.number[value] for value in op.operands] if op else []
        mine = union(self._alone(operand) for operand in operands)
        return ~mine & union(
            factors.get(flow.likeness[operand], 0) for operand in operands
        )

    def _alone(self, at: int) -> int:
        """The arguments that a value is computed from, if from nothing else."""
        return (
            0 if self._is_made[at] else self._flow.sources[at] | self._flow.pieces[at]
        )


def _sent(op: Operation) -> list[int]:
    """Return which operands a collective sends, the largest first; the first of a call."""
    sent = range(max(1, min(len(op.operands), len(op.results))))
    return sorted(sent, key=lambda at: -value_bytes(op.operands[at]))


def _is_forward_only(function: FuncOp) -> bool:
    """Return whether JAX's name stacks are known and none is of a transposed op.

    A forward pass may look like differentiation: what a mixture of experts sends out by
    a mask it brings back by the same mask, in the type of its argument.
    """
    is_known = False
    for name in names_in(op.location for op in all_ops(function)):
        if "transpose(" in name:
            return False
        is_known |= "/" in name
    return is_known


def collective_roles(module: ModuleOp) -> list[tuple[Operation, Roles]]:
    """The collectives of a program in order, each with the roles in its function."""
    known: dict[Operation, Roles] = {}
    pairs: list[tuple[Operation, Roles]] = []
    for op in collective_ops(module):
        function = enclosing(op, FuncOp)
        assert function is not None, "ops that run are in a function"
        if function not in known:
            known[function] = Roles(function)
        pairs.append((op, known[function]))
    return pairs
