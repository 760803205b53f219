"""What a run may take: memory, added up before it starts, and turns of loops."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttxdsl
from ttxdsl.cli.main import main
from ttxdsl.interpreters.runtime.limits import Limits, bytes_of
from ttxdsl.interpreters.runtime.memory import free_memory as asked
from ttxdsl.interpreters.runtime.memory.footprint import most_held
from ttxdsl.interpreters.runtime.memory.free_memory import free_memory
from ttxdsl.interpreters.runtime.regions import LimitError
from ttxdsl.interpreters.runtime.run import Runner

EXAMPLES = Path(__file__).parents[3] / "examples"
HUGE = "tensor<1000000x1000000xf32>"

ARGUMENT = f"""func.func @main(%a: {HUGE}) -> {HUGE} {{
  %0 = stablehlo.add %a, %a : {HUGE}
  return %0 : {HUGE}
}}"""

SPLAT = f"""func.func @main() -> tensor<f32> {{
  %c = stablehlo.constant dense<1.0> : {HUGE}
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [0, 1]
    : ({HUGE}, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}"""

BEYOND = SPLAT.replace("1000000x1000000", "1000000000000x1000000000000")

MADE = """func.func @main(%s: tensor<2xui64>) -> tensor<f32> {
  %o, %b = stablehlo.rng_bit_generator %s, algorithm = DEFAULT
    : (tensor<2xui64>) -> (tensor<2xui64>, tensor<1000000x1000000xf32>)
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  return %z : tensor<f32>
}"""


def runner(text: str, **limits: Any) -> Runner:
    return Runner(ttxdsl.load(text)._module, limits=Limits(**limits))  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("text", [ARGUMENT, SPLAT, BEYOND])
@pytest.mark.parametrize(
    "command", ["run", "check", "interpret --seed 0", "compare-xla"]
)
def test_what_is_far_too_large_is_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, command: str
):
    path = tmp_path / "in.mlir"
    path.write_text(text)
    name, *options = command.split()
    assert main([name, str(path), *options]) == 1
    error = capsys.readouterr().err
    assert "TiB of memory here, more than the" in error
    assert "its largest value is " in error
    assert error.count("error:") == 1
    assert "Traceback" not in error


@pytest.mark.parametrize("text", [ARGUMENT, SPLAT, BEYOND])
def test_what_cannot_run_compiles_or_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
):
    path = tmp_path / "in.mlir"
    path.write_text(text)
    code = main(["compile", str(path)])
    captured = capsys.readouterr()
    assert code == (text == BEYOND)
    assert ("above 2147483647" in captured.err) == (text == BEYOND)


def test_python_refuses_too():
    program = ttxdsl.load(ARGUMENT)
    with pytest.raises(LimitError, match="largest value is argument 0"):
        program.random_inputs()
    with pytest.raises(LimitError):
        program.check()
    # an array that takes no memory is none that is there
    huge = np.broadcast_to(np.float32(1), (1000000, 1000000))
    with pytest.raises(LimitError, match=r"'stablehlo.add' op: the run needs 7.3 TiB"):
        program.simulate(huge)
    with pytest.raises(LimitError, match=r"value is that of 'stablehlo.constant'"):
        ttxdsl.load(SPLAT).simulate()
    with pytest.raises(LimitError, match=r"'stablehlo.rng_bit_generator' op"):
        ttxdsl.load(MADE).simulate(np.zeros(2, np.uint64))


def test_a_limit_that_is_given():
    text = """func.func @main(%a: tensor<1024xf32>) -> tensor<1024xf32> {
      %0 = stablehlo.tanh %a : tensor<1024xf32>
      return %0 : tensor<1024xf32>
    }"""
    program, x = ttxdsl.load(text), np.zeros(1024, np.float32)
    assert program.simulate(x, max_memory="8KiB")[0].shape == (1024,)
    with pytest.raises(
        LimitError, match=r"needs 8.0 KiB .* more than the 8.0 KiB that it may have"
    ) as refused:
        program.simulate(x, max_memory=8191)
    assert (refused.value.hint or "").startswith("a larger --max-memory")
    with pytest.raises(LimitError):
        program.lower("ttnn").simulate(x, max_memory=8191)
    assert len(program.random_inputs(max_memory="12KiB")) == 1
    with pytest.raises(LimitError):
        program.random_inputs(max_memory="4KiB")
    with pytest.raises(ttxdsl.CompileError, match="max_memory: 'lots' is no size"):
        program.simulate(x, max_memory="lots")


def test_what_is_there_already_is_not_asked_for_again(monkeypatch: pytest.MonkeyPatch):
    text = """func.func @main(%a: tensor<8388608xf32>) -> tensor<8388608xf32> {
      return %a : tensor<8388608xf32>
    }"""
    monkeypatch.setattr(
        "ttxdsl.interpreters.runtime.limits.free_memory", lambda: 16 << 20
    )
    program = ttxdsl.load(text)
    assert program.simulate(np.zeros(1 << 23, np.float32))[0].size == 1 << 23
    with pytest.raises(
        LimitError, match=r"12.0 MiB that are three quarters of the free 16"
    ) as refused:
        program.random_inputs()
    assert "without running it" in (refused.value.hint or "")
    monkeypatch.setattr("ttxdsl.interpreters.runtime.limits.free_memory", lambda: None)
    assert len(program.random_inputs()) == 1


ROW = 1 << 18

CASES = {
    "a chain keeps one value beside its argument": (
        """%0 = stablehlo.exponential %a : tensor<ROWxf32>
        %1 = stablehlo.add %0, %a : tensor<ROWxf32>
        %2 = stablehlo.tanh %1 : tensor<ROWxf32>
        return %2 : tensor<ROWxf32>""",
        2,
    ),
    "what is needed later stays": (
        """%0 = stablehlo.exponential %a : tensor<ROWxf32>
        %1 = stablehlo.tanh %a : tensor<ROWxf32>
        %2 = stablehlo.sine %a : tensor<ROWxf32>
        %3 = stablehlo.add %0, %1 : tensor<ROWxf32>
        %4 = stablehlo.add %3, %2 : tensor<ROWxf32>
        return %4 : tensor<ROWxf32>""",
        4,
    ),
    "views show other memory": (
        """%c = stablehlo.constant dense<1.0> : tensor<ROWxf32>
        %i = stablehlo.iota dim = 0 : tensor<ROWxf32>
        %0 = stablehlo.reshape %a : (tensor<ROWxf32>) -> tensor<1xROWxf32>
        %1 = stablehlo.reshape %0 : (tensor<1xROWxf32>) -> tensor<ROWxf32>
        return %1 : tensor<ROWxf32>""",
        1,
    ),
    "a loop's state is there twice": (
        """%0 = stablehlo.while(%i = %a) : tensor<ROWxf32>
        cond {
          %t = stablehlo.constant dense<false> : tensor<i1>
          stablehlo.return %t : tensor<i1>
        } do {
          %1 = stablehlo.tanh %i : tensor<ROWxf32>
          stablehlo.return %1 : tensor<ROWxf32>
        }
        return %0 : tensor<ROWxf32>""",
        2,
    ),
    "the larger branch counts": (
        """%t = stablehlo.constant dense<true> : tensor<i1>
        %0 = "stablehlo.if"(%t) ({
          stablehlo.return %a : tensor<ROWxf32>
        }, {
          %1 = stablehlo.tanh %a : tensor<ROWxf32>
          %2 = stablehlo.sine %a : tensor<ROWxf32>
          %3 = stablehlo.add %1, %2 : tensor<ROWxf32>
          stablehlo.return %3 : tensor<ROWxf32>
        }) : (tensor<i1>) -> tensor<ROWxf32>
        return %0 : tensor<ROWxf32>""",
        3,
    ),
    "a call adds what the function needs": (
        """%0 = call @f(%a) : (tensor<ROWxf32>) -> tensor<ROWxf32>
        %1 = call @f(%0) : (tensor<ROWxf32>) -> tensor<ROWxf32>
        return %1 : tensor<ROWxf32>""",
        4,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_held_is_added_up(name: str):
    body, values = CASES[name]
    text = f"""func.func @main(%a: tensor<ROWxf32>) -> tensor<ROWxf32> {{
      {body}
    }}
    func.func private @f(%x: tensor<ROWxf32>) -> tensor<ROWxf32> {{
      %0 = stablehlo.tanh %x : tensor<ROWxf32>
      %1 = stablehlo.sine %x : tensor<ROWxf32>
      %2 = stablehlo.add %0, %1 : tensor<ROWxf32>
      return %2 : tensor<ROWxf32>
    }}""".replace("ROW", str(ROW))
    run = runner(text)
    assert run.footprint.bytes == values * 4 * ROW
    assert run.footprint.bytes <= most_held(run.interpreter.module)


@pytest.mark.parametrize("name", ["mlp_train_step", "transformer_block"])
@pytest.mark.parametrize("form", ["global", "device", "ttnn"])
def test_no_run_takes_less_than_was_added_up(name: str, form: str):
    program = ttxdsl.load(EXAMPLES / f"{name}.mlir")
    if form != "global":
        program = program.partition() if form == "device" else program.lower("ttnn")
    run = Runner(program._module)  # pyright: ignore[reportPrivateUsage]
    inputs = program.random_inputs()
    needed = run.footprint.bytes
    assert needed <= most_held(run.interpreter.module)
    tracemalloc.start()
    try:
        run.run(inputs)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert bytes_of(inputs) < needed <= peak + bytes_of(inputs) < 3 * needed


LOOP = """func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %2 = stablehlo.while(%i = %0) : tensor<i32>
  cond {
    %t = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %3 = stablehlo.add %i, %1 : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }
  return %2 : tensor<i32>
}"""

ENDLESS = LOOP.replace("compare LT", "compare GE").replace("dense<0>", "dense<100>")


def test_loops_may_take_so_many_turns():
    program = ttxdsl.load(LOOP)
    for form in (program, program.lower("ttnn")):
        assert form.simulate(7, max_steps=7)[0] == 7
        assert form.simulate(0, max_steps=0)[0] == 0
        with pytest.raises(LimitError, match="the loop goes on after 6 iterations"):
            form.simulate(7, max_steps=6)
    run = Runner(program._module, limits=Limits(steps=7))  # pyright: ignore[reportPrivateUsage]
    assert [int(run.run([7])[0]) for _ in range(2)] == [7, 7]


def test_turns_of_all_loops_count_together():
    inner = LOOP.replace("@main", "private @inner")
    text = LOOP.replace(
        "%3 = stablehlo.add",
        "%4 = call @inner(%n) : (tensor<i32>) -> tensor<i32>\n    %3 = stablehlo.add",
    )
    program = ttxdsl.load(f"{text}\n{inner}")
    assert program.simulate(3, max_steps=12)[0] == 3
    with pytest.raises(LimitError, match="after 11 iterations of all loops"):
        program.simulate(3, max_steps=11)


@pytest.mark.parametrize(
    "command", ["run", "check", "interpret --seed 0", "compare-xla"]
)
def test_an_endless_loop_is_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
):
    path = tmp_path / "in.mlir"
    path.write_text(ENDLESS)
    name, *options = command.split()
    assert main([name, str(path), *options, "--max-steps", "50"]) == 1
    error = capsys.readouterr().err
    assert (
        f"{path}:4:3: error: 'stablehlo.while' op: the loop goes on after 50" in error
    )
    assert "--max-steps" in error


def no_memory(*_: object, **__: object):
    raise MemoryError("Unable to allocate 3.64 TiB")


def test_no_memory_is_a_diagnostic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    program = ttxdsl.load(LOOP)
    path = tmp_path / "in.mlir"
    path.write_text(LOOP)
    with monkeypatch.context() as patch:
        patch.setattr("ttxdsl.interpreters.ops.control_flow.run_region", no_memory)
        with pytest.raises(
            LimitError, match=r"'stablehlo.while' op: needs more memory than"
        ):
            program.simulate(3)
    with monkeypatch.context() as patch:
        patch.setattr(
            "ttxdsl.transforms.pipeline.TTStableHLOPipelinePass.run", no_memory
        )
        with pytest.raises(ttxdsl.CompileError, match="not enough memory: Unable to"):
            program.partition()
    with monkeypatch.context() as patch:
        patch.setattr("xdsl.parser.Parser.parse_module", no_memory)
        with pytest.raises(ttxdsl.CompileError, match="not enough memory"):
            ttxdsl.load(LOOP)
    with monkeypatch.context() as patch:
        patch.setattr("ttxdsl.insight.run.outcome.hold", no_memory)
        assert main(["run", str(path)]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(
        "error: there is not enough memory: Unable to allocate"
    )
    assert "Traceback" not in captured.err


def test_what_the_system_says_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def write(name: str, text: str) -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    monkeypatch.setattr(asked, "_MEMORY_INFO", tmp_path / "meminfo")
    monkeypatch.setattr(asked, "_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(asked, "_MOUNT", tmp_path / "fs")
    write("meminfo", "MemTotal: 9000 kB\nMemAvailable:    4000 kB\n")
    assert free_memory() == 4000 << 10
    # version 2: a group in a group that has less
    write("cgroup", "1:cpu:/\n0::/job/step\n")
    write("fs/job/step/memory.max", "max\n")
    write("fs/job/step/memory.current", "500000\n")
    write("fs/job/memory.max", "2000000\n")
    write("fs/job/memory.current", "1500000\n")
    write("fs/job/memory.stat", "anon 3\ninactive_file 250000\n")
    assert free_memory() == 750000
    # version 1 beside it
    write("cgroup", "4:cpu,memory:/box\n0::/job/step\nodd")
    write("fs/memory/box/memory.limit_in_bytes", "1000000")
    write("fs/memory/box/memory.usage_in_bytes", "1100000")
    assert free_memory() == 0
    monkeypatch.setattr(asked, "_MEMORY_INFO", tmp_path / "no")
    monkeypatch.setattr(asked, "_GROUPS", tmp_path / "no")
    assert (free_memory() or 1 << 30) > 1 << 20
