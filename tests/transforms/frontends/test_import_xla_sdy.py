"""Forms of single carriers that no exporter of `test_same_program` writes."""

import pytest

from tests.transforms.run_pass import run_passes

T = "tensor<8x4xf32>"
MESH = (
    'mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\22x\\22=2]>}"}'
)
SPLIT = "#sdy.sharding<@mesh, [{\\22x\\22}, {}]>"


def imported(body: str, argument: str = "", module: str = MESH) -> str:
    text = f"""module attributes {{{module}}} {{
      func.func @main(%a: {T} {{{argument}}}) -> {T} {{
        {body}
        return %r : {T}
      }}
    }}"""
    return run_passes(text, "import-xla-sdy")


def frontend(**said: str) -> str:
    entries = ", ".join(f'xla.sdy.{key} = "{value}"' for key, value in said.items())
    return f"mhlo.frontend_attributes = {{{entries}}}"


def test_ordinary_ops_keep_their_shardings():
    per_value = "#sdy.sharding_per_value<[<@mesh, [{\\22x\\22}, {}]>]>"
    for text in (per_value, SPLIT):
        found = imported(
            f"%r = stablehlo.negate %a {{{frontend(sharding=text)}}} : {T}"
        )
        assert 'sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>' in found
        assert "mhlo" not in found


def test_sharding_rules():
    rule = "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}, custom>"
    found = imported(
        f"%r = stablehlo.custom_call @mine(%a) {{{frontend(sharding_rule=rule)}}} : ({T}) -> {T}"
    )
    assert f"sdy.sharding_rule = {rule}" in found


def test_what_says_nothing_goes_and_what_is_not_sdys_stays():
    said = (
        'mhlo.frontend_attributes = {xla.sdy.has_unreduced_axes = "true", mine = "1"}'
    )
    found = imported(f"%r = stablehlo.negate %a {{{said}}} : {T}")
    assert 'mhlo.frontend_attributes = {mine = "1"}' in found


def test_an_inspected_value_is_the_value():
    call = f"%r = stablehlo.custom_call @InspectSharding(%a) {{has_side_effect = true}} : ({T}) -> {T}"
    found = imported(call, module="")
    assert "custom_call" not in found and f"return %a : {T}" in found


def test_shardings_of_all_arguments_and_results_on_the_module():
    """As TensorFlow's bridge writes them."""
    per_value = f"#sdy.sharding_per_value<[{SPLIT.removeprefix('#sdy.sharding')}]>"
    module = frontend(
        meshes="{mesh = #sdy.mesh<[\\22x\\22=2]>}",
        tuple_args_shardings=per_value,
        tuple_results_shardings=per_value,
    )
    found = imported(f"%r = stablehlo.negate %a : {T}", module=module)
    assert found.count('sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>') == 2


def test_quotes_that_were_escaped_twice():
    text = SPLIT.replace("\\22", "\\5C\\22")
    found = imported(f"%r = stablehlo.negate %a : {T}", frontend(sharding=text))
    assert 'sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>' in found


@pytest.mark.parametrize("group", ["as", "like"])
def test_tensors_that_are_sharded_alike(group: str):
    """`shard_alike` of JAX without Shardy."""
    said = f'has_side_effect = true, mhlo.sharding = "{{unknown shard_{group} 3}}"'
    found = imported(
        f"%r = stablehlo.custom_call @Sharding(%a) {{{said}}} : ({T}) -> {T}",
        'mhlo.sharding = "{devices=[2,1]<=[2]}"',
        "",
    )
    assert "sdy.sharding_group %a group_id=3" in found
    assert "return %a" in found


@pytest.mark.parametrize(
    ("name", "options", "version"),
    [
        ("chlo.erf", "", 2),
        ("chlo.erf", "composite_attributes = {fast = true}, ", 1),
        ("chlo.top_k", "", 1),
        ("chlo.ragged_dot", "", 1),
        ("mine.erf", "", 1),
    ],
)
def test_composites_that_are_not_known_stay(name: str, options: str, version: int):
    text = f"""func.func @main(%a: {T}) -> {T} {{
      %r = stablehlo.composite "{name}" %a {{{options}decomposition = @f, version = {version} : i32}} : ({T}) -> {T}
      return %r : {T}
    }}
    func.func private @f(%a: {T}) -> {T} {{ return %a : {T} }}"""
    assert f'stablehlo.composite "{name}"' in run_passes(text, "import-xla-sdy")
