"""Several meshes become one; programs compute what they did, errors name two meshes."""

import re

import numpy as np
import pytest

import ttxdsl
from tests.transforms.run_pass import run_passes
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.stages.unify_meshes import UnifyMeshesPass

T = "tensor<8x16xf32>"


def on(mesh: str, dims: str) -> str:
    return f"{{sdy.sharding = #sdy.sharding<{mesh}, {dims}>}}"


def program(meshes: str, argument: str, body: str, result: str = "") -> str:
    """A function of one tensor, whose result is `%r`."""
    return (
        f"{meshes}\nfunc.func @main(%a: {T} {argument}) -> ({T} {result}) {{\n"
        f"  {body}\n  return %r : {T}\n}}"
    )


XY = 'sdy.mesh @xy = <["x"=2, "y"=4]>\n'
AB = 'sdy.mesh @ab = <["a"=4, "b"=2]>\n'
TWO = XY + 'sdy.mesh @z = <["z"=8]>\n'
SPLIT = on("@xy", '[{"x"}, {"y"}]')
TURNED = XY + 'sdy.mesh @turned = <["p"=4, "q"=2], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>'
EMPTY = "sdy.mesh @empty = <[]>\n"

FITTING = {
    "a constraint on another mesh": program(
        TWO, SPLIT, f'%r = sdy.sharding_constraint %a <@z, [{{"z"}}, {{}}]> : {T}'
    ),
    "a result on another mesh, by a part of its axis": program(
        TWO,
        SPLIT,
        f"%r = stablehlo.negate %a : {T}",
        on("@z", '[{"z":(2)4}, {"z":(1)2}]'),
    ),
    "finer than either": program(
        XY + AB,
        SPLIT,
        f'%r = sdy.sharding_constraint %a <@ab, [{{"b"}}, {{"a"}}]> : {T}',
    ),
    "devices in the order of other axes": program(
        TURNED,
        SPLIT,
        f'%r = sdy.sharding_constraint %a <@turned, [{{"p"}}, {{"q"}}]> : {T}',
    ),
    "a mesh that is written in the sharding": program(
        XY,
        SPLIT,
        f'%r = sdy.sharding_constraint %a <mesh<["z"=8]>, [{{"z"}}, {{}}]> : {T}',
    ),
    "a computation on another mesh": program(
        TWO,
        SPLIT,
        '%r = sdy.manual_computation(%a) in_shardings=[<@z, [{"z"}, {}]>]'
        ' out_shardings=[<@z, [{"z"}, {}]>] manual_axes={"z"} (%b: tensor<1x16xf32>) {\n'
        '  %c = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<'
        "handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<"
        'mesh = @z, axes = [#stablehlo.axis_ref<name = "z">]>, use_global_device_ids}> ({\n'
        "  ^bb0(%s: tensor<f32>, %t: tensor<f32>):\n"
        "    %u = stablehlo.add %s, %t : tensor<f32>\n"
        "    stablehlo.return %u : tensor<f32>\n"
        "  }) : (tensor<1x16xf32>) -> tensor<1x16xf32>\n"
        "  %i = stablehlo.partition_id : tensor<ui32>\n"
        "  %f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>\n"
        "  %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) ->"
        " tensor<1x16xf32>\n"
        "  %d = stablehlo.add %c, %g : tensor<1x16xf32>\n"
        f"  sdy.return %d : tensor<1x16xf32>\n}} : ({T}) -> {T}",
    ),
    "some axes of a computation on another mesh": program(
        XY + AB,
        SPLIT,
        '%r = sdy.manual_computation(%a) in_shardings=[<@ab, [{"a", ?}, {?}]>]'
        ' out_shardings=[<@ab, [{"a", ?}, {?}]>] manual_axes={"a"}'
        " (%b: tensor<2x16xf32>) {\n"
        "  %c = stablehlo.negate %b : tensor<2x16xf32>\n"
        f"  sdy.return %c : tensor<2x16xf32>\n}} : ({T}) -> {T}",
    ),
    "replicated over devices in any order": program(
        XY + 'sdy.mesh @back = <["w"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>',
        SPLIT,
        f"%r = sdy.sharding_constraint %a <@back, [{{}}, {{?}}]> : {T}",
    ),
    "on the empty mesh": program(
        EMPTY + XY, on("@empty", "[{}, {}]"), f"%r = stablehlo.negate %a : {T}", SPLIT
    ),
    "on the empty mesh, and nothing else": program(
        EMPTY,
        on("@empty", "[{}, {}]"),
        f"%r = sdy.sharding_constraint %a <@empty, [{{}}, {{}}]> : {T}",
    ),
    "a computation on the empty mesh": program(
        EMPTY,
        "",
        "%r = sdy.manual_computation(%a) in_shardings=[<@empty, [{}, {}]>]"
        f" out_shardings=[<@empty, [{{}}, {{}}]>] manual_axes={{}} (%b: {T}) {{\n"
        f"  %c = stablehlo.negate %b : {T}\n  sdy.return %c : {T}\n}} : ({T}) -> {T}",
    ),
}


