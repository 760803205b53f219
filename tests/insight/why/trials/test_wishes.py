"""Causes first, wishes, and the lines that make a difference."""

import re
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

import ttxdsl
from ttxdsl.cli.main import main
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.why.answers import WhyNot
from ttxdsl.insight.why.trials.wishes import parse_wish


def layer(x: jax.Array, w: jax.Array, v: jax.Array) -> jax.Array:
    """Two products, of which the second sums over what the first splits."""
    return jnp.tanh(x @ w) @ v


def step(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    """One layer."""
    return layer(x, p["w"], p["v"])


@cache
def text_of(second: tuple[str | None, ...]) -> str:
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def array(shape: tuple[int, ...], *axes: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(
            shape, jnp.float32, sharding=NamedSharding(mesh, P(*axes))
        )

    p = {"w": array((64, 256), None, "model"), "v": array((256, 64), *second)}
    return jax.jit(step).lower(p, array((16, 64), "data")).as_text(debug_info=True)


SUMMED = ("model", None)


def test_causes_come_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "step.mlir"
    path.write_text(text_of(SUMMED))
    assert main(["why", str(path)]) == 0
    lines = capsys.readouterr().out.split("\n")
    head = next(at for at, line in enumerate(lines) if line.startswith("what costs"))
    assert (
        " of layer: " in lines[head + 1]
        and "1 all_reduce over model" in lines[head + 1]
    )
    assert "p['w']" in lines[head + 1] or "p['v']" in lines[head + 1]
    assert head < next(at for at, line in enumerate(lines) if "Collectives" in line)


def test_a_wish_is_compiled_and_told_what_is_against_it():
    program = ttxdsl.load(text_of(SUMMED))
    answer = program.why(not_="p['v']=P(None, None)")
    assert isinstance(answer, WhyNot) and answer.outcome is not None
    wished = ttxdsl.load(text_of((None, None))).partition()
    sent = sum(one.bytes_per_device for one in wished.collectives())
    assert answer.outcome.figures.bytes == sent
    assert any("dimension 0 is split by model" in text for text in answer.against)


def test_a_wish_that_is_so_has_nothing_against_it():
    answer = ttxdsl.load(text_of(SUMMED)).why(not_="p['v']=P('model')")
    assert isinstance(answer, WhyNot)
    assert answer.against == ()


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ('x=P("data", None)', (("data",), ())),
        ("p['w'] = PartitionSpec(('data', 'model'))", (("data", "model"),)),
        ("%42=jax.P()", ()),
    ],
)
def test_wishes(text: str, spec: tuple[tuple[str, ...], ...]):
    assert parse_wish(text)[1] == spec


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ("x", "says no sharding"),
        ("x=P(3)", "says no sharding"),
        ("x=P('data', 'model', None)", "P has 3 entries for a value of 2"),
        ("x=P('rows')", "no mesh has the axes rows"),
        ("nobody=P('data')", "there is no value"),
    ],
)
def test_wishes_that_are_refused(wish: str, message: str):
    with pytest.raises(CompileError, match=message):
        ttxdsl.load(text_of(SUMMED)).why(not_=wish)


def test_a_value_of_a_wish_goes_by_what_answers_call_it():
    program = ttxdsl.load(text_of(SUMMED))
    told = str(program.why(not_="%1=P('data')")).splitlines()
    (name,) = re.findall(r"tanh at line \d+ of layer", told[1])
    for called in (name, "tanh"):
        assert str(program.why(not_=f"{called}=P('data')")).splitlines()[1:] == told[1:]
    with pytest.raises(CompileError, match=r"is the name of 2 values\n.* %0, %2"):
        program.why(not_=f"{name.replace('tanh', 'dot_general')}=P('data')")


def test_between(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    before, after = tmp_path / "before.mlir", tmp_path / "after.mlir"
    before.write_text(text_of(SUMMED))
    after.write_text(text_of(("data", None)))
    assert main(["why", str(before), "--between", str(after)]) == 0
    out = capsys.readouterr().out
    assert "of layer: " in out and "- " in out
    assert main(["why", str(before), "--between", str(before)]) == 0
    assert "no line sends otherwise" in capsys.readouterr().out
