"""`shard_map` as custom calls around what each device does, as one op of sdy's.

    %l = stablehlo.custom_call @SPMDFullToShardShape(%a) : (tensor<8xf32>) -> tensor<4xf32>
    %r = call @body(%l)
    %o = stablehlo.custom_call @SPMDShardToFullShape(%r)

Calls that *enter* take global tensors apart, calls that *leave* put them together.
What lies between them, found by following values, is the body of a manual computation.
XLA's import of Shardy has one call for all operands of a computation, GSPMD one for each.

Source: XLA's `SdyRoundTripShardMapImportPass`; JAX's lowering of `shard_map` for GSPMD.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.traversal import all_ops, ops_of_type
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.frontends.frontend_attributes import (
    IN_SHARDINGS,
    MANUAL_AXES,
    OUT_SHARDINGS,
    Carried,
)
from ttxdsl.transforms.frontends.signs import ENTERING, LEAVING, target_of

BODY = "manual_computation_body"
"""In the names of functions that Shardy's manual computations became in HLO."""


@dataclass(frozen=True, slots=True)
class CallBorder:
    """The shardings of one call that enters or leaves a manual computation.

    Attributes:
        shardings: of its global tensors.
        manual: the manual axes of the computation; None if it does not say.
    """

    shardings: tuple[TensorSharding, ...]
    manual: tuple[str, ...] | None


def border_of_shardy(op: Operation, carried: Carried) -> CallBorder:
    """Return the border in the frontend attributes of XLA's call for Shardy.

    Raises:
        CompileError: they are not there.
    """
    key = IN_SHARDINGS if target_of(op) in ENTERING else OUT_SHARDINGS
    attributes = carried.get(op, {})
    if key not in attributes:
        # older texts say it on the call between them
        values = op.results if key == IN_SHARDINGS else op.operands
        calls = [use.operation for value in op.results for use in value.uses]
        calls += [value.owner for value in values if isinstance(value.owner, Operation)]
        for call in calls:
            if key in carried.get(call, {}):
                attributes = carried[call]
    shardings, axes = attributes.get(key), attributes.get(MANUAL_AXES)
    if not isinstance(shardings, sdy.TensorShardingPerValueAttr):
        raise CompileError(f"it does not say {key}", op)
    manual = axes.data if isinstance(axes, sdy.ManualAxesAttr) else None
    return CallBorder(shardings.data, manual)


@dataclass(eq=False)
class _Computation:
    """The ops between calls that enter and leave, in program order."""

    body: list[Operation] = field(default_factory=list[Operation])
    leaving: list[Operation] = field(default_factory=list[Operation])


def _values_used(op: Operation) -> Iterator[SSAValue]:
    """The operands of an op and of what is inside it."""
    for inner in all_ops(op) if op.regions else (op,):
        yield from inner.operands


def _is_body_call(op: Operation) -> bool:
    return isinstance(op, CallOp) and BODY in op.callee.string_value()


def _computations(block: Block) -> list[_Computation]:
    """Return the computations of a block, by the values that their ops share."""
    of: dict[Operation, _Computation] = {}
    computations: dict[_Computation, None] = {}
    for op in list(block.ops):
        target = target_of(op)
        if target in ENTERING:
            continue
        owners = [v.owner for v in _values_used(op) if isinstance(v.owner, Operation)]
        within = dict.fromkeys(of[owner] for owner in owners if owner in of)
        local = any(target_of(owner) in ENTERING for owner in owners)
        if not (within or local or target in LEAVING or _is_body_call(op)):
            continue
        if op is block.last_op:
            raise CompileError(
                "it takes what each device has out of a computation, and no call makes it "
                "global",
                op,
            )
        computation = next(iter(within), None) or _Computation()
        computations[computation] = None
        for other in within:
            if other is not computation:
                computation.body += other.body
                computation.leaving += other.leaving
                of.update(dict.fromkeys(other.body, computation))
                del computations[other]
        if target in LEAVING:
            computation.leaving.append(op)
            # a body without arguments
            before = [o for o in owners if isinstance(o, CallOp) and not o.operands]
            for owner in before:
                if owner not in of:
                    computation.body.append(owner)
                    of[owner] = computation
        else:
            computation.body.append(op)
            of[op] = computation
    order = {op: index for index, op in enumerate(block.ops)}
    for computation in computations:
        computation.body.sort(key=order.__getitem__)
        computation.leaving.sort(key=order.__getitem__)
    return list(computations)