@pytest.mark.parametrize("case", FITTING)
def test_numbers_stay(case: str):
    whole = ttxdsl.load(FITTING[case])
    a = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
    (wanted,) = whole.simulate(a)
    parts = whole.partition()
    warnings = [one for one in parts.remarks if one.severity == "warning"]
    assert all("nothing is sharded" in one.message for one in warnings)
    assert len(parts.meshes) == 1
    for form in (parts, parts.lower("ttnn")):
        np.testing.assert_allclose(form.simulate(a)[0], wanted, rtol=1e-5)


def test_what_it_writes():
    text = run_passes(FITTING["a constraint on another mesh"], "unify-meshes")
    assert '<@xy, [{"x", "y"}, {}]>' in text
    assert "@z" not in text
    text = run_passes(FITTING["finer than either"], "unify-meshes")
    assert 'sdy.mesh @mesh = <["x"=2, "y_part"=2, "b"=2]>' in text
    assert '#sdy.sharding<@mesh, [{"x"}, {"y_part", "b"}]>' in text
    assert '<@mesh, [{"b"}, {"x", "y_part"}]>' in text
    text = run_passes(
        FITTING["some axes of a computation on another mesh"], "unify-meshes"
    )
    assert 'manual_axes={"x", "y_part"}' in text


def test_a_program_without_a_mesh_can_be_split_along_its_batch():
    """The empty mesh says no more than nothing."""
    text = FITTING["on the empty mesh, and nothing else"]
    parts = ttxdsl.load(text).partition(mesh=(1, 4))
    assert "tensor<2x16xf32>" in parts.text


