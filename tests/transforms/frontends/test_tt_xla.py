"""tt-xla's constraints and marks say what sdy and tt-mlir's argument attributes say."""

import re

import pytest
from xdsl.dialects.builtin import StringAttr

import ttxdsl
from tests.bridges.tt_mlir.oracle import ask, needs_tt
from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_function,
)
from ttxdsl.bridges.tt_mlir.legalize.prepare_for_tt_mlir import PrepareForTTMLIRPass
from ttxdsl.conversion.driver import lowerings
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.ttcore import (
    ARGUMENT_TYPE_ATTRIBUTE,
    MARKS,
    ArgumentType,
    ArgumentTypeAttr,
)
from ttxdsl.loading.program import Form, make_context, parse_program, program_text

T = "tensor<64x16xf32>"
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'


def attributes(said: str) -> str:
    quoted = said.replace('"', "\\22")
    return f'mhlo.frontend_attributes = {{xla.sdy.sharding = "{quoted}"}}'


def call(target: str, operand: str, attributes: str, type_: str = T) -> str:
    return (
        f"stablehlo.custom_call @{target}({operand}) {{{attributes}}}"
        f" : ({type_}) -> {type_}"
    )


def constraint(operand: str, sharding: str, type_: str = T) -> str:
    return call("tt.sharding_constraint", operand, attributes(sharding), type_)


def native(operand: str, sharding: str, type_: str = T) -> str:
    return f"sdy.sharding_constraint {operand} {sharding} : {type_}"


# --- constraints ----------------------------------------------------------------------

DIMS = '[{"x"}, {"y"}]'
NUMBERED = '[{"mesh_idx_0"}, {"mesh_idx_1"}]'
WRITTEN = {
    "named axes": f"#sdy.sharding<@mesh, {DIMS}>",
    "of each value": f"#sdy.sharding_per_value<[<@mesh, {DIMS}>]>",
    "numbered axes": f"#sdy.sharding_per_value<[<@mesh, {NUMBERED}>]>",
    "the mesh inside": f'#sdy.sharding<mesh<["x"=2, "y"=4]>, {DIMS}>',
    "the only mesh": f"#sdy.sharding<@another, {NUMBERED}>",
}


def straight(written: str) -> str:
    return f"""{MESH}
func.func @main(%a: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}) -> {T} {{
  %0 = stablehlo.tanh %a : {T}
  %1 = {written}
  return %1 : {T}
}}"""


def solved(text: str) -> str:
    """The text of stage 13."""
    made = ttxdsl.load(text).partition()
    assert not made.remarks
    return program_text(made.module)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_constraint_is_that_of_sdy(name: str):
    made = solved(straight(constraint("%0", WRITTEN[name])))
    assert made == solved(straight(native("%0", f"<@mesh, {DIMS}>")))
    assert "custom_call" not in made and "all_gather" not in made


def test_a_partial_sum_of_numbered_axes():
    dims = '[{"mesh_idx_0"}, {}], unreduced={"mesh_idx_1"}'
    (call,) = [
        op
        for op in parse_program(
            straight(constraint("%0", f"#sdy.sharding<@mesh, {dims}>"))
        ).walk()
        if op.name == "sdy.sharding_constraint"
    ]
    assert str(call.properties["sharding"]).endswith(
        '<@mesh, [{"x"}, {}], unreduced={"y"}>'
    )


