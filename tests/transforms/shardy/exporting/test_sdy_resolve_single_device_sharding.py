"""`sdy-resolve-single-device-sharding` leaves what the newest C++ pass leaves."""

from __future__ import annotations

import re
from functools import partial
from random import Random

import numpy as np
import pytest

import ttxdsl
from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.newest import newest_oracle
from tests.differential.oracle import Oracle
from tests.interpreters.reference import run
from tests.transforms.run_pass import run_passes
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError

NAME = "sdy-resolve-single-device-sharding"

MESHES = """sdy.mesh @empty = <[]>
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @other = <["z"=4]>
sdy.mesh @d0 = <[], device_ids=[0]>
sdy.mesh @d3 = <[], device_ids=[3]>
"""
T = "tensor<4xf32>"


def _on(*meshes: str) -> str:
    shardings = (f"<@{m}, [{'' if m in ('d0', 'd3') else '{}'}]>" for m in meshes)
    return f"{{sdy.sharding = #sdy.sharding_per_value<[{', '.join(shardings)}]>}}"


def _line(random: Random, name: str, values: list[str], *, runs: bool) -> list[str]:
    """A line of one more value; with `runs` only what the interpreter can run."""
    first, second = random.choices(values, k=2)
    device = random.choice(("d0", "d3"))
    match random.randrange(4 if runs else 6):
        case 0:
            return [f"%{name} = stablehlo.add %{first}, %{second} : {T}"]
        case 1:
            return [f"%{name} = stablehlo.add %{first}, %{second} {_on(device)} : {T}"]
        case 2:
            return [
                f"%{name}p = stablehlo.constant dense<true> : tensor<i1>",
                f'%{name} = "stablehlo.if"(%{name}p) ({{',
                f"  %{name}n = stablehlo.negate %{first} : {T}",
                f"  stablehlo.return %{name}n : {T}",
                f"}}, {{ stablehlo.return %{second} : {T} }}) {_on(device)} : "
                f"(tensor<i1>) -> {T}",
            ]
        case 3:
            target = random.choice(("<@d0, []>", "<@d3, []>", "<@mesh, [{}]>"))
            return [f"%{name} = sdy.reshard %{first} {target} : {T}"]
        case 4:
            return [
                f"%{name}t = stablehlo.create_token : !stablehlo.token",
                f"%{name}:2 = stablehlo.custom_call @f(%{first}, %{name}t) "
                f"{_on(device, device)} : ({T}, !stablehlo.token) -> "
                f"({T}, !stablehlo.token)",
            ]
        case _:
            which = random.choice(
                ((device, "mesh"), ("mesh", device), (device, device))
            )
            return [
                f"%{name}:2 = stablehlo.custom_call @f(%{first}) {_on(*which)} : "
                f"({T}) -> ({T}, {T})"
            ]


def program(seed: int, *, runs: bool = False) -> str:
    random = Random(seed)
    values = ["a", "b"]
    lines: list[str] = []
    for at in range(random.randint(1, 6)):
        lines += _line(random, f"v{at}", values, runs=runs)
        values.append(f"v{at}#0" if ":2" in lines[-1] else f"v{at}")
    body = "\n  ".join(lines)
    return (
        f"{MESHES}func.func @main(%a: {T}, %b: {T}) -> {T} {{\n  {body}\n"
        f"  return %{values[-1]} : {T}\n}}\n"
    )


def check(newest: Oracle, seed: int) -> list[Outcome]:
    replicas = (1, 4)[seed % 2]
    options = f"{NAME}{{replica-count={replicas} partition-count=1}}"
    text = program(seed)
    expected = newest.run(text, f"func.func({options})")
    assert newest.run(run_passes(text, options)) == expected
    ids = "partition_id", "replica_id"
    changed = any(one in expected for one in ids)
    return [(NAME, "changed" if changed else "nothing to do")]


def test_random_programs_like_the_newest(newest: Oracle):
    found = [outcome for seed in range(24) for outcome in check(newest, seed)]
    assert found.count((NAME, "changed")) > 12


@pytest.mark.fuzz
@pytest.mark.usefixtures("newest_python")
def test_many_programs_like_the_newest():
    run_campaign(NAME, partial(asking, newest_oracle, check), 1_000)


