"""Unreduced arguments and results: every form computes the number they stand for."""

import numpy as np
import pytest

import ttxdsl

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'
STATUS = "ttcore.shard_status = #ttcore.shard_status<{}>"

AXES = {
    "an axis": '[{"y"}, {}], unreduced={"x"}',
    "the other axis": '[{"x"}, {}], unreduced={"y"}',
    "two axes": '[{}, {}], unreduced={"x", "y"}',
    "the major half of an axis": '[{}, {}], unreduced={"y":(1)2}',
    "the minor half of an axis": '[{"y":(1)2}, {}], unreduced={"y":(2)2}',
    "behind axes out of mesh order": '[{"y":(2)2, "x"}, {}], unreduced={"y":(1)2}',
}


def every_form(text: str, *arguments: np.ndarray) -> dict[str, np.ndarray]:
    """The first result in each form, the original's under `global`."""
    program = ttxdsl.load(text)
    local = program.partition()
    forms = {"global": program, "stage 8": local.after(8), "stage 13": local}
    forms |= {"ttir": local.lower("ttir"), "ttnn": local.lower("ttnn")}
    return {name: form.simulate(*arguments)[0] for name, form in forms.items()}


def assert_alike(text: str, *arguments: np.ndarray) -> None:
    found = every_form(text, *arguments)
    for name, result in found.items():
        np.testing.assert_array_equal(result, found["global"], err_msg=name)


def boundary(sharding: str, status: str, element: str, *, result: bool) -> str:
    plain = f"tensor<8x8x{element}>"
    said = (
        f"{{sdy.sharding = #sdy.sharding<@mesh, {sharding}>, {STATUS.format(status)}}}"
    )
    ins, out = (plain, f"({plain} {said})") if result else (f"{plain} {said}", plain)
    return f"""{MESH}
      func.func @main(%a: {ins}, %b: {plain}) -> {out} {{
        %0 = stablehlo.add %a, %b : {plain}
        return %0 : {plain}
      }}"""


def values(element: str) -> np.ndarray:
    numbers = np.arange(64).reshape(8, 8)
    if element == "f32":  # sums of these are exact
        return np.where(numbers == 9, np.inf, numbers).astype(np.float32)
    return (numbers % 3 == 0) if element == "i1" else numbers.astype(np.int32)


@pytest.mark.parametrize("result", [False, True], ids=["argument", "result"])
@pytest.mark.parametrize("status", ["sharded", "unsharded"])
@pytest.mark.parametrize("axes", AXES)
def test_arguments_and_results(axes: str, status: str, result: bool):
    text = boundary(AXES[axes], status, "i32", result=result)
    assert_alike(text, values("i32"), values("i32").T)


@pytest.mark.parametrize("element", ["f32", "i1"])
@pytest.mark.parametrize("status", ["sharded", "unsharded"])
def test_other_elements(element: str, status: str):
    """An infinity is no summand of zero; a sum of truths is whether any is true."""
    text = boundary(AXES["an axis"], status, element, result=False)
    assert_alike(text, values(element), np.zeros_like(values(element)))


T = "tensor<8x8xi32>"
INSIDE = {
    "a barrier": (
        '%0 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<'
        f'[<@mesh, [{{"y"}}, {{}}], unreduced={{"x"}}>]>}} %a : {T}'
    ),
    "a propagation barrier": (
        f"%c = sdy.propagation_barrier %a allowed_direction=NONE : {T}\n"
        f'%0 = sdy.sharding_constraint %c <@mesh, [{{}}, {{"y"}}], '
        f'unreduced={{"x"}}> : {T}'
    ),
    "a loop": f"""
        %n = stablehlo.constant dense<3> : tensor<i32>
        %z = stablehlo.constant dense<0> : tensor<i32>
        %i, %0 = stablehlo.while(%j = %z, %c = %a) : tensor<i32>, {T} attributes {{
            sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>,
              <@mesh, [{{"y"}}, {{}}], unreduced={{"x"}}>]>}} cond {{
          %t = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %t : tensor<i1>
        }} do {{
          %one = stablehlo.constant dense<1> : tensor<i32>
          %k = stablehlo.add %j, %one : tensor<i32>
          %d = stablehlo.multiply %c, %c : {T}
          stablehlo.return %k, %d : tensor<i32>, {T}
        }}""",
    "a branch": f"""
        %p = stablehlo.slice %a [0:1, 1:2] : ({T}) -> tensor<1x1xi32>
        %q = stablehlo.reshape %p : (tensor<1x1xi32>) -> tensor<i32>
        %u = sdy.sharding_constraint %q <@mesh, [], unreduced={{"x"}}> : tensor<i32>
        %0 = "stablehlo.case"(%u) ({{
          %d = stablehlo.negate %a : {T}
          stablehlo.return %d : {T}
        }}, {{
          stablehlo.return %a : {T}
        }}) : (tensor<i32>) -> {T}""",
    "an op that is not linear": (
        f'%0 = stablehlo.multiply %a, %a {{sdy.sharding = #sdy.sharding_per_value<'
        f'[<@mesh, [{{"y"}}, {{}}], unreduced={{"x"}}>]>}} : {T}'
    ),
    "a computation that reduces it": f"""
        %0 = sdy.manual_computation(%a)
            in_shardings=[<@mesh, [{{"y"}}, {{}}], unreduced={{"x"}}>]
            out_shardings=[<@mesh, [{{"y"}}, {{}}], replicated={{"x"}}>]
            manual_axes={{"x", "y"}} (%c: tensor<2x8xi32>) {{
          %r = "stablehlo.all_reduce"(%c) <{{replica_groups = dense<
              [[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>,
              channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
              use_global_device_ids}}> ({{
          ^bb0(%p: tensor<i32>, %q: tensor<i32>):
            %s = stablehlo.add %p, %q : tensor<i32>
            stablehlo.return %s : tensor<i32>
          }}) : (tensor<2x8xi32>) -> tensor<2x8xi32>
          %s = stablehlo.multiply %r, %r : tensor<2x8xi32>
          sdy.return %s : tensor<2x8xi32>
        }} : ({T}) -> {T}""",
    "a computation that leaves summands": f"""
        %0 = sdy.manual_computation(%a)
            in_shardings=[<@mesh, [{{"y"}}, {{"x"}}]>]
            out_shardings=[<@mesh, [{{"y"}}, {{}}], unreduced={{"x"}}>]
            manual_axes={{"x", "y"}} (%c: tensor<2x4xi32>) {{
          %r = stablehlo.concatenate %c, %c, dim = 1 :
            (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x8xi32>
          sdy.return %r : tensor<2x8xi32>
        }} : ({T}) -> {T}""",
}  # fmt: skip


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("unreduced", ["argument", "value"])
def test_inside(inside: str, unreduced: str):
    """Through what has a body or passes values on, of an argument and of a value."""
    sharding = AXES["an axis"]
    said = f" {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}"
    head = f"%a = sdy.sharding_constraint %b <@mesh, {sharding}> : {T}"
    name = "%a" if unreduced == "argument" else "%b"
    text = f"""{MESH}
      func.func @main({name}: {T}{said if unreduced == "argument" else ""}) -> {T} {{
        {head if unreduced == "value" else ""}
        {INSIDE[inside]}
        %2 = stablehlo.subtract %0, %a : {T}
        return %2 : {T}
      }}"""
    assert_alike(text, values("i32"))