L = "tensor<32x16xf32>"
PLACES = {
    "in a function": lambda one: f"""{MESH}
func.func @main(%a: {T}) -> {T} {{
  %0 = call @f(%a) : ({T}) -> {T}
  return %0 : {T}
}}
func.func private @f(%a: {T}) -> {T} {{
  %0 = stablehlo.tanh %a : {T}
  %1 = {one("%0", '<@mesh, [{"x"}, {"y"}]>', T)}
  return %1 : {T}
}}""",
    "in a loop": lambda one: f"""{MESH}
func.func @main(%a: {T}) -> {T} {{
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%k = %i, %x = %a) : tensor<i32>, {T}
  cond {{
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %next = stablehlo.add %k, %one : tensor<i32>
    %y = stablehlo.tanh %x : {T}
    %z = {one("%y", '<@mesh, [{"x"}, {"y"}]>', T)}
    stablehlo.return %next, %z : tensor<i32>, {T}
  }}
  return %r#1 : {T}
}}""",
    "in a computation": lambda one: f"""{MESH}
func.func @main(%a: {T}) -> {T} {{
  %n = stablehlo.negate %a : {T}
  %0 = sdy.manual_computation(%n) in_shardings=[<@mesh, [{{"x"}}, {{?}}]>] out_shardings=[<@mesh, [{{"x"}}, {{?}}]>] manual_axes={{"x"}} (%x: {L}) {{
    %1 = stablehlo.tanh %x : {L}
    %2 = {one("%1", '<@mesh, [{}, {"y"}]>', L)}
    sdy.return %2 : {L}
  }} : ({T}) -> {T}
  return %0 : {T}
}}""",
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_a_constraint_anywhere(name: str):
    write = PLACES[name]

    def carried(operand: str, sharding: str, type_: str) -> str:
        return constraint(operand, f"#sdy.sharding{sharding}", type_)

    made = solved(write(carried))
    assert made == solved(write(native))
    assert "tensor<32x4xf32>" in made


WITHOUT_MESH = f"""
func.func @main(%a: {T}) -> {T} {{
  %0 = stablehlo.tanh %a : {T}
  %1 = {constraint("%0", f"#sdy.sharding_per_value<[<@mesh, {NUMBERED}>]>")}
  return %1 : {T}
}}"""


def test_the_mesh_is_that_of_the_option():
    program = ttxdsl.load(WITHOUT_MESH)
    made = program.partition(mesh=(2, 4))
    assert re.search(r"stablehlo.tanh %\w+ : tensor<32x4xf32>", str(made))
    inputs = program.random_inputs(0)
    assert (made.simulate(inputs)[0] == program.simulate(inputs)[0]).all()


def test_no_mesh_at_all():
    with pytest.raises(
        CompileError, match=r"4:.*no mesh of the program is meant"
    ) as caught:
        ttxdsl.load(WITHOUT_MESH).partition()
    assert "mesh-shape" in str(caught.value)
    whole = WITHOUT_MESH.replace(NUMBERED.replace('"', "\\22"), "[{}, {}]")
    assert "custom_call" not in str(ttxdsl.load(whole).partition())


# --- marks ----------------------------------------------------------------------------


def mark(operand: str, type_: str = T) -> str:
    said = 'ttcore.argument_type = "parameter", ttir.name = "w"'
    return call(
        "tt.mark_argument", operand, f"mhlo.frontend_attributes = {{{said}}}", type_
    )


def weight(operand: str, type_: str = T) -> str:
    said = 'mhlo.frontend_attributes = {ttcore.weight_dtype = "bfp_bf8"}'
    return call("tt.weight_dtype_override", operand, said, type_)


def marks(text: str) -> list[dict[str, str]]:
    """What is known of each argument of the entry, and that no mark is left."""
    module = parse_program(text)
    assert "custom_call" not in str(module)
    return [
        {key: _shown(value) for key, value in entry.items() if key in MARKS}
        for entry in argument_attributes(entry_function(module))
    ]


def _shown(value: object) -> str:
    return value.data if isinstance(value, StringAttr) else str(value)


def kind(which: ArgumentType) -> str:
    return str(ArgumentTypeAttr(which))


PARAMETER = {ARGUMENT_TYPE_ATTRIBUTE: kind(ArgumentType.PARAMETER), "ttir.name": "w"}
R = "tensor<1x64x16xf32>"
MARKED = {
    "an argument": f"""func.func @main(%a: {T}, %w: {T}) -> {T} {{
  %0 = {mark("%w")}
  %1 = stablehlo.add %a, %0 : {T}
  return %1 : {T}
}}""",
    "a reshaped argument": f"""func.func @main(%a: {T}, %w: {T}) -> {T} {{
  %0 = stablehlo.reshape %w : ({T}) -> {R}
  %1 = {mark("%0", R)}
  %2 = stablehlo.reshape %1 : ({R}) -> {T}
  %3 = stablehlo.add %a, %2 : {T}
  return %3 : {T}
}}""",
    "in a function": f"""func.func @main(%a: {T}, %w: {T}) -> {T} {{
  %0 = call @f(%w, %a) : ({T}, {T}) -> {T}
  return %0 : {T}
}}
func.func private @f(%w: {T}, %a: {T}) -> {T} {{
  %0 = {mark("%w")}
  %1 = stablehlo.add %a, %0 : {T}
  return %1 : {T}
}}""",
    "in a loop": f"""func.func @main(%a: {T}, %w: {T}) -> {T} {{
  %i = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%k = %i, %v = %w, %x = %a) : tensor<i32>, {T}, {T}
  cond {{
    %n = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %k, %one : tensor<i32>
    %0 = {mark("%v")}
    %y = stablehlo.add %x, %0 : {T}
    stablehlo.return %next, %v, %y : tensor<i32>, {T}, {T}
  }}
  return %r#2 : {T}
}}""",
    "in a computation": f"""{MESH}
func.func @main(%a: {T}, %w: {T}) -> {T} {{
  %0 = sdy.manual_computation(%w, %a) in_shardings=[<@mesh, [{{"x"}}, {{}}]>, <@mesh, [{{"x"}}, {{}}]>] out_shardings=[<@mesh, [{{"x"}}, {{}}]>] manual_axes={{"x"}} (%x: {L}, %y: {L}) {{
    %1 = {mark("%x", L)}
    %2 = stablehlo.add %1, %y : {L}
    sdy.return %2 : {L}
  }} : ({T}, {T}) -> {T}
  return %0 : {T}
}}""",
    "by JAX": f"""func.func @main(%a: {T}, %w: {T}) -> {T} {{
  %0 = func.call @"tt.mark_1_64x16_f32"(%w) {{ttcore.argument_type = "parameter"}} : ({T}) -> {T}
  %1 = stablehlo.add %a, %0 : {T}
  %2 = func.call @"tt.mark_1_64x16_f32"(%1) {{ttcore.argument_type = "constant"}} : ({T}) -> {T}
  return %2 : {T}
}}
func.func private @"tt.mark_1_64x16_f32"(%w: {T}) -> {T} {{
  return %w : {T}
}}""",
}  # fmt: skip


@pytest.mark.parametrize("name", MARKED)
def test_a_mark_goes_to_the_argument(name: str):
    of_input, of_weight = marks(MARKED[name])
    named = {} if name == "by JAX" else {"ttir.name": "w"}
    assert of_weight == {ARGUMENT_TYPE_ATTRIBUTE: kind(ArgumentType.PARAMETER)} | named
    assert of_input == {}


def test_a_mark_of_what_is_computed_goes_to_all_of_it():
    """So does tt-xla, since decompositions stand before marks."""
    text = f"""func.func @main(%a: {T}, %w: {T}) -> {T} {{
  %0 = stablehlo.add %a, %w : {T}
  %1 = {mark("%0")}
  return %1 : {T}
}}"""
    assert marks(text) == [PARAMETER, PARAMETER]


@pytest.mark.parametrize("name", ["an argument", "a reshaped argument"])
def test_the_type_of_a_weight(name: str):
    text = MARKED[name]
    for type_ in (T, R):
        for operand in ("%w", "%0"):
            text = text.replace(mark(operand, type_), weight(operand, type_))
    assert marks(text) == [{}, {"ttcore.weight_dtype": "bfp_bf8"}]


def test_a_marked_argument_is_split_as_it_was():
    text = f"""{MESH}
func.func @main(%a: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}}) -> {T} {{
  %0 = {mark("%a")}
  %1 = stablehlo.tanh %0 : {T}
  return %1 : {T}
}}"""
    made = ttxdsl.load(text).partition()
    assert not made.remarks and not made.collectives()
    for lowered in (made, made.lower("ttir"), made.lower("ttnn")):
        assert 'ttir.name = "w"' in str(lowered)
        assert "#ttcore.argument_type<parameter>" in str(lowered)


# --- what is not understood -----------------------------------------------------------


def says(said: str) -> str:
    return f"mhlo.frontend_attributes = {{{said}}}"


REFUSED = {
    "no sharding": (call("tt.sharding_constraint", "%0", ""), "says no sharding"),
    "half a sharding": (
        constraint("%0", "#sdy.sharding<@mesh, [{"),
        r"xla.sdy.sharding cannot be read: .*: #sdy.sharding<@mesh, \[\{",
    ),
    "no sharding but a number": (
        constraint("%0", "42 : i32"),
        "xla.sdy.sharding is not what it should be: 42 : i32",
    ),
    "an axis too many": (
        constraint("%0", '#sdy.sharding<@mesh, [{"mesh_idx_2"}, {}]>'),
        r'mesh_idx_2 is no axis of <\["x"=2, "y"=4\]>: <@mesh, \[\{"mesh_idx_2"\}, \{\}\]>',
    ),
    "an unknown axis": (
        constraint("%0", '#sdy.sharding<@mesh, [{"z"}, {}]>'),
        'unknown axis name: "z"',
    ),
    "another rank": (constraint("%0", "#sdy.sharding<@mesh, [{}]>"), "rank"),
    "no mark": (call("tt.mark_argument", "%0", ""), "does not say ttcore.argument_type"),
    "an unknown mark": (
        call("tt.mark_argument", "%0", says('ttcore.argument_type = "weight"')),
        "ttcore.argument_type is none of input, parameter, constant, default: weight",
    ),
    "a mark that is a number": (
        call("tt.mark_argument", "%0", says("ttcore.argument_type = 4 : i32")),
        "ttcore.argument_type is no text: 4 : i32",
    ),
    "a name that is a number": (
        call(
            "tt.mark_argument",
            "%0",
            says('ttcore.argument_type = "input", ttir.name = 4 : i32'),
        ),
        "ttir.name is no text: 4 : i32",
    ),
    "no type": (
        call("tt.weight_dtype_override", "%0", ""),
        "does not say ttcore.weight_dtype",
    ),
    "an unknown type": (
        call("tt.weight_dtype_override", "%0", says('ttcore.weight_dtype = "fp4"')),
        "ttcore.weight_dtype is none of bf16, bfp_bf8, bfp_bf4: fp4",
    ),
    "another type": (
        mark("%0").replace(f"-> {T}", "-> tensor<64x16xbf16>"),
        "a mark is of one tensor, which it returns",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str):
    written, message = REFUSED[name]
    text = straight(written)
    if "bf16" in written:
        text = text.replace(f"return %1 : {T}", "return %1 : tensor<64x16xbf16>")
        text = text.replace(f"-> {T} {{\n", "-> tensor<64x16xbf16> {\n", 1)
    with pytest.raises(CompileError, match=message) as caught:
        ttxdsl.load(text).partition()
    assert str(caught.value).count("error:") == 1


# --- the real tt-mlir -----------------------------------------------------------------

W = "tensor<128x256xbf16>"
STEP = f"""{MESH}
func.func @main(%a: tensor<64x128xbf16> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}, %w: {W}) -> tensor<64x256xbf16> {{
  %0 = {constraint("%w", '#sdy.sharding_per_value<[<@mesh, [{}, {"mesh_idx_1"}]>]>', W)}
  %1 = {mark("%0", W)}
  %2 = {weight("%1", W)}
  %3 = stablehlo.dot_general %a, %2, contracting_dims = [1] x [0] : (tensor<64x128xbf16>, {W}) -> tensor<64x256xbf16>
  return %3 : tensor<64x256xbf16>
}}"""  # fmt: skip


@needs_tt
def test_tt_mlir_takes_it_and_rounds_the_weight():
    made = ttxdsl.load(STEP).partition().module
    PrepareForTTMLIRPass().apply(make_context(), made)
    answer = ask(program_text(made))
    assert answer.ok
    assert "tile<32x32, bfp_bf8>" in answer.stages["ttnn"]


@needs_tt
@pytest.mark.parametrize("form", ["ttir", "ttnn"])
def test_tt_mlir_reads_our_lowering(form: Form):
    module = ttxdsl.load(STEP).partition().module
    for lowering in lowerings("stablehlo", form, vocabulary="tt-mlir", through=True):
        lowering.apply(make_context(), module)
    text = program_text(module)
    assert 'ttcore.weight_dtype = "bfp_bf8"' in text
    assert ask(text).parsed
