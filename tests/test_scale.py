"""Large and deep programs: nothing runs out of calls, and memory grows with the ops."""

import gc
import tracemalloc

import numpy as np
import pytest

import ttxdsl
from tests.attack.bombs.deep import nested_calls, nested_regions
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import parse_program


def chain(length: int) -> str:
    """Ops that each use the one before."""
    rows = [
        f"  %v{i} = stablehlo.negate %v{i - 1} : tensor<8xf32>"
        for i in range(1, length)
    ]
    return "\n".join(
        [
            "func.func @main(%v0: tensor<8xf32>) -> tensor<8xf32> {",
            *rows,
            f"  return %v{length - 1} : tensor<8xf32>",
            "}",
        ]
    )


def nest(depth: int) -> str:
    """Branches inside each other."""
    before = '  "stablehlo.case"(%i) ({\n'
    after = "  stablehlo.return\n}) : (tensor<i32>) -> ()\n"
    return (
        "func.func @main(%i: tensor<i32>) {\n"
        + before * depth
        + after * depth
        + "return\n}\n"
    )


@pytest.mark.parametrize(
    "text", [chain(4_000), nest(300)], ids=["a long chain", "deep regions"]
)
def test_parse_verify_print_and_clone(text: str):
    module = parse_program(text)
    again = parse_program(str(module))
    copy = module.clone()
    copy.verify()
    assert str(again) == str(copy) == str(module)


def test_too_deep_is_a_diagnostic():
    with pytest.raises(CompileError, match="nested too deeply"):
        parse_program(nest(20_000))


def test_memory_is_linear():
    """Bytes an op are the same in a small and in a large module."""

    def bytes_an_op(ops: int) -> float:
        text = chain(ops)
        tracemalloc.start()
        try:
            module = parse_program(text)
            size, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert sum(1 for _ in module.walk()) > ops
        return size / ops

    bytes_an_op(100)
    small, large = bytes_an_op(1000), bytes_an_op(8000)
    assert large < 1.1 * small
    assert large < 2000


@pytest.mark.parametrize(
    "text",
    [nested_calls(1_200), nested_regions("while", 600)],
    ids=["1,200 calls", "600 loops"],
)
def test_deep_programs_run(text: str):
    module = parse_program(text)
    (result,) = run_module(module, [np.zeros((8, 8), np.float32)])
    assert np.all(result == 0)


def test_questions_leave_the_collector_alone():
    """A collection reads the whole program, and finds nothing."""
    mesh = 'sdy.mesh @mesh = <["x"=2]>\n'
    sharded = '%v0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
    program = ttxdsl.load(mesh + chain(5_000).replace("%v0: tensor<8xf32>", sharded, 1))
    local = program.partition()
    local.memory()  # imports what it takes
    counts = 0

    def count(phase: str, info: dict[str, int]) -> None:
        nonlocal counts
        counts += phase == "start"

    gc.collect(1)
    gc.callbacks.append(count)
    try:
        local = program.partition()
        local.collectives()
        profile = local.memory()
    finally:
        gc.callbacks.remove(count)
    assert counts <= 4
    assert len(profile.points) == 5_000
