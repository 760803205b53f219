"""A program as a graph: ops with what they use and make, in scopes that can be folded.

It shows what one device runs, after stage 13: every collective that is counted is there,
and no other. How a value is split, and the whole that it is a part of, is known from
before (`wholes.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ttxdsl.analysis.attribution.nodes import TraceNode, Value
from ttxdsl.analysis.attribution.scopes import Scopes
from ttxdsl.analysis.attribution.stacks import MAX_DEPTH, ScopeName, Stacks
from ttxdsl.analysis.attribution.words import Words
from ttxdsl.analysis.boundary import BoundaryValue, arguments_of, results_of
from ttxdsl.analysis.usage.collectives import short_name
from ttxdsl.analysis.usage.memory import argument_name
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.insight.report.trace.layouts import LayoutTable, axis_names
from ttxdsl.insight.report.trace.wholes import Wholes
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.tensors import tensor_bytes
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding

_PROGRAMS = (
    sdy.ManualComputationOp,
    sdy.NamedComputationOp,
    stablehlo.CaseOp,
    stablehlo.IfOp,
    stablehlo.WhileOp,
)
"""Ops whose regions are programs of their own; others' bodies belong to the op."""
_PROGRAM = ScopeName("program")
_ARGUMENTS = ScopeName("arguments")
_MOST_ARGUMENTS = 3
"""Arguments of a region that stand beside its ops; more are a scope of their own."""


@dataclass(slots=True)
class Graph:
    """The nodes in program order, and the scopes; scope 0 is the whole program."""

    nodes: list[TraceNode]
    scopes: Scopes
    operations: list[Operation | None]
    """What the nodes stand for, where that is an op."""


class _Path:
    """The scopes around ops, each known by the one around it."""

    def __init__(self, around: "_Path | None" = None, name: ScopeName = _PROGRAM):
        self.around = around
        self.name = name
        self.number: int | None = None
        """The number of the scope, once it has something in it."""
        self._inner: dict[ScopeName, _Path] = {}

    def child(self, name: ScopeName) -> "_Path":
        """Return the path with one more scope, always the same."""
        if (known := self._inner.get(name)) is None:
            known = self._inner[name] = _Path(self, name)
        return known

    @cached_property
    def scopes(self) -> tuple[ScopeName, ...]:
        """The scopes, from outside."""
        return () if self.around is None else (*self.around.scopes, self.name)

    @cached_property
    def told(self) -> tuple[str, ...]:
        """The names of the outermost scopes, as many as anybody reads."""
        return tuple(scope.name for scope in self.scopes[:MAX_DEPTH])


