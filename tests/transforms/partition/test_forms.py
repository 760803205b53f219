"""Every form of every op on shards, and programs that are sharded in unusual ways.

`forms.mlir` has a program a form; each is split at random over several meshes.
`unusual.mlir` has programs with shardings of their own.
"""

import re
from pathlib import Path

import pytest

from tests.differential.campaign import run_campaign
from tests.differential.partitioning import (
    EQUAL,
    MESHES,
    partition_and_compare,
    sharded_program,
)
from tests.sampling import sampled
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.stages.update_global_to_local_shapes import (
    UpdateGlobalToLocalShapesPass,
)
from ttxdsl.transforms.stages.wrap_under_manual_computation import (
    WrapUnderManualComputationPass,
)

FOLDER = Path(__file__).parent


def _forms() -> dict[str, str]:
    text = (FOLDER / "forms.mlir").read_text()
    _, *functions = re.split(r"(?=^func\.func)", text, flags=re.MULTILINE)
    *public, private = functions
    return {re.findall(r"@(\w+)", f)[0]: f + private * ("@twice" in f) for f in public}


def _unusual() -> dict[str, str]:
    _, *rest = re.split(
        r"^// ----- ", (FOLDER / "unusual.mlir").read_text(), flags=re.M
    )
    return {name.strip(): text for name, text in (one.split("\n", 1) for one in rest)}


FORMS, UNUSUAL = _forms(), _unusual()
OFTEN = ("2x4", "2x2x2", "2x4 reordered")


def check(form: str, mesh: str, seed: int) -> tuple[str, str]:
    module = sharded_program(FORMS[form], MESHES[mesh], f"{form} {mesh} {seed}")
    assert module is not None
    return partition_and_compare(module, seed)


@pytest.mark.parametrize("form", sampled(FORMS, 14))
def test_numbers_of_a_form_stay(form: str):
    for mesh in OFTEN:
        assert check(form, mesh, 0)[0] == EQUAL


@pytest.mark.parametrize("name", UNUSUAL)
def test_numbers_of_an_unusual_program_stay(name: str):
    assert partition_and_compare(parse_program(UNUSUAL[name]), 0)[0] == EQUAL


def check_seed(seed: int) -> list[tuple[str, str]]:
    pairs = [(form, mesh) for form in FORMS for mesh in MESHES]
    form, mesh = pairs[seed % len(pairs)]
    return [check(form, mesh, seed)]


@pytest.mark.fuzz
def test_many_shardings_of_all_forms():
    run_campaign("partitioned forms", check_seed)


def compiled(text: str):
    module = parse_program(text)
    with collect_remarks():
        TTStableHLOPipelinePass(verify_each=True).apply(make_context(), module)
    return module


PLAIN = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
HEAD = 'sdy.mesh @mesh = <["x"=2]>\nsdy.mesh @other = <["x"=2], device_ids=[1, 0]>\nsdy.mesh @single = <[], device_ids=[0]>\n'
T = "tensor<8xf32>"
PAIR = f"tuple<{T}, {T}>"

REFUSED = {
    "arguments on meshes of different order": (
        f"func.func @main(%a: {T} {PLAIN}, %b: {T} {PLAIN.replace('@mesh', '@other')}) -> {T} {{\n"
        f"  %0 = stablehlo.add %a, %b : {T}\n  return %0 : {T}\n}}",
        "on several meshes.*manual computation knows one.*values inside may",
    ),
    "the place of a device in a global program": (
        f"func.func @main(%a: {T} {PLAIN}) -> ({T}, tensor<ui32>) {{\n"
        f"  %0 = stablehlo.partition_id : tensor<ui32>\n  return %a, %0 : {T}, tensor<ui32>\n}}",
        "'stablehlo.partition_id' op.* no meaning in a program that all devices run.*shard_map",
    ),
    "a tuple from outside": (
        f"func.func @main(%a: {PAIR}, %b: {T} {PLAIN}) -> {T} {{\n"
        f"  %0 = stablehlo.get_tuple_element %a[0] : ({PAIR}) -> {T}\n  return %0 : {T}\n}}",
        "does not support tuples",
    ),
    "a tuple that goes out": (
        f"func.func @main(%a: {T} {PLAIN}) -> {PAIR} {{\n"
        f"  %0 = stablehlo.tuple %a, %a : {PAIR}\n  return %0 : {PAIR}\n}}",
        "does not support tuples",
    ),
    "functions that call themselves": (
        f"func.func @main(%a: {T} {PLAIN}) -> {T} {{\n"
        f"  %0 = func.call @f(%a) : ({T}) -> {T}\n  return %0 : {T}\n}}\n"
        f"func.func private @f(%a: {T}) -> {T} {{\n"
        f"  %0 = func.call @f(%a) : ({T}) -> {T}\n  return %0 : {T}\n}}",
        "call",
    ),
    "a function that is only declared": (
        f"func.func @main(%a: {T} {PLAIN}) -> {T} {{\n"
        f"  %0 = func.call @f(%a) : ({T}) -> {T}\n  return %0 : {T}\n}}\n"
        f"func.func private @f({T}) -> {T}",
        "function '@f' is declared but has no body",
    ),
}  # fmt: skip


def test_a_value_on_one_device_is_no_local_one():
    """`unify-meshes` puts it on all of them; who leaves that out is told."""
    text = (
        f"func.func @main(%a: {T} {PLAIN}) -> {T} {{\n"
        f"  %0 = stablehlo.negate %a {{sdy.sharding = #sdy.sharding_per_value<"
        f"[<@single, []>]>}} : {T}\n  return %0 : {T}\n}}"
    )
    ctx, module = make_context(), parse_program(HEAD + text)
    WrapUnderManualComputationPass().apply(ctx, module)
    with pytest.raises(UnsupportedError, match="single device of mesh @single"):
        UpdateGlobalToLocalShapesPass().apply(ctx, module)


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_form_is_refused_with_a_way_out(case: str):
    text, message = REFUSED[case]
    with pytest.raises((CompileError, UnsupportedError)) as error:
        compiled(HEAD + text)
    assert re.search(message, str(error.value), re.DOTALL)
    assert "hint: " in str(error.value)