BACK = 'sdy.mesh @back = <["w"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>\n'
SIX = 'sdy.mesh @a = <["x"=2, "y"=3]>\nsdy.mesh @b = <["p"=3, "q"=2]>\n'
TWELVE = 'sdy.mesh @a = <["x"=3, "y"=4]>\nsdy.mesh @b = <["z"=12]>\n'
REFUSED = {
    "devices in an order of no axes": (
        program(
            TWO + BACK,
            SPLIT,
            f'%r = sdy.sharding_constraint %a <@back, [{{"w"}}, {{}}]> : {T}',
        ),
        r"'sdy.mesh' op: no axes describe both @xy = .* and @back = .*device_ids=\[7, 6",
    ),
    "axes that do not divide": (
        program(
            SIX,
            on("@a", '[{"x"}, {}]'),
            f'%r = sdy.sharding_constraint %a <@b, [{{"q"}}, {{}}]> : {T}',
        ),
        "no axes describe both @a = .* and @b = ",
    ),
    "a part of an axis that ends amid another": (
        program(
            TWELVE,
            on("@a", '[{"y"}, {}]'),
            f'%r = sdy.sharding_constraint %a <@b, [{{"z":(1)4}}, {{}}]> : {T}',
        ),
        r'"z":\(1\)4 of @b = .* is no part of the axes of <\["x"=3, "y"=4\]>',
    ),
    "meshes of different numbers of devices": (
        program(
            TWO + 'sdy.mesh @four = <["f"=4]>',
            SPLIT,
            f"%r = sdy.sharding_constraint %a <@four, [{{}}, {{}}]> : {T}",
        ),
        "@xy = .* has 8 devices, @four = .* has 4",
    ),
    "a collective of sdy over another mesh": (
        program(
            TWO,
            SPLIT,
            f'%0 = sdy.sharding_constraint %a <@z, [{{"z"}}, {{}}]> : {T}\n'
            f'  %r = sdy.all_gather [{{"z"}}, {{}}] %0 out_sharding=<@z, [{{}}, {{}}]> : {T}',
        ),
        "'sdy.all_gather' op: its axes are of @z = .* the program is over <",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_meet_is_refused(case: str):
    text, message = REFUSED[case]
    with pytest.raises(CompileError) as error:
        ttxdsl.load(text).partition()
    assert re.search(message, str(error.value), re.DOTALL)


def test_meshes_that_differ_in_order_only_stay():
    """Shardy moves values between those."""
    text = program(
        'sdy.mesh @w = <["w"=8]>\n' + BACK,
        on("@w", '[{"w"}, {}]'),
        f'%0 = sdy.sharding_constraint %a <@back, [{{"w"}}, {{}}]> : {T}\n'
        f"  %r = stablehlo.negate %0 : {T}",
        on("@w", '[{"w"}, {}]'),
    )
    whole = ttxdsl.load(text)
    a = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
    parts = whole.partition()
    assert {"w", "back"} == set(parts.meshes)
    assert "collective_permute" in parts.text
    np.testing.assert_array_equal(parts.simulate(a)[0], -a)


# one device of several

ALONE = (
    "sdy.mesh @d0 = <[], device_ids=[0]>\nsdy.mesh @d3 = <[], device_ids=[3]>\n" + XY
)
ON_3 = "{sdy.sharding = #sdy.sharding_per_value<[<@d3, []>]>}"
ON_ONE = {
    "an op": (
        program(ALONE, SPLIT, f"%r = stablehlo.negate %a {ON_3} : {T}"),
        "'stablehlo.negate' op a value of device 3 alone is on every device, whole",
    ),
    "reshards there and back": (
        program(
            ALONE,
            SPLIT,
            f"%0 = sdy.reshard %a <@d3, []> : {T}\n"
            f"  %1 = stablehlo.negate %0 {ON_3} : {T}\n"
            f'  %r = sdy.reshard %1 <@xy, [{{"y"}}, {{}}]> : {T}',
            on("@xy", '[{"y"}, {}]'),
        ),
        "'sdy.reshard' op .*, as 1 others are",
    ),
    "a constraint, and a value of another device": (
        program(
            ALONE,
            SPLIT,
            f"%0 = sdy.sharding_constraint %a <mesh<[], device_ids=[5]>, []> : {T}\n"
            f"  %r = stablehlo.add %0, %0 {ON_3} : {T}",
        ),
        "device 5 alone",
    ),
    "an argument and a result": (
        program(
            ALONE, on("@d0", "[]"), f"%r = stablehlo.negate %a : {T}", on("@d3", "[]")
        ),
        "'func.func' op a value of device 0 alone",
    ),
    "a loop, its edges, and what it runs": (
        program(
            ALONE,
            SPLIT,
            "%i = stablehlo.constant dense<0> : tensor<i32>\n"
            "%n = stablehlo.constant dense<3> : tensor<i32>\n"
            "%l:2 = stablehlo.while(%k = %i, %v = %a) : tensor<i32>, "
            f"{T} attributes {{sdy.sharding = #sdy.sharding_per_value<"
            "[<@d3, []>, <@d3, []>]>}\n"
            "cond {\n  %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>)"
            " -> tensor<i1>\n  stablehlo.return %c : tensor<i1>\n} do {\n"
            "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
            "  %j = stablehlo.add %k, %one : tensor<i32>\n"
            f"  %w = stablehlo.add %v, %v {ON_3} : {T}\n"
            f"  stablehlo.return %j, %w : tensor<i32>, {T}\n}}\n"
            f"%r = sdy.data_flow_edge %l#1 sharding=<@d3, []> : {T}",
        ),
        "device 3 alone .*, as 3 others are",
    ),
    "a computation": (
        program(
            ALONE,
            SPLIT,
            "%r = sdy.manual_computation(%a) in_shardings=[<@d3, []>]"
            f" out_shardings=[<@d3, []>] manual_axes={{}} (%b: {T}) {{\n"
            f"  %c = stablehlo.negate %b : {T}\n  sdy.return %c : {T}\n}} : ({T}) -> {T}",
        ),
        "'sdy.manual_computation' op a value of device 3 alone .*, as 1 others are",
    ),
}


@pytest.mark.parametrize("case", ON_ONE)
def test_what_is_on_one_device_is_on_all(case: str):
    text, message = ON_ONE[case]
    whole = ttxdsl.load(text)
    a = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
    (wanted,) = whole.simulate(a)
    parts = whole.partition()
    assert [*parts.meshes] == ["xy"]
    assert any(re.search(message, str(remark)) for remark in parts.remarks)
    for form in (parts, parts.lower("ttnn")):
        np.testing.assert_array_equal(form.simulate(a)[0], wanted)
    with pytest.raises(CompileError, match="leave strict off"):
        whole.partition(strict=True)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"%r = stablehlo.negate %a {ON_3.replace('@d3', '@d8')} : {T}",
         "'stablehlo.negate' op: a value on device 8; .* has 8 devices"),
        ("%t = stablehlo.create_token : !stablehlo.token\n"
         f'%u = "stablehlo.outfeed"(%a, %t) {ON_3} : ({T}, !stablehlo.token) -> '
         f"!stablehlo.token\n%r = stablehlo.negate %a : {T}",
         "'stablehlo.outfeed' op: it is to run on one device only"),
        ("%p = stablehlo.constant dense<true> : tensor<i1>\n"
         '%r = "stablehlo.if"(%p) ({\n'
         f"%c = stablehlo.custom_call @f(%a) {{has_side_effect = true}} : ({T}) -> {T}\n"
         f"stablehlo.return %c : {T}\n}}, {{ stablehlo.return %a : {T} }}) {ON_3} : "
         f"(tensor<i1>) -> {T}",
         "'stablehlo.custom_call' op: @f is to be called on one device only"),
    ],
    ids=["no such device", "an outfeed", "a call inside of what is on one device"],
)  # fmt: skip
def test_what_not_all_devices_can_do(body: str, message: str):
    text = program(ALONE + "sdy.mesh @d8 = <[], device_ids=[8]>", SPLIT, body)
    with pytest.raises(CompileError, match=message):
        ttxdsl.load(text).partition()