@dataclass
class GraphBuilder:
    """Reads the entry function of a module."""

    function: FuncOp
    stacks: Stacks
    names: dict[SSAValue, str]
    layouts: LayoutTable
    keys: dict[Operation, int]
    wholes: Wholes
    words: Words
    scopes: Scopes = field(default_factory=Scopes)
    nodes: list[TraceNode] = field(default_factory=list[TraceNode])
    operations: list[Operation | None] = field(default_factory=list[Operation | None])
    sources: dict[SSAValue, tuple[int, int]] = field(
        default_factory=dict[SSAValue, tuple[int, int]]
    )
    _alike: IdentityMemo[Value] = field(default_factory=IdentityMemo[Value])
    """Values by their types and shardings, of which layers share most."""
    _equal: dict[tuple[object, ...], Value] = field(
        default_factory=dict[tuple[object, ...], Value]
    )
    _regions: set[str] = field(default_factory=set[str])
    """The names of the scopes that stand for regions."""

    @cached_property
    def wrapped(self) -> bool:
        """Whether the program is global, so that no sharding means whole."""
        return any(
            isinstance(op, sdy.ManualComputationOp) and not op.manual_axes.data
            for op in self.function.body.block.ops
        )

    def build(self) -> Graph:
        """The graph of the function."""
        block = self.function.body.block
        self._arguments(block)
        self._block(block, _Path(), ())
        self._results(block)
        for node, op in zip(self.nodes, self.operations, strict=True):
            node.key = -1 if op is None else self.keys.get(op, -1)
        self.scopes.settle(self.nodes)
        return Graph(self.nodes, self.scopes, self.operations)

    # --- the boundary -------------------------------------------------------

    def _arguments(self, block: Block) -> None:
        scope = self.scopes.scope((_ARGUMENTS,), "arguments")
        boundaries = arguments_of(self.function)
        for argument, boundary in zip(block.args, boundaries, strict=True):
            value = self._boundary(boundary, self.names.get(argument, boundary.name))
            name = argument_name(self.function, argument.index)
            self._add(TraceNode("argument", "argument", name, scope, [], [value]))
            self.sources[argument] = len(self.nodes) - 1, 0

    def _results(self, block: Block) -> None:
        scope = self.scopes.scope((ScopeName("results"),), "results")
        last = block.last_op
        assert last is not None
        boundaries = results_of(self.function)
        for value, boundary in zip(last.operands, boundaries, strict=True):
            inputs = self._inputs((value,))
            shown = self._boundary(boundary, self.names.get(value, boundary.name))
            self._add(
                TraceNode("result", "result", boundary.name, scope, inputs, [shown])
            )

    def _boundary(self, value: BoundaryValue, name: str) -> Value:
        layout = value.layout
        if layout is None:
            return self._value(name, value.type, None, None)
        return self._value(name, value.type, layout.sharding, layout.mesh)

    # --- ops ----------------------------------------------------------------

    def _block(self, block: Block, path: _Path, manual: tuple[str, ...]) -> None:
        """Add the ops of a block, but for its terminator."""
        for op in block.ops:
            if op is block.last_op and op.next_op is None and _ends(op):
                continue
            if isinstance(op, sdy.ManualComputationOp) and self._only_wraps(op):
                self._through(op, path, manual)
            elif isinstance(op, _PROGRAMS) and op.regions:
                self._program(op, path, manual)
            else:
                self._op(op, path, manual, self._inputs(op.operands))

    def _only_wraps(self, op: sdy.ManualComputationOp) -> bool:
        """Return whether a computation is the program itself, as one device runs it."""
        is_all = op.prev_op is None and op.next_op is self.function.body.block.last_op
        return not op.manual_axes.data or (
            self.wholes.known and is_all and op.parent_op() is self.function
        )

    def _through(
        self,
        op: sdy.ManualComputationOp,
        path: _Path,
        manual: tuple[str, ...],
    ) -> None:
        """A computation that only wraps what is in it."""
        body = op.body.block
        for outer, inner in zip(op.operands, body.args, strict=True):
            if outer in self.sources:
                self.sources[inner] = self.sources[outer]
        self._block(body, path, manual)
        last = body.last_op
        assert last is not None
        for inner, outer in zip(last.operands, op.results, strict=True):
            if inner in self.sources:
                self.sources[outer] = self.sources[inner]

    def _program(self, op: Operation, path: _Path, manual: tuple[str, ...]) -> None:
        """An op with a program inside: a scope for each region, then the op itself.

        A loop is one scope: what it carries is the same in its condition and its body.
        """
        inputs = self._inputs(op.operands)
        name, line = self.words.region(op)
        is_loop = isinstance(op, stablehlo.WhileOp)
        if not line and op.results and not is_loop:
            name = f"{name} {self.names.get(op.results[0], '')}".rstrip()
        inner_manual = manual
        if isinstance(op, sdy.ManualComputationOp):
            inner_manual = (*manual, *op.manual_axes.data)
        outer = self._scopes(op, path)
        for index, region in enumerate(op.regions[-1:] if is_loop else op.regions):
            which = f" {index}" if len(op.regions) > 1 and not is_loop else ""
            number = len(self._regions)
            turns = self.words.iterations(op) if is_loop else 1
            scope = ScopeName(f"{name}{which}", number, line, turns)
            inner = outer.child(scope)
            self._regions.add(scope.name)
            for block in region.blocks:
                self._block_arguments(op, block, inner, inner_manual)
                if is_loop:
                    inputs += self._condition(op.cond.block, block, inner, manual)
                self._block(block, inner, inner_manual)
                if block.last_op is not None:
                    inputs += self._inputs(block.last_op.operands)
        self._op(op, path, manual, inputs)

    def _condition(
        self, condition: Block, body: Block, path: _Path, manual: tuple[str, ...]
    ) -> list[tuple[int, int]]:
        """Add the condition of a loop to the loop's scope; return where its result is."""
        for argument, carried in zip(condition.args, body.args, strict=True):
            self.sources[argument] = self.sources[carried]
        self._block(condition, path, manual)
        assert condition.last_op is not None
        return self._inputs(condition.last_op.operands)

    def _block_arguments(
        self,
        op: Operation,
        block: Block,
        path: _Path,
        manual: tuple[str, ...],
    ) -> None:
        scope = self._number(path, "region")
        if len(block.args) > _MOST_ARGUMENTS:
            scope = self._number(path.child(_ARGUMENTS), "arguments")
        for argument in block.args:
            operands = (
                op.operands[argument.index : argument.index + 1]
                if len(op.operands) == len(block.args)
                else ()
            )
            node = TraceNode(
                "argument",
                "argument",
                self._argument_name(argument),
                scope,
                self._inputs(operands),
                [self._block_argument(op, argument, manual)],
            )
            self._add(node)
            self.sources[argument] = len(self.nodes) - 1, 0

    def _argument_name(self, argument: BlockArgument) -> str:
        words, hint = self.words, argument.name_hint
        if named := words.argument(argument) or words.carried(argument):
            return named
        if isinstance(sdy.owning_op(argument), stablehlo.WhileOp) and (
            hint is None or hint.startswith("iterArg")
        ):
            return f"carry {argument.index}"
        return hint or f"arg{argument.index}"

    def _op(
        self,
        op: Operation,
        path: _Path,
        manual: tuple[str, ...],
        inputs: list[tuple[int, int]],
    ) -> None:
        scopes = self._scopes(op, path)
        scope = self._number(scopes, "scope")
        outputs = [self.result(result, manual) for result in op.results]
        short = short_name(op)
        frames = self.stacks.frames(op)
        node = TraceNode(
            "op", op.name, short, scope, inputs, outputs, frames, scopes.told
        )
        self._add(node, op)
        for result in op.results:
            self.sources[result] = len(self.nodes) - 1, result.index

    def _scopes(self, op: Operation, path: _Path) -> _Path:
        """Return the scopes of an op; of those of its region none stands there twice."""
        own = self.stacks.scopes(op)
        if not own:
            return path
        around = [name for name in path.scopes if name.name not in self._regions]
        shared = 0
        while shared < min(len(own), len(around)) and own[shared] == around[shared]:
            shared += 1
        for name in own[shared:]:
            path = path.child(name)
        return path

    def _number(self, path: _Path, kind: str) -> int:
        """Return the number of a scope, which is made with those around it."""
        missing: list[_Path] = []
        while path.around is not None and (not missing or path.number is None):
            missing.append(path)
            path = path.around
        number = path.number or 0
        for inner in reversed(missing):
            own = kind if inner is missing[0] else "scope"
            number = inner.number = self.scopes.scope((inner.name,), own, number)
        return number

    def _add(self, node: TraceNode, op: Operation | None = None) -> None:
        self.nodes.append(node)
        self.operations.append(op)

    def _inputs(self, values: Sequence[SSAValue]) -> list[tuple[int, int]]:
        return [self.sources[value] for value in values if value in self.sources]

    # --- values -------------------------------------------------------------

    def result(self, value: SSAValue, manual: tuple[str, ...]) -> Value:
        """Read a value in regions that are manual on some axes."""
        name = self.names.get(value, "")
        if (whole := self.wholes.of(value, name)) is not None:
            return whole
        sharding = sdy.get_sharding(value)
        owner = value.owner
        scope = owner.parent_op() if isinstance(owner, Block) else owner
        mesh = None
        if sharding is None and self.wrapped:
            sharding, mesh = self._whole(value)
        elif sharding is not None and scope is not None:
            mesh = sdy.find_mesh(scope, sharding.mesh)
        return self._value(name, value.type, sharding, mesh, manual, _partial(value))

    def _block_argument(
        self, op: Operation, argument: BlockArgument, manual: tuple[str, ...]
    ) -> Value:
        """An argument of a region: of a manual computation it is a part of a tensor."""
        value = self.result(argument, manual)
        if not isinstance(op, sdy.ManualComputationOp):
            return value
        outer = op.operands[argument.index]
        sharding = op.in_shardings.data[argument.index]
        mesh = sdy.find_mesh(op, sharding.mesh)
        whole = self._value(value.name, outer.type, sharding, mesh)
        # how the whole is split, and what the program sees of it
        return whole._replace(type=value.type)

    def _whole(self, value: SSAValue) -> tuple[TensorSharding | None, Mesh | None]:
        """In a program that has been partitioned, no sharding means replicated."""
        module = self.function.parent_op()
        assert isinstance(module, ModuleOp)
        meshes = sdy.mesh_table(module)
        if len(meshes) != 1:
            return None, None
        ((name, mesh),) = meshes.items()
        return TensorSharding.fully_closed(name, sdy.tensor_rank(value.type)), mesh

    def _value(
        self,
        name: str,
        type_: Attribute,
        sharding: TensorSharding | None,
        mesh: Mesh | None,
        manual: tuple[str, ...] = (),
        partial: tuple[str, ...] = (),
    ) -> Value:
        key = id(type_), id(sharding), id(mesh), manual, partial
        known = self._alike.get(key)
        if known is None:
            equal = type_, sharding, mesh, manual, partial
            known = self._equal.get(equal)
            if known is None:
                known = self._equal[equal] = self._new_value(*equal)
            self._alike.keep(key, known, type_, sharding, mesh)
        return known._replace(name=name)

    def _new_value(
        self,
        type_: Attribute,
        sharding: TensorSharding | None,
        mesh: Mesh | None,
        manual: tuple[str, ...],
        partial: tuple[str, ...],
    ) -> Value:
        name, text = "", str(type_)
        if not isinstance(type_, TensorType):
            return Value(name, text, None, None, None, None)
        shape, element = (
            type_.get_shape(),
            cast("TensorType[Attribute]", type_).element_type,
        )
        static = all(size >= 0 for size in shape)
        if sharding is None or mesh is None or sharding.rank != len(shape):
            size = tensor_bytes(shape, element) if static else None
            return Value(name, text, shape, None, None, size, partial)
        local = sharding.local_shape(shape, mesh, pad=True)
        local_text = "x".join((*map(str, local), str(element)))
        size = tensor_bytes(local, element) if static else None
        partial = partial or tuple(axis_names(sharding.unreduced))
        layout = self.layouts.layout(mesh, sharding, manual)
        return Value(name, text, shape, layout, local_text, size, partial)


def _ends(op: Operation) -> bool:
    return not op.results and op.name.rpartition(".")[2] == "return"


def _partial(value: SSAValue) -> tuple[str, ...]:
    """The axes that the only use of a value adds it up along."""
    uses = list(value.uses)
    if len(uses) != 1:
        return ()
    match uses[0].operation:
        case sdy.AllReduceOp() as op:
            axes: Axes = op.reduction_axes.data
        case sdy.ReduceScatterOp() as op:
            axes = tuple(a for dim in op.reduce_scatter_axes.data for a in dim)
        case _:
            return ()
    return tuple(axis_names(axes))
