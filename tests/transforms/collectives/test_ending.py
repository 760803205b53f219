"""Passes end: they take steps as a program has ops, and return no more than they got."""

from collections.abc import Iterator
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from tests.differential.corpus import Program, programs
from tests.differential.partitioning import MESHES, sharded_program
from tests.transforms.collectives.optimized import local, optimized
from tests.transforms.collectives.programs import PROGRAMS
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import stablehlo
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.collectives import optimize_collectives
from ttxdsl.transforms.collectives.optimize_collectives import OptimizeCollectivesPass
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.shardy.propagation.engine import Propagation


class Steps:
    """What passes do: ops that they make, and updates of shardings.

    Attributes:
        count: of all passes.
        optimizing: of the optimizations alone.
        optimized: the ops of what those got.
    """

    def __init__(self) -> None:
        self.count = self.optimizing = self.optimized = 0


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    steps = Steps()
    make_context()  # which mends how xDSL makes ops

    def counted(function: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            steps.count += 1
            return function(*args, **options)

        return call

    create: Any = Operation.create
    monkeypatch.setattr(Operation, "create", classmethod(counted(create.__func__)))
    monkeypatch.setattr(Operation, "__init__", counted(Operation.__init__))
    monkeypatch.setattr(Propagation, "_apply", counted(Propagation.__dict__["_apply"]))
    apply = OptimizeCollectivesPass.apply

    def optimize(self: OptimizeCollectivesPass, ctx: Any, op: ModuleOp) -> None:
        size, before = sum(1 for _ in op.walk()), steps.count
        apply(self, ctx, op)
        steps.optimized += size
        steps.optimizing += steps.count - before

    monkeypatch.setattr(OptimizeCollectivesPass, "apply", optimize)
    return steps


def check(steps: Steps, module: ModuleOp) -> str | None:
    """Partition a program; what is wrong with the steps that it took, None if nothing."""
    steps.__init__()
    size = sum(1 for _ in module.walk())
    with collect_remarks() as remarks:
        try:
            TTStableHLOPipelinePass(pad_borders=True).apply(make_context(), module)
        except CompileError:
            return None
    for remark in remarks:
        if "mistake of the compiler" in remark.message:
            return remark.message
    # a dilated convolution of split places becomes hundreds of ops, tried both ways
    if steps.count > 40 * size + 400 or steps.optimizing > 3 * steps.optimized:
        return f"{steps.count} steps for {size} ops, {steps.optimizing} of optimizing"
    return None


def partitionings(program: Program) -> Iterator[tuple[str, ModuleOp]]:
    if "symbolic" in program.name:
        return
    for name, mesh in MESHES.items():
        label = f"{program.name} {name}"
        module = sharded_program(program.pretty, mesh, f"{label} 0")
        if module is None:
            yield program.name, parse_program(program.pretty)
            return
        yield label, module


def wrong_steps(steps: Steps, some: tuple[Program, ...]) -> dict[str, str]:
    return {
        name: what
        for program in some
        for name, module in partitionings(program)
        if (what := check(steps, module)) is not None
    }


SOME = (
    "add_f32_grad", "conv2d_dilated", "cond_grad", "divmod_int64", "scan_nested", "select_n",
    "silu", "softmax_f16", "transpose_grad",
)  # fmt: skip
"""Those that take the most steps an op, some with branches and loops, and one of
which the times before and after are equal but for rounding."""


def test_some_programs_of_jax(steps: Steps):
    some = programs(*SOME)
    assert {one.name for one in some} == {*SOME}
    assert not wrong_steps(steps, some)
    assert steps.count


@pytest.mark.fuzz
def test_the_corpus(steps: Steps):
    assert not wrong_steps(steps, programs())


@pytest.mark.fuzz
def test_the_corpus_as_the_newest_jax_writes_it(steps: Steps, newest_python: str):
    assert not wrong_steps(steps, programs(python=newest_python))


def _send_twice(program: DeviceProgram, block: Block) -> bool:
    """A wrong optimization: combine again what was combined."""
    for op in program.sending(block):
        if isinstance(op, stablehlo.AllReduceOp):
            axes = program.axes(op)
            assert axes is not None
            uses = list(op.results[0].uses)
            more = program.all_reduce(op.results[0], op, axes, "wrong")
            for use in uses:
                use.operation.operands[use.index] = more
            return True
    return False


@pytest.mark.parametrize(
    "name", ["sink-all-reduces", "sink-collectives", "combine-all-reduces"]
)
def test_what_would_send_more_is_left_as_it_was(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    text = PROGRAMS[name]
    module, before = local(text), local(text)
    wrong = optimize_collectives.OPTIMIZATIONS | {"wrong": _send_twice}
    monkeypatch.setattr(optimize_collectives, "OPTIMIZATIONS", wrong)
    with collect_remarks() as remarks:
        optimized(module, "wrong")
    (warning,) = remarks
    assert "it is left as it was" in warning.message
    assert str(module) == str(before)
