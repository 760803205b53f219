"""Stage 11: the per-device program computes what the global one computes.

`local_programs.mlir` holds the programs. Each is run globally, goes through the whole
pipeline, and is run again on the virtual mesh.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block

import ttxdsl
from tests.sampling import sampled
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo.attributes import ChannelHandleAttr as CHANNEL
from ttxdsl.interpreters.kernels.elements import tensor_of
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms import pipeline
from ttxdsl.transforms.partition.ops import indexing, reduction
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.stages.update_global_to_local_shapes import (
    UpdateGlobalToLocalShapesPass,
)
from ttxdsl.transforms.stages.wrap_under_manual_computation import (
    WrapUnderManualComputationPass,
)

FILE = Path(__file__).with_name("local_programs.mlir")
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'


def _programs() -> dict[str, str]:
    head, *functions = re.split(r"(?=^func\.func)", FILE.read_text(), flags=re.M)
    names = [re.findall(r"@(\w+)", function)[0] for function in functions]
    return {n: head + f for n, f in zip(names, functions, strict=True)}


PROGRAMS = _programs()


def inputs(module: ModuleOp, kind: str) -> list[NDArray[np.generic]]:
    """Random arguments, or arguments whose every element is its own index."""
    rng = np.random.default_rng(0)
    made: list[NDArray[np.generic]] = []
    for type_ in entry_function(module).function_type.inputs:
        shape, dtype = tensor_of(type_)
        count = int(np.prod(shape))
        if kind == "tagged" and dtype.kind != "b":
            values = np.arange(count).reshape(shape)
        elif dtype.kind in "biu":
            values = rng.integers(0, 2 if dtype.kind == "b" else 9, shape)
        else:
            values = rng.standard_normal(shape)
        made.append(values.astype(dtype))
    return made


def localized(text: str) -> ModuleOp:
    """The module after all stages, checked after each."""
    context = make_context()
    module = parse_program(text, context=context)
    with collect_remarks():
        TTStableHLOPipelinePass(verify_each=True).apply(context, module)
    return module


def stage_11(text: str, *, strict: bool = False) -> ModuleOp:
    """The module after stages 9 and 11 alone: its shardings are what the text says."""
    context = make_context()
    module = parse_program(text, context=context)
    WrapUnderManualComputationPass().apply(context, module)
    UpdateGlobalToLocalShapesPass(strict=strict).apply(context, module)
    module.verify()
    return module


def assert_same_numbers(text: str, kind: str) -> None:
    before, after = parse_program(text), localized(text)
    arguments = inputs(before, kind)
    expected = run_module(before, arguments)
    found = run_module(after, arguments)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        if one.dtype.kind in "biu":
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4)


OVERFLOWING = {"init_add", "while", "scatter_updates"}
"""Programs with products of so many elements that indices as elements leave f32."""


@pytest.mark.parametrize("name", sampled(PROGRAMS, 16))
def test_numbers_stay(name: str):
    assert_same_numbers(PROGRAMS[name], "random")


@pytest.mark.parametrize(
    "name", sampled([n for n in PROGRAMS if n not in OVERFLOWING], 16)
)
def test_every_element_comes_from_where_it_should(name: str):
    assert_same_numbers(PROGRAMS[name], "tagged")


@pytest.mark.parametrize("name", ["init_add", "logic", "scatter_updates"])
def test_these_programs_notice_an_initial_value_counted_on_every_device(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    for module in (reduction, indexing):
        monkeypatch.setattr(module, "counted_once", lambda ctx, value, *rest: value)
    with pytest.raises(AssertionError):
        assert_same_numbers(PROGRAMS[name], "random")


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_sharding_is_left_but_the_wrapper_s_and_channels_are_unique(name: str):
    module = localized(PROGRAMS[name])
    for op in module.walk():
        assert not any(key.startswith("sdy.") for key in op.attributes), op
        if op.name.startswith("sdy."):
            assert isinstance(op, sdy.MeshOp | sdy.ManualComputationOp | sdy.ReturnOp)
    wrappers = [op for op in module.walk() if isinstance(op, sdy.ManualComputationOp)]
    # a program without results has nothing left to wrap
    assert [op.manual_axes.data for op in wrappers] == [("x", "y")] * (
        name != "nothing"
    )
    for function in module.ops:
        if isinstance(function, FuncOp):
            assert "sdy.sharding" not in str(function.arg_attrs)
            assert "sdy.sharding" not in str(function.res_attrs)
    handles = [
        handle.data.handle
        for op in module.walk()
        if isinstance(handle := op.properties.get("channel_handle"), CHANNEL)
    ]
    assert len(handles) == len(set(handles))


def names_of(module: ModuleOp) -> list[str]:
    """The ops of the per-device program, without those of functions it refers to."""
    (wrapper,) = (op for op in module.walk() if isinstance(op, sdy.ManualComputationOp))
    return [op.name.removeprefix("stablehlo.") for op in wrapper.body.walk()]


COMMUNICATION = {
    "all_gather",
    "all_reduce",
    "all_to_all",
    "collective_permute",
    "reduce_scatter",
}


@pytest.mark.parametrize(
    "name",
    ["conv_one_by_one", "conv_batch_groups", "iota_const", "iota_sub", "noargs",
     "passthru", "pool_gradient", "pool_tiled", "nested_full", "dus"],
)  # fmt: skip
def test_what_works_on_shards_sends_nothing(name: str):
    assert not COMMUNICATION & set(names_of(localized(PROGRAMS[name])))


def test_random_bits_are_those_of_the_whole():
    """Every device makes all of them, for they follow from the state, and cuts."""
    text = (
        MESH
        + """func.func @main(%s: tensor<2xui64>, %a: tensor<8x16xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x16xui32> {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x16xui32>)
  %2 = stablehlo.xor %1, %a : tensor<8x16xui32>
  return %2 : tensor<8x16xui32>
}"""
    )
    module = localized(text)
    (bits,) = (
        op for op in module.walk() if isinstance(op, stablehlo.RngBitGeneratorOp)
    )
    assert tensor_of(bits.output.type)[0] == (8, 16)
    (xor,) = (op for op in module.walk() if isinstance(op, stablehlo.XorOp))
    assert tensor_of(xor.result.type)[0] == (4, 4)


def test_a_second_run_changes_nothing():
    module = localized(PROGRAMS["conv_groups"])
    before = str(module)
    UpdateGlobalToLocalShapesPass().apply(make_context(), module)
    assert str(module) == before


def main(body: str, arguments: str = "", results: str = "tensor<8x8xf32>") -> str:
    """A program whose `%a` is 8x8 and split by x and y."""
    return (
        MESH
        + f'func.func @main(%a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}}{arguments}) -> ({results}) {{\n{body}\n}}'
    )


REFUSED = {
    "uneven argument": (
        MESH
        + """func.func @main(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  return %a : tensor<10xf32>
}""",
        r"dimension 0 of argument 0 has size 10.*not divisible by 4.*\{\"y\"=4\}.*8 or 12",
    ),
    "operand split otherwise": (
        main("  %0 = stablehlo.abs %a : tensor<8x8xf32>\n  return %0 : tensor<8x8xf32>"),
        "is split differently along one factor.*sdy-insert-explicit-reshards",
    ),
    "result split otherwise": (
        main("  return %a : tensor<8x8xf32>"),
        r"result 0 is split as .*out_sharding says",
    ),
    "partial sums that nobody combines": (
        main(
            """  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>""",
            results="tensor<f32>",
        ),
        r"partial results along \{\"x\", \"y\"\} that no sdy.all_reduce combines",
    ),
    "an all-reduce of whole values": (
        main(
            """  %0 = sdy.all_reduce {"x"} %b out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>""",
            arguments=", %b: tensor<8x8xf32>",
        ),
        "no op before it leaves partial results along",
    ),
    "a reshard": (
        main("  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<8x8xf32>\n  return %0 : tensor<8x8xf32>"),
        "must become a collective.*sdy-reshard-to-collectives",
    ),
    "a call": (
        main("  %0 = func.call @f(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>\n  return %0 : tensor<8x8xf32>")
        + "\nfunc.func private @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {\n  return %a : tensor<8x8xf32>\n}",
        "cannot be made local.*run the inline pass first",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_input_is_refused_and_says_why(case: str):
    text, message = REFUSED[case]
    with pytest.raises(CompileError, match=re.compile(message, re.DOTALL)):
        stage_11(text)


def test_a_function_that_is_not_wrapped_is_refused():
    module = parse_program(main("  return %a : tensor<8x8xf32>"))
    with pytest.raises(CompileError, match="wrap-under-manual-computation"):
        UpdateGlobalToLocalShapesPass().apply(make_context(), module)


UNKNOWN = main(
    """  %0 = stablehlo.custom_call @mystery(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>"""
)


def test_strict_refuses_unknown_ops():
    with pytest.raises(UnsupportedError, match="256 bytes"):
        stage_11(UNKNOWN, strict=True)
    with pytest.raises(UnsupportedError, match="256 bytes"):
        stages = TTStableHLOPipelinePass(strict=True)
        stages.apply(make_context(), parse_program(UNKNOWN))


POPULATED = (
    MESH
    + """func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.custom_call @Cholesky(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}"""
)


def test_only_a_users_rule_says_what_a_custom_call_computes():
    """A populated rule lets shardings through a matrix that must be whole."""
    assert "all_gather" in str(stage_11(POPULATED))
    custom = POPULATED.replace("{i=8, j=8}>", "{i=8, j=8}, custom>")
    assert "all_gather" not in str(stage_11(custom))


def test_the_comparator_of_a_custom_call_is_no_program():
    """JAX prints it as a public function; it is not wrapped and does not have to be."""
    text = (
        MESH
        + """func.func @gt(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
func.func public @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x2xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<4x6xi32>
  %1 = stablehlo.constant dense<-1> : tensor<i32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3:2 = stablehlo.custom_call @ApproxTopK(%x, %0, %2, %1) {called_computations = [@gt]} : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %3#0 : tensor<4x2xf32>
}"""
    )
    module = localized(text)
    assert [len(list(f.body.block.ops)) for f in module.ops if isinstance(f, FuncOp)][
        :2
    ] == [2, 2]


def test_what_a_reshape_cannot_keep_is_not_sliced_to_be_gathered():
    """Shardy splits its operand along a dimension that the reshape takes apart."""
    text = (
        'sdy.mesh @mesh = <["y"=4]>\n'
        + """func.func @main(%a: tensor<6x4xf32>) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = stablehlo.tanh %a : tensor<6x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<6x4xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}"""
    )
    module = localized(text)
    assert not COMMUNICATION & set(names_of(module))
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    assert len(functions) == 1 + names_of(module).count("composite")
    arguments = inputs(module, "random")
    np.testing.assert_array_equal(
        run_module(module, arguments)[0], run_module(parse_program(text), arguments)[0]
    )


@pytest.mark.parametrize(
    "text",
    [
        """%r = "stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 1, 1, 1, 3>,
          window_strides = array<i64>, base_dilations = array<i64>, window_dilations = array<i64>,
          padding = dense<> : tensor<0x2xi64>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %s = stablehlo.add %x, %y : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }) : (tensor<4x6x6x4xf32>, tensor<f32>) -> tensor<4x6x6x2xf32>""",
        """%r = "stablehlo.convolution"(%a, %k) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
          dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
          window_strides = array<i64>, lhs_dilation = array<i64>, rhs_dilation = array<i64>,
          window_reversal = array<i1>, padding = dense<> : tensor<0x2xi64>}>
          : (tensor<4x6x6x4xf32>, tensor<3x3x4x2xf32>) -> tensor<4x4x4x2xf32>""",
    ],
    ids=["reduce_window", "convolution"],
)
def test_windows_of_which_empty_lists_say_nothing(text: str):
    """As if they were left out, in every form."""
    result = text.rsplit(" ", 1)[1]
    program = ttxdsl.load(
        f"""{MESH}
        func.func @main(%a: tensor<4x6x6x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}, {{}}, {{}}]>}},
            %k: tensor<3x3x4x2xf32>, %i: tensor<f32>) -> {result} {{
          {text}
          return %r : {result}
        }}"""
    )
    inputs = program.random_inputs()
    (wanted,) = program.simulate(inputs)
    for form in (program.partition(), program.lower("ttnn")):
        np.testing.assert_allclose(form.simulate(inputs)[0], wanted, rtol=1e-4)


def test_arguments_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that is inserted copies all before it."""
    monkeypatch.delattr(Block, "insert_arg")
    count = 20
    arguments = ", ".join(
        f'%a{at}: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}'
        for at in range(count)
    )
    names = ", ".join(f"%a{at}" for at in range(count))
    types = ", ".join(["tensor<8xf32>"] * count)
    module = parse_program(
        f"{MESH}func.func @main({arguments}) -> ({types}) {{\n"
        f"  return {names} : {types}\n}}"
    )
    TTStableHLOPipelinePass().apply(make_context(), module)
    (wrapper,) = ops_of_type(module, sdy.ManualComputationOp)
    shapes = {tensor_of(arg.type)[0] for arg in wrapper.body.block.args}
    assert shapes == {(4,)}


def test_written_shardings_are_read_by_the_stages_that_need_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: list[ModuleOp] = []
    read = pipeline._written_shardings

    def counted(module: ModuleOp) -> pipeline.WrittenShardings:
        reads.append(module)
        return read(module)

    monkeypatch.setattr(pipeline, "_written_shardings", counted)
    module = parse_program(
        f"{MESH}func.func @main(%a: tensor<8xf32> "
        '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {\n'
        "  return %a : tensor<8xf32>\n}"
    )
    for number in range(1, 14):
        TTStableHLOPipelinePass(first_stage=number, last_stage=number).apply(
            make_context(), module
        )
    assert len(reads) == 4
