"""Measuring a program with changes: compiled whole, or propagated and estimated.

Both can be done in another process: edits name values and ops by their numbers there.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.device import DeviceUsage
from ttxdsl.analysis.usage.memory import type_bytes
from ttxdsl.analysis.usage.work import computes, operations, product_numbers
from ttxdsl.costs.compilers import Compiler
from ttxdsl.costs.machines import GENERIC, Machine
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import sdy
from ttxdsl.insight.doctor.prescriptions.candidates.layouts import links_moved
from ttxdsl.insight.plan.variants import Origin
from ttxdsl.insight.plan.xla import used_as_xla
from ttxdsl.insight.why.answers import Figures
from ttxdsl.insight.why.costs import figures_of, usage_with
from ttxdsl.insight.why.names import all_values
from ttxdsl.insight.why.trials.edits import Edit, changed
from ttxdsl.ir.tensors import is_tensor
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.pipeline import PROPAGATION_STAGE, TTStableHLOPipelinePass
from ttxdsl.transforms.shardy.propagation.engine import Propagation
from ttxdsl.transforms.shardy.propagation.graph import PropagationGraph
from ttxdsl.transforms.shardy.propagation.traffic import bits_in_loops
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass


@dataclass(frozen=True, slots=True)
class Meter:
    """The settings that programs are compiled and measured with.

    Attributes:
        compiler: whose fusions time and memory have; without one nothing is fused.
    """

    pipeline: TTStableHLOPipelinePass
    machine: Machine = GENERIC
    trip_count: int | None = None
    compiler: Compiler | None = None

    def figures(self, compiled: ModuleOp | None, whole: ModuleOp) -> Figures:
        """Return the costs of a program, on XLA's chips as XLA partitions it.

        Args:
            compiled: as the stages partition it; None if that is to be done.

        Raises:
            CompileError: it is refused.
        """
        origin = Origin(whole, replace(self.pipeline, verify_each=False))
        return figures_of(
            used_as_xla(self._use, compiled, origin, self.compiler).usage, whole
        )

    def _use(self, compiled: ModuleOp) -> DeviceUsage:
        return usage_with(compiled, self.machine, self.trip_count, self.compiler)

    def compile(self, module: ModuleOp, edits: tuple[Edit, ...]) -> Figures | None:
        """Compile a program with changes; None if the compiler refuses it."""
        try:
            copy = changed(module, edits)
            copy.verify()
            laid_out = replace(
                self, machine=_machine_after(self.machine, module, edits)
            )
            return laid_out.figures(None, copy)
        except DiagnosticException:
            return None

    def estimate(self, module: ModuleOp, edits: tuple[Edit, ...]) -> "Estimate | None":
        """Propagate a program with changes; None if that is refused."""
        try:
            copy = changed(module, edits)
            with collect_remarks():
                first = replace(
                    self.pipeline,
                    first_stage=1,
                    last_stage=PROPAGATION_STAGE - 1,
                    verify_each=False,
                    dump_dir=None,
                )
                first.apply(make_context(), copy)
                propagation = Propagation(copy)
                UserPriorityPropagatePass().propagate(propagation)
            return _estimated(propagation.graph, copy, self.machine, self.trip_count)
        except DiagnosticException:
            return None


def _machine_after(
    machine: Machine, module: ModuleOp, edits: tuple[Edit, ...]
) -> Machine:
    """Return the machine with the links along axes as another mesh lies on them."""
    for mesh in sdy.mesh_table(module).values():
        for edit in edits:
            if edit.mesh is not None and mesh.total_size > 1:
                moved = links_moved(machine, mesh.axes, edit.mesh.axes)
                return replace(machine, axes=moved) if moved else machine
    return machine


@dataclass(frozen=True, slots=True)
class Estimate:
    """The costs of a program, estimated from its shardings after propagation alone.

    Attributes:
        seconds: computing and communicating one after the other.
        held: bytes of arguments and of all that ops make, on a device.
    """

    seconds: float
    held: int


def _estimated(
    graph: PropagationGraph, module: ModuleOp, machine: Machine, trip_count: int | None
) -> Estimate:
    runs = Runs(module, trip_count)
    sent = bits_in_loops(graph, lambda op: runs.of(op).count)
    seconds = sent / 8 / machine.link.bytes_per_second
    sizes = {name: dict(mesh.axes) for name, mesh in sdy.mesh_table(module).items()}
    held = sum(
        type_bytes(argument.type, argument) // _parts(graph, [argument], sizes)
        for function in module.ops
        for region in function.regions
        for block in region.blocks
        for argument in block.args
        if is_tensor(argument)
    )
    for node in graph.nodes:
        if node.rule is None or node.erased or not computes(node.op):
            continue
        bytes_of_results = sum(
            type_bytes(result.type, result) // _parts(graph, [result], sizes)
            for result in node.op.results
            if is_tensor(result)
        )
        held += bytes_of_results
        work = operations(node.op) // _devices(
            map(graph.sharding_of, node.places), sizes
        )
        seconds += runs.of(node.op).count * machine.seconds(
            work, bytes_of_results, numbers=product_numbers(node.op)
        )
    return Estimate(seconds, held)


def _parts(
    graph: PropagationGraph,
    values: list[SSAValue],
    sizes: dict[str, dict[str, int]],
) -> int:
    shardings = [
        graph.sharding_of(place) for value in values if (place := graph.place_of(value))
    ]
    return _devices(shardings, sizes)


def _devices(
    shardings: Iterable[TensorSharding | None], sizes: dict[str, dict[str, int]]
) -> int:
    axes: dict[str, int] = {}
    for sharding in shardings:
        if sharding is None:
            continue
        mesh = sharding.mesh
        known = dict(mesh.axes) if isinstance(mesh, Mesh) else sizes.get(mesh, {})
        for axis in sharding.sharding_axes:
            axes[axis.name] = known.get(axis.name, 1)
    return prod(axes.values())


# In other processes


Packed = tuple[Edit, int | None, int | None]
"""An edit, with the numbers of its value and of its op."""


class Packer:
    """Names the values and ops of a program by numbers, which its text has too."""

    def __init__(self, module: ModuleOp):
        self._values = {value: at for at, value in enumerate(all_values(module))}
        self._ops = {op: at for at, op in enumerate(module.walk())}

    def pack(self, edits: tuple[Edit, ...]) -> tuple[Packed, ...]:
        """Return edits that can be pickled."""
        return tuple(
            (
                replace(edit, value=None, user=None),
                None if edit.value is None else self._values[edit.value],
                None if edit.user is None else self._ops[edit.user],
            )
            for edit in edits
        )


@lru_cache(maxsize=1)
def _parsed(text: str) -> tuple[ModuleOp, list[SSAValue], list[Operation]]:
    module = parse_program(text)
    return module, list(all_values(module)), list(module.walk())


def run_elsewhere(
    text: str, packed: tuple[Packed, ...], meter: Meter, *, compiles: bool
) -> Figures | Estimate | None:
    """Compile or estimate a program that is given as text, read once in a process."""
    module, values, ops = _parsed(text)
    edits = tuple(
        replace(
            edit,
            value=None if value is None else values[value],
            user=None if user is None else ops[user],
        )
        for edit, value, user in packed
    )
    return (meter.compile if compiles else meter.estimate)(module, edits)