def as_devices_run_it(text: str) -> str:
    """A resolved program, whose values are whole on all devices, in a computation."""
    lines = text.replace("func.return", "sdy.return").splitlines()
    meshes = [line for line in lines if "sdy.mesh" in line]
    start = next(i for i, line in enumerate(lines) if "func.func" in line)
    inside = "\n".join(lines[start + 1 : -2])
    summed = re.sub(
        r"(%\w+) = sdy.all_reduce \{[^}]*\} (%\w+) [^\n]*",
        r'\1 = "stablehlo.all_reduce"(\2) <{replica_groups = dense<[[0, 1, 2, 3]]> : '
        r"tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, "
        r"type = 1>, use_global_device_ids}> ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):"
        r" %r = stablehlo.add %p, %q : tensor<f32> stablehlo.return %r : tensor<f32> })"
        rf" : ({T}) -> {T}",
        inside,
    )
    moved = re.sub(
        r"(%\w+) = sdy.reshard (%\w+) [^\n]*",
        rf"\1 = stablehlo.reshape \2 : ({T}) -> {T}",
        summed,
    )
    whole = "<@mesh, [{}]>"
    return "\n".join([
        *meshes,
        f"func.func @main(%x: {T}, %y: {T}) -> {T} {{",
        f"%z = sdy.manual_computation(%x, %y) in_shardings=[{whole}, {whole}] "
        f'out_shardings=[{whole}] manual_axes={{"x", "y"}} (%a: {T}, %b: {T}) {{',
        moved,
        f"}} : ({T}, {T}) -> {T}",
        f"return %z : {T}",
        "}",
    ])  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_every_device_has_the_numbers(seed: int):
    """What one device computes, all have in the end; replicas that differ are an error."""
    text = program(seed, runs=True)
    a, b = np.arange(4, dtype=np.float32), np.array([3, -1, 7, 2], np.float32)
    (expected,) = run(text, a, b)
    (found,) = run(as_devices_run_it(run_passes(text, NAME)), a, b)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(6))
def test_the_stages_compute_the_same(seed: int):
    """They have on all devices what this pass has one compute."""
    text = program(seed, runs=True)
    inputs = np.arange(4, dtype=np.float32), np.array([3, -1, 7, 2], np.float32)
    parts = ttxdsl.load(text).partition()
    np.testing.assert_array_equal(parts.simulate(*inputs)[0], run(text, *inputs)[0])


def test_ops_inside_stay_on_the_device():
    """C++ lets one device wait in it for a sum that the others never come to."""
    text = (
        program(0).split("func.func")[0]
        + f"""
    func.func @main(%a: {T}, %p: tensor<i1>) -> {T} {{
      %0 = "stablehlo.if"(%p) ({{
        %1 = stablehlo.negate %a {_on("d3")} : {T}
        stablehlo.return %1 : {T}
      }}, {{ stablehlo.return %a : {T} }}) {_on("d3")} : (tensor<i1>) -> {T}
      return %0 : {T}
    }}"""
    )
    after = run_passes(text, NAME)
    assert after.count("sdy.all_reduce") == after.count("partition_id") == 1
    with pytest.raises(CompileError, match="on device 3, inside of an op on 0"):
        run_passes(
            text.replace("@d3, []>]>} : (tensor<i1>)", "@d0, []>]>} : (tensor<i1>)"),
            NAME,
        )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"%0:2 = stablehlo.custom_call @f(%a) {_on('d0', 'd3')} : ({T}) -> ({T}, {T})",
         "its results lie on several devices"),
        (f"%0 = stablehlo.negate %s {_on('d0')} : {T}", "a part of its operand"),
        (f"%1 = sdy.reshard %s <@d0, []> : {T}\n"
         f"%0 = stablehlo.negate %1 {_on('d0')} : {T}", "a part of its operand"),
    ],
)  # fmt: skip
def test_refused(body: str, message: str):
    sharded = f'%s: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}'
    text = f"{MESHES}func.func @main(%a: {T}, {sharded}) {{\n{body}\nreturn\n}}"
    with pytest.raises(CompileError, match=message):
        run_passes(text, NAME)


def test_replicas_and_partitions_at_once():
    text = f"{MESHES}func.func @main(%a: {T}) {{\n%0 = stablehlo.negate %a {_on('d0')} : {T}\nreturn\n}}"
    with pytest.raises(UnsupportedError, match="at once"):
        run_passes(text, f"{NAME}{{replica-count=2 partition-count=2}}")
