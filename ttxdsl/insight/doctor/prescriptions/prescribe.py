"""From a program on its own mesh to the few lines that would make it cheaper.

    answer = prescribe(module)
    answer.prescriptions[0].write  # x = jax.lax.with_sharding_constraint(x, P("data"))

Candidates (`candidates`) are compiled one by one, then on top of the best of them
(`search.py`), until the time is over. What is prescribed was compiled and measured.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from time import monotonic

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.analysis.graph_state import is_solved
from ttxdsl.analysis.usage.device import compiler_on, machine_on
from ttxdsl.analysis.usage.memory import argument_name
from ttxdsl.costs.chips import Chip
from ttxdsl.costs.machines import GENERIC, Machine
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.boundary import require_structured, require_tensors
from ttxdsl.insight.doctor.measure import (
    padding_as_written,
    propagating_as_xla,
    require_sizes,
)
from ttxdsl.insight.doctor.prescriptions.answers import Prescriptions
from ttxdsl.insight.doctor.prescriptions.candidates.generate import Candidates
from ttxdsl.insight.doctor.prescriptions.clock import TimeIsOverError, ending_at
from ttxdsl.insight.doctor.prescriptions.ranking import Ranking
from ttxdsl.insight.doctor.prescriptions.search import Search, TrialRunner
from ttxdsl.insight.doctor.prescriptions.trials import Meter
from ttxdsl.insight.why.places import sharding_text
from ttxdsl.loading.program import make_context, program_text
from ttxdsl.sharding.axes import is_prefix, lists_overlap
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.stages.unify_meshes import UnifyMeshesPass

SECONDS = 60.0
"""Seconds to search by default."""

_TORCH_MODULE = "IrToHlo"
"""The name that torch-xla gives its modules, before a number."""


def own_mesh(module: ModuleOp) -> tuple[str, Mesh]:
    """Return the mesh that the shardings of a program name, and its name.

    Raises:
        CompileError: it has none of several devices.
    """
    meshes = {
        name: mesh
        for name, mesh in sdy.mesh_table(module).items()
        if any(size > 1 for _, size in mesh.axes)
    }
    if not meshes:
        raise CompileError(
            "the program has no mesh of several devices: there is nothing to prescribe",
            module,
            hint="say how many devices there are: --devices N",
        )
    written = {sharding.mesh for sharding in sdy.written_shardings(module)}
    return next(
        (item for item in meshes.items() if not written.isdisjoint(item)),
        next(iter(meshes.items())),
    )


def require_keepable(module: ModuleOp) -> None:
    """Refuse to keep an argument's sharding that the program itself undoes at once.

    Raises:
        CompileError: naming a constraint on an argument that splits a dimension, or uses
            an axis, otherwise than the argument's own sharding does.
    """
    for function in entry_functions(module):
        for argument in function.body.block.args:
            kept = sdy.get_func_argument_sharding(function, argument.index)
            ops = [use.operation for use in argument.uses]
            if kept is None or not ops:
                continue
            constraints = [op for op in ops if isinstance(op, sdy.ShardingConstraintOp)]
            if len(constraints) == len(ops) and all(
                _contradict(kept, op.sharding.data) for op in constraints
            ):
                name = argument_name(function, argument.index)
                raise CompileError(
                    f"--keep keeps {name} split as {sharding_text(kept)}, which this"
                    " constraint, its only use, contradicts:"
                    f" {sharding_text(constraints[0].sharding.data)}",
                    constraints[0],
                    hint="leave out --keep, the constraint, or the argument's sharding",
                )


def _contradict(first: TensorSharding, second: TensorSharding) -> bool:
    """Whether two shardings can only be exchanged; what is finer or coarser agrees."""
    dims = zip(first.dims, second.dims, strict=True)
    pairs = [(own.axes, other.axes) for own, other in dims]
    for at, (own, other) in enumerate(pairs):
        if own and other and not is_prefix(own, other) and not is_prefix(other, own):
            return True
        elsewhere = [axes for i, (_, axes) in enumerate(pairs) if i != at]
        if any(lists_overlap(own, axes) for axes in elsewhere):
            return True
    return False


def prescribe(
    module: ModuleOp,
    *,
    text: str | None = None,
    source: str = "<module>",
    machine: Machine | None = None,
    memory: int | None = None,
    seconds: float = SECONDS,
    trip_count: int | None = None,
    pipeline: TTStableHLOPipelinePass | None = None,
    chip: Chip | None = None,
    slices: int = 1,
    keep: bool = False,
    jobs: int = 1,
    executor: Executor | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> Prescriptions:
    """Try changes of a program on its own mesh and return those that help.

    Args:
        module: a global StableHLO program with a mesh; not changed.
        text: what it was read from, for the names of values.
        source: what to call it.
        machine: speeds for the modelled time.
        memory: bytes that a device has; what fits comes before what does not.
        seconds: after so many no further change is compiled.
        chip: what each device is: then time and memory are a plan's, and its memory is
            the limit.
        slices: of the mesh with a network of chips each.
        keep: whether the mesh and all shardings that are written stay.
        jobs: processes to compile in when that pays.
        executor: compiles instead; what is found is the same.
        on_step: called with the number of changes that were compiled, and that help.

    Raises:
        CompileError: the program has no mesh, or cannot be compiled or measured.
    """
    start = monotonic()
    require_structured(module)
    require_tensors(entry_functions(module))
    require_sizes(module)
    _, module = UnifyMeshesPass().apply_to_clone(make_context(), module)
    mesh_name, mesh = own_mesh(module)
    if keep:
        require_keepable(module)
    if chip is not None:
        machine = machine_on(chip, mesh.total_size, slices)
        memory = memory or chip.memory_bytes
    machine = machine or GENERIC
    meter = Meter(
        padding_as_written(module, pipeline),
        machine,
        trip_count,
        compiler=compiler_on(chip, machine),
    )
    candidates = Candidates(
        *(module, text or program_text(module), source, meter.pipeline),
        *((mesh_name, mesh), meter.machine),
        keep=keep,
    )
    before = meter.figures(candidates.recorded.compiled, module)
    tried_with = replace(meter, pipeline=propagating_as_xla(meter.pipeline))
    runner = TrialRunner(module, tried_with, start + seconds, jobs, executor)
    ranking = Ranking(memory)
    ops = sum(1 for _ in module.walk())
    search = Search(runner, ranking, before, ops, on_step)
    interrupted = False
    try:
        # a plain compilation takes about a third of the time until here
        took = (monotonic() - start) / 3
        with ending_at(start + seconds), runner.running(took):
            search.run(candidates.all)
    except TimeIsOverError:
        pass  # the search has kept the best so far
    except KeyboardInterrupt:
        interrupted = True
    prescriptions, together = search.prescriptions()
    alone = [
        (number, prescription.after)
        for number, prescription in enumerate(prescriptions, 1)
        if not prescription.on_top_of
    ]
    return Prescriptions(
        mesh=mesh,
        machine=meter.machine,
        before=before,
        prescriptions=tuple(prescriptions),
        together=together,
        after=search.after,
        new_mesh=search.mesh or mesh,
        equal_in_time=tuple(
            tuple(number for number, _ in equal)
            for equal in ranking.classes(alone, lambda item: item[1])
            if len(equal) > 1
        ),
        tried=tuple(search.tried(prescriptions)),
        untried=search.untried,
        interrupted=interrupted,
        memory=memory,
        is_partitioned=is_solved(module),
        is_of_torch=module.sym_name is not None
        and module.sym_name.data.startswith(_TORCH_MODULE),
    )
