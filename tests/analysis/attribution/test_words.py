"""Values and loops are called what the author calls them, in every answer."""

import json
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import ttxdsl
from tests.analysis.attribution.scanned_step import carrying, handed, line_of, scanned
from tests.sampling import sampled
from ttxdsl.analysis.attribution.variables import variable_at
from ttxdsl.analysis.attribution.words import Words
from ttxdsl.cli.main import main
from ttxdsl.costs.chips import chip_named
from ttxdsl.diagnostics.errors import Frame
from ttxdsl.dialects import stablehlo
from ttxdsl.insight.report.chrome_trace import chrome_trace
from ttxdsl.insight.report.model_explorer import graph_collection
from ttxdsl.insight.why.explain import Explainer
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import parse_program

UNKNOWN = ("closed_call", "dynamic_index", "while %", "iterArg")
"""What JAX and MLIR call things that authors call otherwise."""


def loop_text() -> str:
    line = line_of(
        'y, _ = jax.lax.scan(lambda x, w: (block(w, x), None), x, p["layers"])'
    )
    return f"scan over p['layers'], 6 times, line {line} of loss"


@pytest.fixture(scope="module")
def device() -> ttxdsl.Program:
    return ttxdsl.load(scanned()).partition()


def test_variables_and_loops(device: ttxdsl.Program):
    words = Words()
    values = [
        words.value(result) for op in device.module.walk() for result in op.results
    ]
    for text in ('h = x @ p["up"]', "gate = jnp.tanh(h)"):
        name = text.partition(" ")[0]
        assert f"{name} at line {line_of(text)} of block" in values
    loops = [op for op in device.module.walk() if isinstance(op, stablehlo.WhileOp)]
    # that of the forward pass takes the weights of one layer after the other
    assert words.loop(loops[0]) == f"the {loop_text()}"
    assert f"stacked by the {loop_text()}" in values


def test_why_names_what_is_moved():
    explainer = Explainer(
        parse_program(scanned()), scanned(), source="step.mlir", tries=0
    )
    answer = explainer.program()
    texts = [one.summary for one in answer.collectives]
    assert any("p['layers']['up'][i]" in text for text in texts)
    told = json.dumps([str(one.op) for one in answer.collectives] + texts)
    assert not any(name in told for name in UNKNOWN)
    for number in range(len(answer.collectives)):
        one = explainer.collective(number)
        assert not any(name in f"{one.reason} {one.details}" for name in UNKNOWN)


def test_what_a_loop_carries_is_the_variable_that_it_begins_with():
    module = ttxdsl.load(carrying()).partition().module
    words = Words()
    (loop,) = [op for op in module.walk() if isinstance(op, stablehlo.WhileOp)]
    carried = [words.carried(argument) for argument in loop.body.block.args]
    assert "h" in carried
    at = carried.index("h")
    name = words.value(loop.body.block.args[at])
    assert name == f"h of {words.loop(loop)}"
    # the counter has none, and none that MLIR made
    data = ttxdsl.load(carrying()).report_data()
    names = [n["name"] for n in data["graph"]["nodes"] if n["kind"] == "argument"]
    assert "h" in names
    assert not any("iterArg" in name for name in names)


def test_a_loop_of_unknown_length_has_no_count():
    def step(x: jax.Array, n: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, n, lambda _, y: y * 2, x)

    program = ttxdsl.from_jax(jax.jit(step), jnp.ones(4), jnp.int32(3))
    (loop,) = ops_of_type(program.module, stablehlo.WhileOp)
    assert Words().loop(loop).startswith("the fori_loop, line ")
    assert Words(trip_count=5).loop(loop).startswith("the fori_loop, 5 times, line ")


def test_what_a_library_computes_is_called_by_the_call():
    explainer = Explainer(parse_program(handed()), handed(), source="s.mlir", tries=0)
    texts = " ".join(one.summary for one in explainer.program().collectives)
    assert f"h at line {line_of('h = jax.nn.relu(x @ w)')} of layer" in texts
    line = line_of("return jax.nn.log_softmax(h @ p[0])")
    assert f"log_softmax at line {line} of model" in texts
    assert "@" not in texts


def test_plan_and_exports_say_the_same(device: ttxdsl.Program):
    # nothing stays on the core, where all of this step has room
    tpu = chip_named("v5e")
    chip = replace(tpu, compiler=replace(tpu.compiler, core_bytes=0))
    largest = [value.name for value in device.plan(chip).memory.largest]
    # what a scan saves is called by what each turn writes to it
    line = line_of("gate = jnp.tanh(h)")
    assert f"tanh at line {line} of block, stacked 6 times" in largest
    data = ttxdsl.load(scanned()).report_data()
    trace = [event["name"] for event in chrome_trace(data)["traceEvents"]]
    assert f"the {loop_text()}" in trace
    assert any(
        f"line {line_of('gate = jnp.tanh(h)')} of block" in name for name in trace
    )
    (graph,) = graph_collection(data)["graphs"]
    spaces = {node["namespace"] for node in graph["nodes"]}
    assert any("scan over p['layers']" in space for space in spaces)
    assert not any(name in space for space in spaces for name in UNKNOWN)


@pytest.mark.parametrize(
    "command",
    sampled(
        [["run"], ["doctor", "--seconds", "1"], ["plan", "--chip", "v5e"], ["why"]], 2
    ),
)
def test_without_debug_info_a_line_says_how_to_get_it(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    name, *options = command
    for debug_info in (False, True):
        path = tmp_path / f"{debug_info}.mlir"
        path.write_text(scanned(debug_info))
        main([name, str(path), *options])
        told = "lowered.as_text(debug_info=True)" in capsys.readouterr().out
        assert told is not debug_info


def test_diff_says_how_to_get_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "step.mlir"
    path.write_text(scanned(False))
    main(["diff", str(path), str(path)])
    assert "lowered.as_text(debug_info=True)" in capsys.readouterr().out


def test_only_files_of_python_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    source = "def f(x):\n    y = x + 1\n    return y * 2\n"
    for name, known in (("f.py", True), ("f.txt", False), ("none.py", False)):
        if name != "none.py":
            (tmp_path / name).write_text(source)
        frame = Frame("f", f"{tmp_path / name}:2:8", "2:13")
        assert (variable_at([frame]) == ("y", frame)) is known
    (tmp_path / "wrong.py").write_text("def f(:")
    assert variable_at([Frame("f", f"{tmp_path / 'wrong.py'}:1:0", "1:3")]) is None


def test_only_files_below_the_current_folder_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "other.py").write_text("secret = 1 + 1\n")
    (here / "link.py").symlink_to(tmp_path / "other.py")
    for path in (tmp_path / "other.py", here / "../other.py", here / "link.py"):
        frame = Frame("f", f"{path}:1:9", "1:14")
        monkeypatch.chdir(here)
        assert variable_at([frame]) is None
        monkeypatch.chdir(tmp_path)
        assert variable_at([frame]) == ("secret", frame)


def test_what_a_function_returns_is_the_variable_of_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "g.py"
    path.write_text("def f(x):\n    return x * 2\n\ndef g(x):\n    z = f(x)\n")
    inner, outer = Frame("f", f"{path}:2:11", "2:16"), Frame("g", f"{path}:5:8", "5:12")
    assert variable_at([inner, outer]) == ("z", outer)
    assert variable_at([inner]) is None
