"""Plans of steps: memory by category, time by bound, variants, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import ttxdsl
from ttxdsl.cli.main import main
from ttxdsl.costs.chips import CHIPS, chip_named
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.calls.kernels import is_product
from ttxdsl.insight.plan import variants
from ttxdsl.insight.plan.plan import StepPlan, recomputed
from ttxdsl.ir.traversal import all_ops as every_op
from ttxdsl.loading.program import make_context
from ttxdsl.transforms.stages.inline import InlinePass

EXAMPLES = Path(__file__).parents[3] / "examples"
STEP = EXAMPLES / "mlp_train_step.mlir"


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.mlir")))
def test_parts_add_up(name: str):
    plan = ttxdsl.load(EXAMPLES / name).plan("v5e")
    assert sum(plan.memory.by_category.values()) == plan.memory.peak_bytes
    assert plan.memory.fits
    time = plan.time
    waited = time.compute_s + time.memory_s + time.exposed_s  # the host is beside
    assert time.step_s == pytest.approx(waited)
    verdict = ttxdsl.load(EXAMPLES / name).report_data(chip="v5e")["verdict"]
    assert verdict["bound"] == time.bound
    assert verdict["seconds"] == pytest.approx(time.step_s)
    parts = {name: getattr(time, f"{name}_s") for name in verdict["parts"]}
    assert verdict["parts"] == pytest.approx(parts)
    assert plan.flops > 0


def step(sizes: int, *, donated: bool) -> str:
    """A step of one layer whose state is as large as its temporaries."""
    kind = f"tensor<{sizes}x{sizes}xf32>"
    mark = ", tf.aliasing_output = 0 : i32" if donated else ""
    return f"""
sdy.mesh @mesh = <["x"=2]>
func.func @main(%w: {kind} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>{mark}}} loc("params['w']"),
    %x: {kind} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}} loc("x")) -> ({kind} {{jax.result_info = "['w']"}}) {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({kind}, {kind}) -> {kind}
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0] : ({kind}, {kind}) -> {kind}
  %2 = stablehlo.subtract %w, %1 : {kind}
  return %2 : {kind}
}}
"""


def test_donated_state_is_counted_once():
    size = 256 * 256 * 4
    plans = {
        donated: ttxdsl.load(step(256, donated=donated)).plan("v5e")
        for donated in (True, False)
    }
    peaks = {donated: plan.memory.peak_bytes for donated, plan in plans.items()}
    assert peaks[False] - peaks[True] == size
    for donated, plan in plans.items():
        change = plan.variants[0]
        assert change.peak_bytes == peaks[not donated]
        assert ("without" in change.change) == donated


def test_what_does_not_fit():
    chip = chip_named("v5e")
    plan = ttxdsl.load(step(65536, donated=True)).plan(chip)
    assert not plan.memory.fits
    assert plan.memory.peak_bytes > chip.memory_bytes
    assert {one.change for one in plan.variants if one.fits} >= {"on v5p"}


def test_products_are_two_operations_each():
    plan = ttxdsl.load(step(256, donated=True)).plan("v5e")
    # a device has half of the rows in both products, adds what the other has, and subtracts
    assert plan.flops == 2 * (2 * 128 * 256 * 256) + 2 * 256 * 256


def test_slices_send_over_the_slow_network():
    program = ttxdsl.load(step(1024, donated=True))
    fast, slow = program.plan("v5p"), program.plan("v5p", slices=2)
    assert slow.time.network_s > 4 * fast.time.network_s
    with pytest.raises(CompileError, match="2 devices are not 3 equal slices"):
        program.plan("v5p", slices=3)


def test_command(capsys: pytest.CaptureFixture[str]):
    assert main(["plan", str(STEP), "--chip", "v5p"]) == 0
    out = capsys.readouterr().out
    assert "fits: " in out
    assert "bound by" in out
    assert main(["plan", str(STEP), "--chip", "v5p", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["fits"] is True
    memory = data["memory"]
    assert sum(memory["by_category"].values()) == memory["peak_bytes"]
    assert data["time"]["bound"] in ("compute", "memory", "network")
    assert {"flops", "variants", "tokens"} <= set(data)


def test_unknown_chips_are_listed(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["plan", str(STEP), "--chip", "v9"])
    known = ", ".join(CHIPS)
    assert f"no chip 'v9' (choose from {known})" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["plan", str(STEP), "--chip", "v5pp"])
    assert "did you mean v5p?" in capsys.readouterr().err
    with pytest.raises(CompileError, match="no chip 'v9'"):
        ttxdsl.load(STEP).plan("v9")


def test_unknown_loops_are_assumed():
    text = """
