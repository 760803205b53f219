"""Programs before and after a pass, held together on the virtual mesh."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, parse_program, program_text
from ttxdsl.universe import PASSES, load

Array = NDArray[Any]


def after(text: str, name: str) -> str:
    """The verified program after the pass of that name, as text."""
    module = parse_program(text)
    with collect_remarks():
        load(PASSES[name])().apply(make_context(), module)
    module.verify()
    return program_text(module)


def ops_of(text: str) -> list[str]:
    """The names of all ops in a program."""
    return [op.name for op in parse_program(text).walk()]


def run(text: str, arguments: Sequence[Array]) -> Sequence[Array]:
    """The results of a program."""
    module: ModuleOp = parse_program(text)
    with collect_remarks():
        return run_module(module, arguments)


def assert_numbers_stay(
    text: str, name: str, *arguments: Array, tolerance: float = 0.0
) -> str:
    """A pass changes the text of a program and none of its numbers; the new text."""
    new = after(text, name)
    assert new != program_text(parse_program(text))
    for found, wanted in zip(run(new, arguments), run(text, arguments), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(
            found.astype(complex) if found.dtype.kind == "c" else found.astype(float),
            wanted.astype(complex)
            if wanted.dtype.kind == "c"
            else wanted.astype(float),
            rtol=tolerance,
            atol=tolerance,
        )
    return new


def on_mesh(
    mesh: str, shapes: tuple[str, str], shardings: tuple[str, str], body: str
) -> str:
    """A program of one manual computation.

    Args:
        mesh: its axes, `"x"=2, "y"=4`.
        shapes: of the argument and the result, global, with the element type.
        shardings: of both, `{"x"}, {}`.
        body: from `%a`, the local argument, to its `sdy.return`; the block argument's type
            stands in front, followed by a colon.
    """
    local, ops = body.split(":", 1)
    names = ", ".join(part.split("=")[0].strip() for part in mesh.split(","))
    return f"""
sdy.mesh @mesh = <[{mesh}]>
func.func public @main(%0: tensor<{shapes[0]}> {{ttcore.shard_status = #ttcore.shard_status<sharded>}}) -> tensor<{shapes[1]}> {{
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{shardings[0]}]>] out_shardings=[<@mesh, [{shardings[1]}]>] manual_axes={{{names}}} (%a: tensor<{local}>) {{
    {ops}
  }} : (tensor<{shapes[0]}>) -> tensor<{shapes[1]}>
  return %1 : tensor<{shapes[1]}>
}}"""
