"""The same program through each carrier: the text of stage 13 is the same to the letter.

Axes of a mesh that is found from XLA's shardings have names of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from itertools import product

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import ttxdsl
from tests.differential.made_by_jax import EIGHT_DEVICES, made_by_jax
from tests.differential.manual_programs import LOOPS, MANUAL, manual_programs
from tests.differential.oracle import Oracle
from tests.differential.sharded_models import sharded_models
from tests.sampling import sampled
from tests.transforms.frontends.writing import Form, as_gspmd, in_frontend_attributes
from ttxdsl.dialects import sdy
from ttxdsl.loading.program import parse_program, program_text

CARRIERS: dict[str, Callable[[ModuleOp], str]] = {
    "frontend attributes": in_frontend_attributes,
    "meshes in shardings": partial(in_frontend_attributes, inline_meshes=True),
    "results in attributes": partial(in_frontend_attributes, result_calls=False),
    "tiles of iota": partial(as_gspmd, form=Form.IOTA),
    "tiles of lists": partial(as_gspmd, form=Form.LISTED),
    "serialized tiles": partial(as_gspmd, form=Form.SERIALIZED),
}
MODELS = (
    "mlp_fsdp_train_step",
    "transformer_block",
    "scanned_layers",
    "mixture_of_experts",
    "shard_map_inside",
)


def solved(text: str) -> str:
    """The text of stage 13 without names of values, its mesh and axes numbered."""
    module = ttxdsl.load(text).partition().module
    ((name, mesh),) = sdy.mesh_table(module).items()
    for op in module.walk():
        blocks = [block for region in op.regions for block in region.blocks]
        for value in (*op.results, *(arg for block in blocks for arg in block.args)):
            value.name_hint = None
    found = program_text(module).replace(f"@{name}", "@mesh")
    for index, axis in enumerate(mesh.axis_names):
        found = found.replace(f'"{axis}"', f'"axis {index}"')
    found = re.sub(r"stablehlo\.mesh = \{.*?\}\]\}", "", found)
    found = re.sub(r" attributes \{.*?\} \{$", " {", found, count=1, flags=re.MULTILINE)
    return re.sub(r"sdy\.mesh (@mesh = <.*>).*", r"sdy.mesh \1", found)


@cache
def native(name: str) -> str:
    return solved(sharded_models()[name])


# thirteen of thirty: each carrier twice or thrice, and so each model
@pytest.mark.parametrize(("name", "carrier"), sampled(product(MODELS, CARRIERS), 13))
def test_models(name: str, carrier: str) -> None:
    text = CARRIERS[carrier](parse_program(sharded_models()[name]))
    assert "sdy.sharding =" not in text.replace("xla.sdy.sharding =", "")
    assert solved(text) == native(name)


SHARD_MAPS = ("all_axes_gradient", "closure", "several_results", "one_axis_gradient")


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("name", sampled(SHARD_MAPS, 3))
def test_manual_computations(name: str, carrier: str) -> None:
    text = manual_programs()[name].text
    carried = CARRIERS[carrier](parse_program(text))
    assert "sdy.manual_computation(" not in carried
    assert solved(carried) == solved(text)


def sent(program: ttxdsl.Program) -> list[tuple[str, int]]:
    return sorted((one.kind, one.bytes_per_device) for one in program.collectives())


def assert_same_numbers(name: str, exported: str) -> None:
    """JAX's numbers, by the collectives of the program that JAX itself exports."""
    given = manual_programs()[name]
    program = ttxdsl.load(exported).partition()
    for got, wanted in zip(
        program.simulate(*given.arguments), given.results, strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    if name == "ring_matmul" and "xla.sdy." in exported:
        return  # HLO's loop has its values in another order, and propagation goes by it
    assert sent(program) == sent(ttxdsl.load(given.text).partition())


@pytest.mark.parametrize("name", sampled((*LOOPS, *MANUAL), 9))
def test_what_xla_exports(name: str, oracle: Oracle) -> None:
    exported = oracle.through_hlo(manual_programs()[name].text)
    assert "xla.sdy." in exported
    assert_same_numbers(name, exported)


@cache
def of_gspmd(module: str, *options: str) -> dict[str, str]:
    """What JAX exports with Shardy off."""
    off = {"JAX_USE_SHARDY_PARTITIONER": "false"}
    made = made_by_jax(f"tests.differential.{module}", *options, **EIGHT_DEVICES, **off)
    return {one[0]: one[1] for one in made}


@pytest.mark.parametrize("name", sampled((*LOOPS, *MANUAL), 9))
def test_what_jax_exports_without_shardy(name: str) -> None:
    exported = of_gspmd("manual_programs", "--text")[name]
    assert "mhlo.sharding" in exported
    assert_same_numbers(name, exported)


@pytest.mark.parametrize("name", MODELS)
def test_models_without_shardy(name: str) -> None:
    assert solved(of_gspmd("sharded_models")[name]) == native(name)


# XLA writes the choice of experts as an op of MHLO's, which is not StableHLO
@pytest.mark.parametrize("name", sorted({*MODELS} - {"mixture_of_experts"}))
def test_models_through_hlo(name: str, oracle: Oracle) -> None:
    """HLO has other ops, so that the text differs, but not what devices send.

    Which collectives are combined depends on the order of ops, their bytes do not.
    """
    text = sharded_models()[name]
    sides = [Counter[str](), Counter[str]()]
    for side, one in zip(sides, (oracle.through_hlo(text), text), strict=True):
        for kind, size in sent(ttxdsl.load(one).partition()):
            side[kind] += size
    assert sides[0] == sides[1]