func.func @main(%n: tensor<i32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %c = stablehlo.compare LT, %one, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %i, %one : tensor<i32>
    %w = stablehlo.negate %v : tensor<8xf32>
    stablehlo.return %j, %w : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
"""
    plan = ttxdsl.load(text).plan("h100", trip_count=5)
    assert plan.assumptions == (
        "1 loop whose number of iterations the program does not say: 5 here"
        " (--trip-count N)",
    )
    assert 5 * 8 <= plan.flops < 5 * 16


def test_a_chip_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "here.json"
    machine = {"operations_per_second": 1e12, "memory_bytes_per_second": 1e11}
    file.write_text(json.dumps({**machine, "name": "here", "memory_bytes": 1 << 30}))
    assert main(["plan", str(STEP), "--chip", str(file), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["chip"], data["memory"]["limit_bytes"]) == ("here", 1 << 30)
    file.write_text(json.dumps(machine))
    with pytest.raises(SystemExit):
        main(["plan", str(STEP), "--chip", str(file)])
    assert "does not say memory_bytes" in capsys.readouterr().err


DRAWS = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%key: tensor<2xui64>) -> (tensor<8x16xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0, %1 = stablehlo.rng_bit_generator %key, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x16xui32>)
  return %1 : tensor<8x16xui32>
}
"""


def test_random_bits_by_parts():
    """Libtpu draws whole bits on each device, and a part where its flag says so."""
    program = ttxdsl.load(DRAWS)
    peak = program.plan("v5e").memory.peak_bytes
    (variant,) = [v for v in program.plan("v5e").variants if "random bits" in v.change]
    by_parts = program.partition(local_random_bits=True)
    assert "tensor<8x16xui32>" in program.partition().text
    (drawn,) = [line for line in by_parts.text.splitlines() if "rng_bit" in line]
    assert drawn.endswith("tensor<2x16xui32>)")
    assert variant.peak_bytes == by_parts.plan("v5e").memory.peak_bytes < peak


def test_variants_are_made():
    plan = ttxdsl.load(STEP).plan("h100")  # a core keeps more of another size's values
    changes = {variant.change: variant for variant in plan.variants}
    assert {"half the batch", "twice the batch"} <= set(changes)
    half, twice = changes["half the batch"], changes["twice the batch"]
    assert half.peak_bytes <= plan.memory.peak_bytes <= twice.peak_bytes
    partitioned = ttxdsl.load(ttxdsl.load(STEP).partition().text).plan("v5e")
    assert partitioned.refused == (
        ("the batch and shardings", "the program came partitioned"),
    )


def test_variants_have_a_bound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The likeliest gain is measured first; the rest is named, and `--all` measures it."""
    every = ttxdsl.load(STEP).plan("v5e")
    assert not every.unmeasured
    ops = sum(1 for _ in every_op(ttxdsl.load(STEP).partition().module))
    monkeypatch.setattr(variants, "MOST_OPS", ops)
    plans: list[StepPlan] = []
    plan = ttxdsl.load(STEP).plan("v5e", on_plan=plans.append)
    assert [variant.change for variant in plan.variants] == ["twice the batch"]
    assert {*plan.unmeasured} == {one.change for one in every.variants} - {
        "twice the batch",
        "accumulate over 2 microbatches",
    }
    assert plans[0].memory == plan.memory and not plans[0].variants
    tight = ttxdsl.load(step(256, donated=False))
    half = sum(1 for _ in every_op(tight.partition().module)) // 2
    monkeypatch.setattr(variants, "MOST_OPS", half)
    plan = tight.plan(replace(chip_named("v5e"), memory_bytes=1000))
    assert [one.change[:16] for one in plan.variants] == ["donate the state"]
    assert "twice the batch" in plan.unmeasured and "on v5p" in plan.unmeasured
    assert main(["plan", str(STEP), "--chip", "v5e"]) == 0
    assert "not measured, as each takes long (--all): " in capsys.readouterr().out
    assert main(["plan", str(STEP), "--chip", "v5e", "--all", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["unmeasured"] == [] and len(data["variants"]) == len(every.variants)


def test_what_an_unrolled_checkpoint_computes_again():
    """The products that JAX marks as computed again count once for the model."""

    def layer(w: Any, x: Any) -> Any:
        return jnp.tanh(jnp.tanh(x @ w) @ w.T)

    def loss(ws: Any, x: Any) -> Any:
        for w in ws:
            x = jax.checkpoint(layer)(w, x)
        return (x**2).sum()

    shape = jax.ShapeDtypeStruct
    ws = [shape((8, 8), "float32")] * 3
    step = jax.jit(lambda ws, x: jax.grad(loss)(ws, x))
    module = ttxdsl.from_jax(step, ws, shape((4, 8), "float32")).module
    InlinePass().apply(make_context(), module)
    products = [op for op in every_op(module) if is_product(op)]
    again = recomputed(module)
    marked = ["rematted_computation" in str(op.location) for op in products]
    assert sum(marked) == 6
    assert [op in again for op in products] == marked


KERNEL = """
func.func @main(%q: tensor<2x4x256x64xbf16>, %k: tensor<2x1x256x64xbf16>) -> tensor<2x4x256x64xbf16> {
  %0 = stablehlo.custom_call @tpu_custom_call(%q, %k, %k) {backend_config = "CONFIG", kernel_name = "flash"} : (tensor<2x4x256x64xbf16>, tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>) -> tensor<2x4x256x64xbf16>
  return %0 : tensor<2x4x256x64xbf16>
}
"""


@pytest.mark.parametrize(
    ("config", "flops"),
    [
        ("", 2 * 2 * (2 * 4 * 256) * 256 * 64),
        (r"{\22custom_call_config\22: {\22cost_estimate\22: {\22flops\22: 77}}}", 77),
    ],
)
def test_work_of_kernels(config: str, flops: int):
    plan = ttxdsl.load(KERNEL.replace("CONFIG", config)).plan("v6e", variants=False)
    assert (plan.flops, plan.assumptions) == (flops, ())


def test_kernels_of_unknown_work_are_said():
    text = KERNEL.replace("(%q, %k, %k)", "(%q)").replace(
        ", tensor<2x1x256x64xbf16>, tensor<2x1x256x64xbf16>) ->", ") ->"
    )
    plan = ttxdsl.load(text).plan("v6e", variants=False)
    assert plan.assumptions[0].startswith("1 call of which nothing says the work")


@pytest.mark.parametrize(
    ("target", "said"),
    [("mystery", True), ("lapack_spotrf_ffi", True), ("LayoutConstraint", False)],
)
def test_calls_of_unknown_work_are_said(target: str, said: bool):
    text = f"""
    func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {{
      %0 = stablehlo.custom_call @{target}(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }}
    """
    plan = ttxdsl.load(text).plan("v5e", variants=False)
    assert any(target in assumption for assumption in plan.assumptions) == said


def test_saved_activations_have_a_layer_and_a_line():
    from jax.ad_checkpoint import checkpoint_name

    def layer(x: Any, w: Any) -> Any:
        hidden = checkpoint_name(x @ w, "hidden")
        return x + jnp.tanh(hidden) @ w.T, None

    policy = jax.checkpoint_policies.save_only_these_names("hidden")

    def loss(ws: Any, x: Any) -> Any:
        x, _ = jax.lax.scan(jax.checkpoint(layer, policy=policy), x, ws)
        return (x * x).sum()

    shape = jax.ShapeDtypeStruct
    arguments = shape((4, 64, 64), "float32"), shape((8, 64), "float32")
    plan = ttxdsl.from_jax(jax.grad(loss), *arguments).plan("v5e", variants=False)
    assert {(saved.name, saved.layers) for saved in plan.memory.saved} == {
        ("dot_general", 4),
        ("carry", 4),
    }
    assert {saved.layer_bytes for saved in plan.memory.saved} == {8 * 64 * 4}
    (product,) = (s for s in plan.memory.saved if s.name == "dot_general")
    assert product.position is not None and "test_plan.py" in product.position
    assert plan.data()["memory"]["saved"][0]["bytes"] == 4 * 8 * 64 * 4
    # the product is saved, not computed again
    forward = 2 * 8 * 64 * 64 * 4
    assert plan.model_flops == 6 * forward


def test_what_a_checkpoint_computes_again_is_no_work_of_the_model():
    def layer(x: Any, w: Any) -> Any:
        return jnp.tanh(jnp.tanh(x @ w) @ w.T), None

    def loss(ws: Any, x: Any) -> Any:
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, ws)
        return (x * x).sum()

    shape = jax.ShapeDtypeStruct
    arguments = shape((4, 64, 64), "float32"), shape((8, 64), "float32")
    plan = ttxdsl.from_jax(jax.grad(loss), *arguments).plan("v5e", variants=False)
    forward = 2 * (2 * 8 * 64 * 64) * 4
    assert plan.model_flops == 3 * forward
    assert plan.flops > 3.9 * forward


def test_a_function_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "step.py"
    file.write_text(
        "import jax, jax.numpy as jnp\n"
        "def step(w, x):\n"
        "    return w - 0.1 * jax.grad(lambda w: jnp.sum((x @ w) ** 2))(w)\n"
        "def program():\n"
        "    return jax.jit(step), *[jax.ShapeDtypeStruct((64, 64), 'float32')] * 2\n"
    )
    status = main(["plan", f"{file}:program", "--chip", "v5p", "--json"])
    out = capsys.readouterr()
    assert status == 0, out.err
    assert json.loads(out.out)["memory"]["peak_bytes"] > 0


def test_a_program_that_computes_nothing_is_planned():
    text = """
func.func @main(%a: tensor<1024xf32>, %p: tensor<i1>) -> tensor<1024xf32> {
  BODY
}
"""
    loop = """%0 = stablehlo.while(%b = %a) : tensor<1024xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %b : tensor<1024xf32>
  }
  return %0 : tensor<1024xf32>"""
    for body in ("return %a : tensor<1024xf32>", loop):
        plan = ttxdsl.load(text.replace("BODY", body)).plan("v5e", variants=False)
        assert plan.memory.peak_bytes >= 1024 * 4


def test_a_refusal_keeps_its_place_and_its_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    step = tmp_path / "step.mlir"
    step.write_text("""
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
""")
    assert main(["plan", str(step), "--chip", "v5e"]) == 1
    told = capsys.readouterr().err
    assert f"{step}:3:3: error: " in told
    assert "hint: rewrite the recursion" in told


def test_partitioned_programs_take_no_options_of_partition():
    program = ttxdsl.load(STEP).partition()
    with pytest.raises(CompileError, match="partitioned already, without strict"):
        program.plan("v5e", partition={"strict": True})


def test_symbolic_shapes_are_named():
    kind = "tensor<?x8xf32>"
    text = f"func.func @main(%x: {kind}) -> {kind} {{ return %x : {kind} }}"
    with pytest.raises(CompileError, match="has no static shape"):
        ttxdsl.load(text).plan("v5e")


def test_a_plan_without_a_chip_says_which_there_are(capsys: pytest.CaptureFixture[str]):
    assert main(["plan", str(STEP)]) == 1
    err = capsys.readouterr().err
    assert "a plan is for a chip" in err and "--chip v5p" in err and "h100" in err