# calls of the host, as JAX writes them


def calling(meshes: str, call: str, argument: str = "") -> str:
    return program(meshes + "sdy.mesh @host = <[], device_ids=[0]>\n", argument, call)


def call(inside: str, operands: str, types: str, *, results: int, effect: bool) -> str:
    said = ", ".join(["<@host, []>"] * max(results, 1))
    return (
        f"{inside} stablehlo.custom_call @xla_ffi_python_cpu_callback({operands}) "
        f"{{has_side_effect = {str(effect).lower()}, sdy.sharding ="
        f" #sdy.sharding_per_value<[{said}]>}} : {types}"
    )


TOLD = call("", "%a", f"({T}) -> ()", results=0, effect=True) + (
    f"\n  %r = stablehlo.negate %a : {T}"
)
IN_ORDER = (
    "%t = stablehlo.create_token : !stablehlo.token\n"
    + call(
        "%u =",
        "%t, %a",
        f"(!stablehlo.token, {T}) -> !stablehlo.token",
        results=1,
        effect=True,
    )
    + f"\n  %r = stablehlo.negate %a : {T}"
)


@pytest.mark.parametrize("text", [TOLD, IN_ORDER], ids=["told", "in order"])
@pytest.mark.parametrize("meshes", ["", TWO], ids=["one device", "eight devices"])
def test_calls_that_tell_the_host_are_left_out(
    text: str, meshes: str, capsys: pytest.CaptureFixture[str]
):
    whole = ttxdsl.load(calling(meshes, text, SPLIT if meshes else ""))
    a = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
    parts = whole.partition()
    assert "@host" not in parts.text
    for form in (whole, parts, parts.lower("ttnn")):
        np.testing.assert_array_equal(form.simulate(a)[0], -a)
        assert capsys.readouterr().err.count("remark: calls back a Python") == 1


def test_calls_whose_results_are_needed():
    pure = call("%r =", "%a", f"({T}) -> {T}", results=1, effect=False)
    a = np.ones((8, 16), np.float32)
    for meshes, argument in (("", ""), (TWO, SPLIT)):
        whole = ttxdsl.load(calling(meshes, pure, argument))
        for form in (whole, whole.partition()):
            with pytest.raises(
                CompileError, match=r"a Python function, .* for its results"
            ):
                form.simulate(a)
    noticed = pure.replace("has_side_effect = false", "has_side_effect = true")
    ttxdsl.load(calling("", noticed)).partition()
    with pytest.raises(CompileError, match="on one device only: it has a side effect"):
        ttxdsl.load(calling(TWO, noticed, SPLIT)).partition()


def test_what_axes_are_called_is_told():
    text = program(
        TWO, SPLIT, f'%r = sdy.sharding_constraint %a <@z, [{{"z"}}, {{}}]> : {T}'
    )
    module = parse_program(text)
    with collect_remarks() as remarks:
        UnifyMeshesPass().apply(make_context(), module)
        UnifyMeshesPass().apply(make_context(), module)
    (remark,) = remarks
    assert remark.severity == "remark"
    assert '@z = <["z"=8]>' in remark.message
    assert remark.message.endswith("z is x x y")
