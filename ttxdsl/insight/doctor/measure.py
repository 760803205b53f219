"""The real costs of a program on a mesh: compile it and count.

Bytes by the ring model (`ttxdsl.costs.ring`), memory by `ttxdsl.analysis.usage.memory`, time
by `ttxdsl.analysis.usage.timeline` on a machine of stated speed (`ttxdsl.costs.machines`).
"""

from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from ttxdsl.analysis.calls.function_attributes import entry_function, entry_functions
from ttxdsl.analysis.usage.collectives import counts_of
from ttxdsl.analysis.usage.device import DeviceUsage
from ttxdsl.analysis.usage.work import operations_of
from ttxdsl.costs.compilers import Compiler
from ttxdsl.costs.machines import Machine
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import Remark, collect_remarks, fold_remarks
from ttxdsl.insight.doctor.meshes import Candidate, apply_candidate
from ttxdsl.ir.tensors import shape_of
from ttxdsl.loading.program import make_context
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass
from ttxdsl.transforms.stages.pad_borders import has_uneven_borders


@dataclass(frozen=True, slots=True)
class Measurement:
    """The work and the memory of one device, counted in its compiled program.

    `seconds` is until all is done; `link_seconds` and `compute_seconds` are the parts of
    collectives and of computing, which may overlap.
    `warnings` are what the compiler warns of, those of one kind once with their count;
    `unknown_loops` the loops of unknown trip count, which count as one iteration.
    """

    operations: int
    bytes_sent: int
    collectives: tuple[tuple[str, int], ...]
    seconds: float
    link_seconds: float
    compute_seconds: float
    peak_bytes: int
    argument_bytes: int
    warnings: tuple[Remark, ...] = ()
    unknown_loops: int = 0


def measure(
    module: ModuleOp,
    machine: Machine,
    trip_count: int | None = None,
    *,
    compiler: Compiler | None = None,
) -> Measurement:
    """Count a program that is partitioned.

    Args:
        compiler: whose fusions time and memory have; without one nothing is fused.

    Raises:
        CompileError: its memory is not known, see `memory_profile`.
    """
    usage = DeviceUsage(module, machine, compiler, trip_count)
    memory, time, runs = usage.memory, usage.timeline, usage.runs
    return Measurement(
        operations=operations_of(module, runs),
        bytes_sent=sum(collective.bytes_per_device for collective in usage.collectives),
        collectives=tuple(counts_of(usage.collectives).items()),
        seconds=usage.seconds,
        link_seconds=time.link_seconds,
        compute_seconds=time.compute_seconds,
        peak_bytes=memory.peak_bytes,
        argument_bytes=memory.argument_bytes,
        unknown_loops=0 if trip_count else len(runs.unknown_loops),
    )


def padding_as_written(
    module: ModuleOp, pipeline: TTStableHLOPipelinePass | None = None
) -> TTStableHLOPipelinePass:
    """Return the thirteen stages: they pad borders if the program's own are uneven.

    Otherwise changes that would make them so are refused, as JAX refuses them.
    """
    pads = has_uneven_borders(module)
    return replace(pipeline or TTStableHLOPipelinePass(), pad_borders=pads)


def propagating_as_xla(
    pipeline: TTStableHLOPipelinePass | None = None,
) -> TTStableHLOPipelinePass:
    """Return the thirteen stages with the propagation that XLA has, if none is given.

    What is cheap only where stage 6 chooses the cheaper of two propagations helps nobody
    who goes to XLA.
    """
    pipeline = pipeline or TTStableHLOPipelinePass()
    propagation = pipeline.propagation or UserPriorityPropagatePass.name
    return replace(pipeline, propagation=propagation)


def compile_candidate(
    module: ModuleOp,
    candidate: Candidate,
    machine: Machine,
    trip_count: int | None = None,
    *,
    compiler: Compiler | None = None,
) -> Measurement | str:
    """Compile a copy of a program for a candidate, as XLA does, and count; see `measure`.

    Returns:
        What it costs, or why the compiler refuses it.
    """
    copy = module.clone()
    try:
        apply_candidate(copy, entry_function(copy), candidate)
        copy.verify()  # local shapes of a manual computation hold for one mesh only
        with collect_remarks() as remarks:
            propagating_as_xla().apply(make_context(), copy)
        copy.verify()
        measurement = measure(copy, machine, trip_count, compiler=compiler)
    except CompileError as error:
        return error.message.partition("\n")[0]
    except DiagnosticException as error:
        return str(error).strip().partition("\n")[0]
    told = (remark for remark in fold_remarks(remarks) if remark.severity == "warning")
    return replace(measurement, warnings=tuple(told))


def require_sizes(module: ModuleOp) -> None:
    """Raise for programs with values of unknown size.

    Raises:
        CompileError: a value has a dimension of unknown size.
    """
    hint = "export the program with sizes, or give them: --shapes NAME=SIZE"
    values: list[tuple[str, SSAValue, Operation]] = [
        (f"argument {argument.index}", argument, function)
        for function in entry_functions(module)
        for argument in function.body.block.args
    ]
    values += (
        ("a result", result, op) for op in module.walk() for result in op.results
    )
    for name, value, op in values:
        if any(size < 0 for size in shape_of(value)):
            raise CompileError(
                f"{name} is of type {value.type}: without its sizes there is nothing to"
                " measure",
                op,
                hint=hint,
            )