def import_manual_computations(
    module: ModuleOp, border_of: dict[Operation, CallBorder]
) -> None:
    """Replace the ops between calls that enter and leave by `sdy.manual_computation`s.

    Args:
        module: changed in place.
        border_of: what the calls that enter and leave say.

    Raises:
        CompileError: something is global and local, or cannot be put in one place.
    """
    calls = [
        op
        for op in ops_of_type(module, stablehlo.CustomCallOp, CallOp)
        if op in border_of or _is_body_call(op)
    ]
    for block in dict.fromkeys(op.parent for op in calls):
        assert block is not None
        for computation in _computations(block):
            _build(block, computation, border_of)
    for op in reversed(calls):
        if op.parent is not None and target_of(op) in ENTERING:
            _erase_unused(op)


def _erase_unused(op: Operation) -> None:
    if any(result.first_use for result in op.results):
        raise CompileError("its result is used outside of any computation", op)
    Rewriter.erase_op(op)


class _Body:
    """The body of a manual computation, being filled."""

    def __init__(self) -> None:
        self.block = Block()
        self.tensors: list[SSAValue] = []
        self.shardings: list[TensorSharding] = []
        self.local: dict[SSAValue, SSAValue] = {}

    def enter(
        self, value: SSAValue, tensor: SSAValue, sharding: TensorSharding
    ) -> None:
        """Make an argument of a value that a call enters with."""
        if value not in self.local:
            argument = self.block.insert_arg(value.type, len(self.block.args))
            argument.name_hint = value.name_hint
            self.local[value] = argument
            self.tensors.append(tensor)
            self.shardings.append(sharding)

    def copy(self, value: SSAValue, user: Operation) -> None:
        """Compute an outside value again inside, where it is the same on all devices."""
        if value in self.local:
            return
        owner = value.owner
        if (
            not isinstance(owner, Operation)
            or owner.regions
            or not is_side_effect_free(owner)
            or target_of(owner)
        ):
            raise CompileError(
                "it uses a global value where each device has its own", user
            )
        for operand in owner.operands:
            self.copy(operand, user)
        clone = owner.clone({v: self.local[v] for v in owner.operands})
        self.block.add_op(clone)
        self.local.update(zip(owner.results, clone.results, strict=True))


def _build(
    block: Block, computation: _Computation, border_of: dict[Operation, CallBorder]
) -> None:
    """Replace a computation by one op, where its results are needed first."""
    body, leaving = computation.body, computation.leaving
    if not leaving and all(map(is_side_effect_free, body)):
        for op in reversed(body):
            Rewriter.erase_op(op)
        return
    order = {op: index for index, op in enumerate(block.ops)}
    before = min(map(order.__getitem__, leaving), default=len(order) - 1)
    moved = _Body()
    inside = set(body)
    borders: list[CallBorder] = []
    for op in (*body, *leaving):
        for value in op.operands if op in leaving else _values_used(op):
            owner = value.owner
            if isinstance(owner, Operation) and target_of(owner) in ENTERING:
                border, index = border_of[owner], owner.results.index(value)
                borders.append(border)
                moved.enter(value, owner.operands[index], border.shardings[index])
    for op in body:
        for value in _values_used(op):
            owner = value.owner
            outside = isinstance(owner, Operation) and owner.parent is block
            if value in moved.local or owner in inside:
                continue
            if outside or owner is block:
                moved.copy(value, op)
        op.detach()
        moved.block.add_op(op)
    outputs: list[SSAValue] = []
    out_shardings: list[TensorSharding] = []
    for op in leaving:
        border = border_of[op]
        borders.append(border)
        out_shardings += border.shardings
        for value in op.operands:
            if value not in moved.local and value.owner not in inside:
                moved.copy(value, op)
            outputs.append(moved.local.get(value, value))
    moved.block.add_op(sdy.ReturnOp(*outputs))
    for value, local in moved.local.items():
        value.replace_uses_with_if(
            local, lambda use: _is_within(use.operation, moved.block)
        )
    manual = next((b.manual for b in borders if b.manual is not None), None)
    at = leaving[0] if leaving else cast(Operation, block.last_op)
    if manual is None:
        raise CompileError("nobody says its manual axes", at)
    for tensor in moved.tensors:
        owner = tensor.owner
        if isinstance(owner, Operation) and order.get(owner, -1) > before:
            raise CompileError(
                "a computation of each device needs this behind its first result", owner
            )
    types = [result.type for op in leaving for result in op.results]
    op = sdy.ManualComputationOp(
        moved.tensors,
        moved.shardings,
        out_shardings,
        manual,
        Region(moved.block),
        types,
    )
    op.location = (leaving or body)[0].location
    Rewriter.insert_op(op, InsertPoint.before(at))
    old_results = [result for leaving_op in leaving for result in leaving_op.results]
    for old, new in zip(old_results, op.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for leaving_op in leaving:
        Rewriter.erase_op(leaving_op)


def _is_within(op: Operation, block: Block) -> bool:
    at = op.parent
    while at is not None and at is not block:
        parent = at.parent_op()
        at = parent.parent if parent is not None else None
    return at is block
