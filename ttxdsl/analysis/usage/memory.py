"""The memory that a program needs, op by op: an upper bound, or with what XLA fuses.

With fusion, fused values are no buffers (`ttxdsl.analysis.usage.buffers.fusion`), arguments and
outputs are there throughout, and an output of a donated argument takes its place. Without,
every value that an op makes is a buffer. What the figures stand on:

- a buffer is there from the op that makes it to the op that uses it last, both
  included: operands and results of an op are there together;
- arguments are there throughout, since they belong to the caller, who may use them
  again. An argument that the caller gave away (`tf.aliasing_output` or
  `jax.buffer_donor`, JAX's `donate_argnums`) is free after its last use;
- results are there until the end;
- constants with different elements are data of the program and there throughout; one
  value repeated is made where it is written, like any other value;
- ops that only say something else of the same bytes make no buffer: reshapes, bit
  casts, optimization barriers, tuples, sharding constraints. A tuple keeps all of its
  elements;
- a region that runs as a program (loops, branches, calls, manual computations) adds its
  own peak; its arguments are the operands' buffers. A loop takes over the buffers that
  nobody else needs afterwards. A function of elements (a reduction's body, a sort's
  comparator) adds nothing;
- elements take whole bytes from eight bits up and a boolean takes one; smaller integers
  and floats are packed. Padding and temporary space inside a kernel are not counted.

The program of one device is the body of its manual computation, or of several one after
the other (a value that they split differently counts with its larger shard); a program
that is not partitioned is counted as it stands, with global shapes.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from xdsl.dialects.builtin import ModuleOp, NameLoc, TensorType, TupleType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ttxdsl.analysis.attribution.pytree_names import leaf_name
from ttxdsl.analysis.calls.call_graph import CALLING
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.libraries.library_fusion import LibraryFusion
from ttxdsl.analysis.usage.buffers.allocation import (
    NOTHING,
    Allocation,
    BufferStep,
    Kind,
    Peak,
    Scope,
    bytes_in_gaps,
    own_outputs,
    peak_of,
    sweep,
    without_values_on_core,
)
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.host import host_values, placement
from ttxdsl.analysis.usage.buffers.layouts import (
    Layouts,
    read_joined,
    rows_read,
    shares_bytes,
    writes_part,
    written_in_place,
)
from ttxdsl.analysis.usage.buffers.narrow import converted_arguments, keeps_operand
from ttxdsl.analysis.usage.buffers.order import (
    begin_windows,
    gradients_last,
    hold_peeled,
    on_demand,
    repeated_gathers,
    repeating_loop,
    scheduled,
)
from ttxdsl.analysis.usage.buffers.rearranged import rearranged
from ttxdsl.analysis.values.entry import (
    PROGRAMS,
    donated_arguments,
    is_partitioned,
    is_returned,
    local_type,
    on_device,
)
from ttxdsl.analysis.values.intervals import is_splat
from ttxdsl.costs.compilers import Compiler
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError, source_position
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo.types import FutureType, TokenType
from ttxdsl.ir.tensors import (
    Tensor,
    element_of,
    is_tensor,
    shape_of,
    tensor_bytes,
    tiled_bytes,
)

_CONSTANTS = (stablehlo.ConstantOp, sdy.ConstantOp)


@dataclass(frozen=True, slots=True)
class LiveValue:
    """A buffer at one point: what it is called, its type, and what it takes.

    `name` is what the source calls an argument, else the op that makes the value;
    `type` is what a device has, `value` an argument of the function or an op's result.
    """

    value: SSAValue
    name: str
    type: str
    bytes: int
    kind: Kind
    position: str | None


@dataclass(frozen=True, slots=True)
class MemoryPoint:
    """The memory that one op of the entry computation needs.

    `bytes` counts all that is there while it runs, `inside` what a region or a callee
    of it adds to that at its peak.
    """

    op: Operation
    bytes: int
    inside: int

    @property
    def position(self) -> str | None:
        """The position of the op in the source."""
        return source_position(self.op.location)


class MemoryParts(NamedTuple):
    """The bytes of a device by what they are for, as XLA's `memory_analysis()` has them.

    `aliased` bytes are both: arguments that were donated, and the outputs that take
    their place. `temporary` is what is neither an argument nor an output.
    """

    arguments: int
    outputs: int
    aliased: int
    temporary: int

    @property
    def total(self) -> int:
        """All of them, what is aliased once."""
        return self.arguments + self.outputs - self.aliased + self.temporary

    def data(self) -> dict[str, int]:
        """Return the parts and the total by name."""
        return self._asdict() | {"total": self.total}


@dataclass(frozen=True, slots=True)
class MemoryProfile(Displayed):
    """The bytes that are there at each op of the entry computation, in program order.

    `peak` is the index of the first point with `peak_bytes`; `peak_values` are the
    buffers there, largest first, those inside a region too, and `peak_position` is of the
    op that runs there, inside of loops. The other figures are
    parts of the whole: `donated_bytes` is contained in `argument_bytes`, `aliased_bytes`
    are of donated arguments that an equally large result may replace, a result that is
    an argument counts as both.
    """

    points: tuple[MemoryPoint, ...]
    peak: int
    peak_bytes: int
    peak_values: tuple[LiveValue, ...]
    peak_position: str | None
    argument_bytes: int
    donated_bytes: int
    aliased_bytes: int
    constant_bytes: int
    result_bytes: int

    @property
    def parts(self) -> MemoryParts:
        """The bytes by purpose; `temporary` at the peak, constants among it."""
        kinds: tuple[Kind, ...] = ("value", "constant")
        temporary = sum(
            buffer.bytes for buffer in self.peak_values if buffer.kind in kinds
        )
        return MemoryParts(
            self.argument_bytes, self.result_bytes, self.aliased_bytes, temporary
        )


def type_bytes(value_type: Attribute, where: Operation | SSAValue) -> int:
    """Return the bytes of a value of this type, a tuple's elements together.

    Raises:
        CompileError: a shape that is not known, or a type without a size.
    """
    match value_type:
        case TensorType():
            shape = value_type.get_shape()
            if any(size < 0 for size in shape):
                raise CompileError(
                    f"the memory of {value_type} is not known: its shape is not static",
                    where,
                    hint="export the program with static shapes",
                )
            return tensor_bytes(shape, value_type.element_type)
        case TokenType():
            return 0
        case TupleType() | FutureType():
            return sum(type_bytes(part, where) for part in value_type.types)
        case _:
            raise UnsupportedError(
                f"the memory of a value of type {value_type} is not known",
                where,
                hint="memory is counted of StableHLO programs, global or per device",
            )


class _Counter:
    """Counts one module; functions that are called several times once."""

    def __init__(
        self,
        module: ModuleOp,
        fusion: Fusion | None,
        offloaded: Collection[SSAValue],
    ):
        self.functions = {
            op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)
        }
        self.fusion = fusion
        compiler = fusion.compiler if fusion else Compiler("none")
        self.tile = compiler.tile
        self.orders = compiler.orders_arguments
        self.converts = compiler.converts_before_loops
        self.layouts = Layouts(module, compiler, fusion and fusion.windows)
        self.offloaded = offloaded
        self.room = compiler.core_bytes
        self.buffers_of: dict[SSAValue, tuple[Allocation, ...]] = {}
        self.program_data: list[Allocation] = []
        self.callees: dict[str, Peak] = {}
        self.converted: dict[SSAValue, Allocation] = {}
        self.in_rows: dict[SSAValue, Allocation] = {}
        self.repeated: defaultdict[Operation, list[Operation]] = defaultdict(list)
        """For a loop, the ops ahead of it whose results each of its iterations makes anew."""
        self.gathered_again: dict[Operation, list[SSAValue]] = {}
        """For an op, the values that are gathered anew for it."""

    def size(
        self,
        value_type: Attribute,
        where: Operation | SSAValue,
        laid_out: SSAValue | None = None,
    ) -> int:
        """Return the bytes of a value of a type, in whole tiles, laid out as a value is."""
        size = type_bytes(value_type, where)
        if self.tile is None or not size or not isinstance(value_type, TensorType):
            return size
        tensor = cast(Tensor, value_type)
        element, shape = tensor.element_type, tensor.get_shape()
        if laid_out is None:
            return tiled_bytes(shape, element, self.tile)
        return self.layouts.stored_bytes(laid_out, element, self.tile)

    def device_order(self, ops: Iterable[Operation]) -> Sequence[Operation]:
        """Return the ops of a device's program in the order in which they run."""
        if isinstance(self.fusion, LibraryFusion):
            return self.fusion.in_order(list(ops))
        return self._noted(scheduled(self._without_repeated(ops), self.fusion))

    def _noted(self, ops: Sequence[Operation]) -> Sequence[Operation]:
        """Return the ops of a block as they are; notes what is gathered anew among them."""
        if self.fusion is None:
            return ops
        ops = rearranged(ops, self.fusion)
        if (far := self.fusion.compiler.gathers_again_beyond) is not None:
            self.gathered_again |= repeated_gathers(ops, far)
        return ops

    def _without_repeated(self, ops: Iterable[Operation]) -> list[Operation]:
        """Return the ops of a block without those that a loop repeats, which are noted."""
        kept: list[Operation] = []
        for op in ops:
            loop = repeating_loop(op) if self.fusion else None
            (kept if loop is None else self.repeated[loop]).append(op)
        return kept

    def steps(
        self, ops: Iterable[Operation], scope: Scope
    ) -> tuple[list[BufferStep], set[Allocation]]:
        """Return the buffers that ops make and end, and those used from outside."""
        steps: list[BufferStep] = []
        captured: set[Allocation] = set()
        for index, op in enumerate(ops):
            copies = self._copied_arguments(op, scope, index)
            for value in self.gathered_again.get(op, ()):
                copies += self._renewed(value, scope, index)
            copies += self._converted_arguments(op, scope, index)
            peaks, used = self._inside(op)
            if not (self.fusion and self.fusion.is_fused(op)):  # else its readers read
                for operand in op.operands:
                    used.update(self._shared(op, operand))
            for buffer in used:
                if buffer.scope is scope:
                    buffer.last = index
                else:
                    captured.add(buffer)
            buffers = [*copies, *self._make(op, scope, index)]
            if self.fusion:
                needed = [*self.fusion.beside(op), *self.layouts.scattered_types(op)]
                peaks += [self._scratch(op, needed)] if needed else []
            inside = max(peaks, key=lambda peak: peak.bytes, default=NOTHING)
            programs = [peak.steps for peak in peaks]
            exclusive = _makes_results_inside(op)
            steps.append(BufferStep(op, buffers, inside, programs, exclusive))
        for index, step in enumerate(steps):
            if self.fusion or isinstance(step.op, stablehlo.WhileOp):
                self._take_over(step, index, scope)
        if self.fusion:
            begin_windows(steps, self.fusion.windows)
            if self.fusion.compiler.peels_iterations and not self.fusion.saves_memory:
                hold_peeled(steps)
        return steps, captured

    def _copied_arguments(
        self, op: Operation, scope: Scope, index: int
    ) -> list[Allocation]:
        """Return copies of arguments as readers from here on want them: all, gathers, updates."""
        copies: list[Allocation] = []
        for turned in self.layouts.turned_first(op):
            buffers = self.buffers_of[turned]
            copies += [buffer.copied(scope, index) for buffer in buffers]
            self.buffers_of[turned] = (*buffers, *copies[-len(buffers) :])
        read = op.operands if self.fusion else ()
        for operand in (v for o in read for v in self.layouts.copied_with(o, op)):
            buffers = self.buffers_of.get(operand, ())
            if not isinstance(operand, BlockArgument) or operand in self.offloaded:
                continue
            if [b.kind for b in buffers] != ["argument"] or not is_tensor(operand):
                continue
            size = self.size(operand.type, operand, operand)
            rows = rows_read(op, operand, self.tile) if self.orders else 0
            if rows and operand in self.in_rows:
                self.in_rows[operand].last = index
            elif size > buffers[0].bytes or rows:
                new = (operand, operand.type, max(size, rows), "value", scope, index)
                copies.append(Allocation(*new))
                if size > buffers[0].bytes:
                    self.buffers_of[operand] = (copies[-1],)
                else:
                    self.in_rows[operand] = copies[-1]
        return copies

    def _converted_arguments(
        self, op: Operation, scope: Scope, index: int
    ) -> list[Allocation]:
        """Return copies of arguments as the type to which loops convert slices of them."""
        copies: list[Allocation] = []
        for value, element in converted_arguments(op) if self.converts else ():
            if value not in self.converted:
                kind = TensorType(element, shape_of(value))
                new = (value, kind, self.size(kind, op, value), "value", scope, index)
                copies.append(Allocation(*new))
                self.converted[value] = copies[-1]
            self.converted[value].last = index
        return copies

    def _renewed(self, value: SSAValue, scope: Scope, index: int) -> list[Allocation]:
        """Return the buffer of a value that is made again; all read that one from here on."""
        buffers = self.buffers_of.get(value, ())
        if len(buffers) != 1 or buffers[0].value is not value:
            return []
        (old,) = buffers
        new = old.copied(scope, index)
        pending = [value]
        while pending:
            shared = pending.pop()
            held = self.buffers_of[shared]
            self.buffers_of[shared] = tuple(new if b is old else b for b in held)
            results = (
                result for use in shared.uses for result in use.operation.results
            )
            pending += (v for v in results if old in self.buffers_of.get(v, ()))
        return [new]

    def give_back(self, value: SSAValue) -> None:
        """Note that a value leaves the program."""
        for buffer in self.buffers_of.get(value, ()):
            if buffer.kind == "value":
                buffer.kind = "result"

    def _scratch(self, op: Operation, needed: Sequence[Tensor]) -> Peak:
        """Return the buffers that an op needs while it runs, as the program of one op."""
        result, scope = op.results[0], Scope()
        sizes = [(kind, self.size(kind, op)) for kind in needed]
        buffers = [Allocation(result, *of, "value", scope, 0) for of in sizes]
        return peak_of([BufferStep(op, buffers, NOTHING, [], False)], ())

    def _inside(self, op: Operation) -> tuple[list[Peak], set[Allocation]]:
        """Return the peaks of what runs inside, and the buffers that it reaches for."""
        used: set[Allocation] = set()
        peaks: list[Peak] = []
        for region in op.regions:
            if isinstance(op, PROGRAMS):
                peak, captured = self._region(region)
                peaks.append(peak)
                used |= captured
            else:
                for inner in region.walk():
                    for operand in inner.operands:
                        used.update(self.buffers_of.get(operand, ()))
        name = _callee(op)
        if name is not None and name in self.functions:
            peaks.append(self._function(name))
        return peaks, used

    def _region(self, region: Region) -> tuple[Peak, set[Allocation]]:
        if not region.blocks:
            return NOTHING, set()
        if len(region.blocks) > 1:
            raise UnsupportedError(
                "the memory of a region of several blocks is not known",
                region.parent,
                hint="write loops and branches as stablehlo.while, case and if",
            )
        ops: Sequence[Operation] = list(region.block.ops)
        if isinstance(self.fusion, LibraryFusion):
            return self._peak(self.fusion.in_order(ops))
        if self.fusion and isinstance(loop := region.parent, stablehlo.WhileOp):
            repeated = self.repeated[loop] if region is loop.body else []
            slices = not self.fusion.compiler.windows
            ops = on_demand([*repeated, *self._without_repeated(ops)], slices)
            ops = gradients_last(ops, self.fusion)
        return self._peak(self._noted(ops))

    def _peak(self, ops: Sequence[Operation]) -> tuple[Peak, set[Allocation]]:
        steps, captured = self.steps(ops, Scope())
        return peak_of(without_values_on_core(steps, self.room), ()), captured

    def _function(self, name: str) -> Peak:
        if name not in self.callees:
            function = self.functions[name]
            self.callees[name] = NOTHING  # a recursive call adds nothing to itself
            self.callees[name], _ = self._region(function.body)
        return self.callees[name]

    def _make(self, op: Operation, scope: Scope, index: int) -> list[Allocation]:
        """Return the buffers of an op's results; notes which value is which buffer."""
        shares, of_all = shares_bytes, len(op.results) == 1
        if isinstance(self.fusion, LibraryFusion):
            shares = self.fusion.shares_bytes
            of_all = of_all and not writes_part(op)
        if shares(op) or self._is_inside(op):
            for place, result in enumerate(op.results):
                of = op.operands if of_all else op.operands[place : place + 1]
                shared = [b for o in of for b in self._shared(op, o)]
                self.buffers_of[result] = tuple(dict.fromkeys(shared))
            return []
        kept = self._kept_by_loop(op)
        constant = isinstance(op, _CONSTANTS) and not is_splat(op)
        buffers: list[Allocation] = []
        for result in op.results:
            if (operand := kept.get(result)) is not None:
                self.buffers_of[result] = self.buffers_of.get(operand, ())
                continue
            if result in self.offloaded:
                size = 0
            elif self.fusion and is_tensor(result):
                stored, element = result.type, self.fusion.stored_element(result)
                if element is not element_of(result):
                    stored = TensorType(element, shape_of(result))
                size = self.size(stored, op, result)
            else:
                size = self.size(result.type, op)
            kind: Kind = "constant" if constant else "value"
            buffer = Allocation(result, result.type, size, kind, scope, index, constant)
            if constant:
                self.program_data.append(buffer)
            else:
                self.buffers_of[result] = (buffer,)
                buffers.append(buffer)
        return buffers

    def _shared(self, op: Operation, operand: SSAValue) -> Sequence[Allocation]:
        """Return the buffers that an op without one of its own reads for an operand."""
        buffers = self.buffers_of.get(operand, ())
        if not isinstance(op, stablehlo.ReshapeOp):
            return buffers
        sources = [read_joined(op, buffer.value) for buffer in buffers]
        return [b for source in sources for b in self.buffers_of.get(source, ())]

    def _kept_by_loop(self, op: Operation) -> dict[SSAValue, SSAValue]:
        """The results of a loop that its body leaves as they are, each with its operand."""
        if self.fusion is None or not isinstance(op, stablehlo.WhileOp):
            return {}
        return {
            result: op.operands[index]
            for index, result in enumerate(op.results)
            if keeps_operand(op, index)
        }

    def _is_inside(self, op: Operation) -> bool:
        """Whether results are no buffers of their own: fused, or a part of a loop's state."""
        if self.fusion is None:
            return False
        if placement(op) is not None and op.operands[0] not in self.offloaded:
            return True  # it is there already
        if self.fusion.is_fused(op) or self.fusion.is_streamed(op):
            return True
        return writes_part(op) and not self.buffers_of.get(op.operands[0])

    def _take_over(self, step: BufferStep, index: int, scope: Scope) -> None:
        """Results move into operands' buffers that end with the op."""
        taken: set[Allocation] = set()
        buffers = {buffer.value: buffer for buffer in step.buffers}
        in_place = self.fusion.written_in_place if self.fusion else written_in_place
        for operand, result in in_place(step.op):
            if (state := buffers.get(result)) is None:
                continue
            if _is_carried(operand, result):  # its buffer is around the loop
                step.buffers.remove(state)
                del buffers[result]
                self.buffers_of[result] = self.buffers_of.get(operand, ())
                continue
            for old in self.buffers_of.get(operand, ()):
                ends = old.last == index and not old.pinned and old not in taken
                if self.fusion and old.kind == "value" and is_returned(step.op, result):
                    state.over.append(old)  # an output has a place apart
                    continue
                if ends and old.scope is scope and old.bytes == state.bytes:
                    taken.add(old)
                    step.buffers.remove(state)
                    del buffers[result]
                    old.last = max(state.last, index)  # it is the state's from here on
                    self.buffers_of[result] = (old,)
                    break


