"""Convolutions of groups that are split, as `newest=true`."""

from __future__ import annotations

import pytest

from tests.differential.equal_text import run_ours
from tests.differential.oracle import Oracle
from tests.differential.test_padding import same_numbers

NAME = "sdy-resolve-permutation-factors"
WHOLE = "[{}, {}, {}, {}]"
BATCH, FEATURES = '[{"a"}, {}, {}, {}]', '[{}, {}, {}, {"a"}]'


def convolution(
    shapes: tuple[str, str, str], dims: tuple[str, str, str], batch: int, features: int
) -> str:
    """A convolution of two values that are split; its result is made whole.

    Args:
        shapes: of the image, the kernel and the result.
        dims: how these are split.
        batch: the number of groups of the image's batch.
        features: the number of groups of its features.
    """
    taken = [f"tensor<{shape}xf32>" for shape in shapes]

    def said(axes: str) -> str:
        return f"sdy.sharding = #sdy.sharding_per_value<[<@mesh, {axes}>]>"

    return f"""sdy.mesh @mesh = <["a"=2, "b"=2]>
    func.func @main(%x: {taken[0]}, %k: {taken[1]}) -> {taken[2]} {{
      %0 = sdy.all_slice {dims[0]} %x out_sharding=<@mesh, {dims[0]}> : {taken[0]}
      %1 = sdy.all_slice {dims[1]} %k out_sharding=<@mesh, {dims[1]}> : {taken[1]}
      %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{}} {{batch_group_count = {batch} : i64, feature_group_count = {features} : i64, {said(dims[2])}}} : ({taken[0]}, {taken[1]}) -> {taken[2]}
      %3 = sdy.all_gather {dims[2]} %2 out_sharding=<@mesh, {WHOLE}> : {taken[2]}
      return %3 : {taken[2]}
    }}"""


BY_FEATURES = (FEATURES, FEATURES, FEATURES)
MADE_WHOLE = {
    "features": convolution(("2x4x4x4", "1x1x2x4", "2x4x4x4"), BY_FEATURES, 1, 2),
    "two results a feature": convolution(
        ("2x4x4x4", "1x1x1x8", "2x4x4x8"), BY_FEATURES, 1, 4
    ),
    "batch": convolution(
        ("4x4x4x4", "1x1x4x4", "2x4x4x4"), (BATCH, FEATURES, FEATURES), 2, 1
    ),
}
LEFT = {
    "one result a feature": convolution(
        ("2x4x4x4", "1x1x1x4", "2x4x4x4"), BY_FEATURES, 1, 4
    ),
    "no groups": convolution(
        ("2x4x4x4", "1x1x4x4", "2x4x4x4"), (WHOLE, FEATURES, FEATURES), 1, 1
    ).replace(f"%0 = sdy.all_slice {WHOLE} %x out_sharding=<@mesh, {WHOLE}>", "%0 = stablehlo.negate %x"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*MADE_WHOLE, *LEFT])
def test_groups(name: str) -> None:
    text = {**MADE_WHOLE, **LEFT}[name]
    made = run_ours(text, f"{NAME}{{newest=true}}")
    assert ("sdy.reshard" in made) == (name in MADE_WHOLE)
    assert same_numbers(text, made, 0)


@pytest.mark.parametrize("name", [*MADE_WHOLE, *LEFT])
def test_groups_like_the_newest(newest: Oracle, name: str) -> None:
    text = {**MADE_WHOLE, **LEFT}[name]
    made = newest.run(run_ours(text, f"{NAME}{{newest=true}}"))
    assert made == newest.run(text, NAME)
