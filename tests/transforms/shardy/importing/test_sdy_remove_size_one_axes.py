"""`sdy-remove-size-one-axes` leaves what the C++ pass leaves."""

import pytest

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleRejected
from tests.differential.random_modules import random_module

NAME = "sdy-remove-size-one-axes"
MESH = 'sdy.mesh @mesh = <["a"=4, "one"=1, "b"=2, "uno"=1]>'


def argument(sharding: str, mesh: str = MESH) -> str:
    return (
        f"{mesh}\nfunc.func @f(%x: tensor<8x8xf32> "
        f"{{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}) {{ return }}"
    )


@pytest.mark.parametrize("seed", range(15))
def test_random_modules_like_cpp(oracle: Oracle, seed: int):
    assert_equal_text(oracle, random_module(seed), NAME)


def test_sub_axes_that_become_neighbours_merge(oracle: Oracle):
    """The C++ pass leaves them apart, which its verifier refuses."""
    text = argument('[{"a":(1)2, "one", "a":(2)2}, {"b"}]')
    with pytest.raises(OracleRejected, match="can be merged"):
        oracle.run(text, NAME)
    assert '@mesh, [{"a"}, {"b"}]' in oracle.run(run_ours(text, NAME))


COLLECTIVES = {
    "one axis of several": (
        '[{"a", "one"}, {"b"}]',
        'sdy.all_gather [{"a", "one"}, {}] %x out_sharding=<@mesh, [{}, {"b"}]>',
        'sdy.all_gather [{"a"}, {}] %x out_sharding=<@mesh, [{}, {"b"}]>',
    ),
    "all axes": (
        '[{"a", "one"}, {}]',
        'sdy.all_gather [{"one"}, {}] %x out_sharding=<@mesh, [{"a"}, {}]>',
        None,
    ),
    "one of two moves": (
        '[{"a"}, {"one"}]',
        'sdy.all_to_all [{"one"}: 1->0] %x out_sharding=<@mesh, [{"a", "one"}, {}]>',
        None,
    ),
    "a reduction": (
        '[{"a"}, {}]',
        'sdy.all_reduce {"b", "uno"} %x out_sharding=<@mesh, [{"a"}, {}]>',
        'sdy.all_reduce {"b"} %x out_sharding=<@mesh, [{"a"}, {}]>',
    ),
    "none of size one": (
        '[{"a"}, {}]',
        'sdy.all_slice [{}, {"b"}] %x out_sharding=<@mesh, [{"a"}, {"b"}]>',
        'sdy.all_slice [{}, {"b"}] %x out_sharding=<@mesh, [{"a"}, {"b"}]>',
    ),
}


@pytest.mark.parametrize(
    ("sharding", "op", "left"), COLLECTIVES.values(), ids=COLLECTIVES.keys()
)
def test_collectives(oracle: Oracle, sharding: str, op: str, left: str | None):
    text = (
        f"{MESH}\nfunc.func @f(%x: tensor<8x8xf32> "
        f"{{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}) -> tensor<8x8xf32> {{\n"
        f"  %0 = {op} : tensor<8x8xf32>\n  return %0 : tensor<8x8xf32>\n}}"
    )
    assert oracle.accepts(text)
    ours = run_ours(text, NAME)
    assert oracle.accepts(ours)
    assert '"one"' not in ours.split("\n", 2)[2]
    if left is None:
        assert "sdy.all" not in ours
    else:
        assert left.replace("%x", "%arg0") in oracle.run(ours)