def _is_carried(value: SSAValue, result: SSAValue) -> bool:
    if not isinstance(value, BlockArgument) or result.type != value.type:
        return False
    loop = value.owner.parent_op()
    return isinstance(loop, stablehlo.WhileOp) and not keeps_operand(loop, value.index)


def _makes_results_inside(op: Operation) -> bool:
    if not (op.regions or CALLING[type(op)]):
        return False
    if isinstance(op, stablehlo.WhileOp):
        return False
    return isinstance(op, PROGRAMS) or _callee(op) is not None


def _callee(op: Operation) -> str | None:
    if isinstance(op, CallOp):
        return op.callee.string_value()
    is_composite = isinstance(op, stablehlo.CompositeOp)
    return op.decomposition.string_value() if is_composite else None


# What is counted


def _device_ops(block: Block, counter: _Counter) -> Iterable[Operation]:
    """Yield the ops that one device runs; the buffers are made on the way."""
    if not is_partitioned(block):
        yield from counter.device_order(block.ops)
        return
    buffers_of = counter.buffers_of
    for op in block.ops:
        if not isinstance(op, sdy.ManualComputationOp):
            yield op
            continue
        body = op.body.block
        for outer, inner in zip(op.operands, body.args, strict=True):
            buffers_of[inner] = buffers_of.get(outer, ())
            for buffer in buffers_of[inner]:
                if inner not in counter.offloaded:
                    buffer.split_as(inner, counter.size(inner.type, inner))
        *ops, last = body.ops
        yield from counter.device_order(ops)
        for inner, outer in zip(last.operands, op.results, strict=True):
            buffers_of[outer] = buffers_of.get(inner, ())


