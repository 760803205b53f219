"""`align-collectives`: collectives along one mesh axis each, or as exchanges."""

import numpy as np
import pytest

from tests.bridges.tt_mlir.legalize.same_numbers import (
    after,
    assert_numbers_stay,
    on_mesh,
    ops_of,
)
from tests.sampling import sampled
from ttxdsl.diagnostics.errors import UnsupportedError

VALUES = np.random.default_rng(1).integers(-9, 9, (8, 4)).astype(np.float32)
GROUPS = {
    "rows": "[[0, 1, 2, 3], [4, 5, 6, 7]]",
    "columns": "[[0, 4], [1, 5], [2, 6], [3, 7]]",
    "halves of rows": "[[0, 2], [1, 3], [4, 6], [5, 7]]",
    "all": "[[0, 1, 2, 3, 4, 5, 6, 7]]",
    "all, in another order": "[[0, 4, 1, 5, 2, 6, 3, 7]]",
    "alone": "[[0], [1], [2], [3], [4], [5], [6], [7]]",
    "odd": "[[0, 7], [1, 6], [5, 2], [4, 3]]",
}
MESHES = '"x"=2, "y"=4', '"x"=8'
STRAIGHT = {('"x"=2, "y"=4', g) for g in ("rows", "columns", "all")} | {
    ('"x"=8', "all")
}


def dense(groups: str) -> str:
    count, size = groups.count("[") - 1, groups.count(",") + 1
    return f"dense<{groups}> : tensor<{count}x{size // count}xi64>"


def per_device(mesh: str, local: str, ops: str, result: str) -> str:
    """What each device makes of its row of eight; results one after another."""
    axes = "{" + ", ".join(part.split("=")[0] for part in mesh.split(", ")) + "}"
    rows, rest = result.split("x", 1)
    return on_mesh(
        mesh,
        ("8x4xf32", f"{8 * int(rows)}x{rest}"),
        (f"{axes}, {{}}", f"{axes}, {{}}"),
        f"1x4xf32: {ops}",
    ).replace("tensor<1x4xf32>", f"tensor<{local}>")


def reducing(op: str, element: str = "f32") -> str:
    return f"""({{ ^bb0(%p: tensor<{element}>, %q: tensor<{element}>):
      %r = stablehlo.{op} %p, %q : tensor<{element}>
      stablehlo.return %r : tensor<{element}> }})"""


CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids"


@pytest.mark.parametrize("mesh", sampled(MESHES, 1))
@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("op", ["add", "maximum", "multiply"])
def test_all_reduce(mesh: str, name: str, op: str):
    ops = f"""%b = "stablehlo.all_reduce"(%a) <{{replica_groups = {dense(GROUPS[name])}, {CHANNEL}}}> {reducing(op)} : (tensor<1x4xf32>) -> tensor<1x4xf32>
    sdy.return %b : tensor<1x4xf32>"""
    text = per_device(mesh, "1x4xf32", ops, "1x4xf32")
    new = after(text, "align-collectives")
    if op != "multiply" and (name == "rows" or name == "all") and len(mesh) > 8:
        assert "stablehlo.all_to_all" not in ops_of(new)
    if new != after(text, "mark-borders"):
        assert_numbers_stay(text, "align-collectives", VALUES, tolerance=1e-6)


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("dim", [0, 1])
def test_all_gather(mesh: str, name: str, dim: int):
    size = (GROUPS[name].count(",") + 1) // (GROUPS[name].count("[") - 1)
    shape = [1, 4]
    shape[dim] *= size
    made = f"{shape[0]}x{shape[1]}xf32"
    ops = f"""%b = "stablehlo.all_gather"(%a) <{{all_gather_dim = {dim} : i64, replica_groups = {dense(GROUPS[name])}, {CHANNEL}}}> : (tensor<1x4xf32>) -> tensor<{made}>
    %c = stablehlo.add %b, %b : tensor<{made}>
    sdy.return %c : tensor<{made}>"""
    text = per_device(mesh, "1x4xf32", ops, made)
    new = after(text, "align-collectives")
    straight = (mesh, name) in STRAIGHT or name == "alone"
    assert ("stablehlo.all_to_all" in ops_of(new)) == (not straight)
    if not straight:
        assert_numbers_stay(text, "align-collectives", VALUES)


@pytest.mark.parametrize("mesh", sampled(MESHES, 1))
@pytest.mark.parametrize("name", ["rows", "columns", "halves of rows", "odd"])
@pytest.mark.parametrize("op", ["add", "minimum", "multiply"])
def test_reduce_scatter(mesh: str, name: str, op: str):
    size = (GROUPS[name].count(",") + 1) // (GROUPS[name].count("[") - 1)
    made = f"1x{4 // size}xf32"
    ops = f"""%b = "stablehlo.reduce_scatter"(%a) <{{scatter_dimension = 1 : i64, replica_groups = {dense(GROUPS[name])}, {CHANNEL}}}> {reducing(op)} : (tensor<1x4xf32>) -> tensor<{made}>
    %c = stablehlo.add %b, %b : tensor<{made}>
    sdy.return %c : tensor<{made}>"""
    text = per_device(mesh, "1x4xf32", ops, made)
    # ttnn scatters sums alone
    stays = op == "add" and (mesh, name) in STRAIGHT
    new = after(text, "align-collectives")
    assert ("stablehlo.reduce_scatter" in ops_of(new)) == stays
    if not stays:
        assert_numbers_stay(text, "align-collectives", VALUES, tolerance=1e-6)


def test_groups_of_several_sizes_are_refused():
    groups = "dense<[[0, 1, 2, 3, 4], [5, 6, 7, -1, -1]]> : tensor<2x5xi64>"
    ops = f"""%b = "stablehlo.all_reduce"(%a) <{{replica_groups = {groups}, {CHANNEL}}}> {reducing("add")} : (tensor<1x4xf32>) -> tensor<1x4xf32>
    sdy.return %b : tensor<1x4xf32>"""
    text = per_device('"x"=8', "1x4xf32", ops, "1x4xf32")
    with pytest.raises(UnsupportedError, match="no groups of several sizes"):
        after(text, "align-collectives")