def argument_name(function: FuncOp, index: int) -> str:
    """Return an argument's name in the source; JAX writes `params['w']` as location."""
    argument = function.body.block.args[index]
    if isinstance(argument.location, NameLoc):
        return leaf_name(argument.location.desc.data)
    return argument.name_hint or f"arg{index}"


def _name(value: SSAValue, function: FuncOp) -> str:
    """Return the name of an argument, or what made a value."""
    if isinstance(value, BlockArgument):
        if value.block is function.body.block:
            return argument_name(function, value.index)
        return value.name_hint or f"arg{value.index}"
    return cast(Operation, value.owner).name.rpartition(".")[2]


def _live_value(buffer: Allocation, function: FuncOp) -> LiveValue:
    value, owner = buffer.value, buffer.value.owner
    return LiveValue(
        value,
        _name(value, function),
        str(buffer.type),
        buffer.bytes,
        buffer.kind,
        None if isinstance(owner, Block) else source_position(owner.location),
    )


def memory_profile(
    module: ModuleOp,
    *,
    compiler: Compiler | None = None,
    fusion: Fusion | None = None,
    offloaded: Collection[SSAValue] = (),
    donated: Collection[int] | None = None,
) -> MemoryProfile:
    """The memory of a StableHLO program, per device or global; see the module's text.

    Takes time linear in the program times the depth of its regions.

    Args:
        module: StableHLO with or without shardings, as any stage leaves it. With global
            shapes (before stage 11) the figures are those of all devices' values.
        compiler: whose fusion (`fusion`, if somebody has it) and heap; None: no fusion.
        offloaded: values of which the device holds nothing.
        donated: the arguments that the caller gives away; None: as the program says.

    Raises:
        CompileError: it is not clear which function is meant, a shape is not static, or
            a type has no known size, as in ttir and ttnn.
    """
    function = entry_function(module)
    if len(function.body.blocks) != 1:
        raise UnsupportedError("the memory of several blocks is not known", function)
    block = function.body.block
    scope = Scope()
    if compiler is not None:
        fusion = fusion or Fusion(compiler)
    counter = _Counter(module, fusion, {*offloaded, *host_values(module)})
    arguments: list[Allocation] = []
    donated = donated_arguments(function) if donated is None else donated
    partitioned = is_partitioned(block)
    for index, argument in enumerate(block.args):
        local = local_type(argument, partitioned)
        size = 0 if argument in counter.offloaded else counter.size(local, argument)
        pinned = index not in donated
        buffer = Allocation(argument, local, size, "argument", scope, 0, pinned)
        counter.buffers_of[argument] = (buffer,)
        arguments.append(buffer)
    steps, _ = counter.steps(_device_ops(block, counter), scope)
    last = block.last_op
    results = [] if last is None else [on_device(value) for value in last.operands]
    for value in results:
        counter.give_back(value)
    returned = dict.fromkeys(b for v in results for b in counter.buffers_of.get(v, ()))
    result_bytes = [
        sum(b.bytes for b in counter.buffers_of.get(value, ())) for value in results
    ]
    all_results = sum(b.bytes for b in returned)
    given_away = [0 if b.pinned else b.bytes for b in arguments]
    there = [*arguments, *counter.program_data]
    if compiler is not None:
        there += own_outputs(
            *(without_values_on_core(steps, counter.room), arguments, returned),
            lends=compiler.calls_libraries,
        )
    bytes_at, best = sweep(steps, there)
    assert best is not None, "a function returns"
    points = tuple(
        MemoryPoint(step.op, count, step.inside.bytes)
        for step, count in zip(steps, bytes_at, strict=True)
    )
    peak_bytes = bytes_at[best]
    if compiler and compiler.places_in_order and not (fusion and fusion.saves_memory):
        peak_bytes += bytes_in_gaps(steps, there, peak_bytes)
    largest = peak_of(steps, there)
    values = [_live_value(buffer, function) for buffer in largest.buffers]
    values.sort(key=lambda value: -value.bytes)
    return MemoryProfile(
        points=points,
        peak=best,
        peak_bytes=peak_bytes,
        peak_values=tuple(values),
        peak_position=source_position(largest.op.location) if largest.op else None,
        argument_bytes=sum(b.bytes for b in arguments),
        donated_bytes=sum(given_away),
        aliased_bytes=sum((Counter(given_away) & Counter(result_bytes)).elements()),
        constant_bytes=sum(b.bytes for b in counter.program_data),
        result_bytes=all_results,
    )
