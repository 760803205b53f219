"""Which result an argument becomes: aliases, paths, what is given away."""

import pytest

from tests.work import calls
from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.analysis.values.state import results_of_arguments
from ttxdsl.loading.program import parse_program

ALIASED = "tf.aliasing_output = {} : i32"
DONOR = "jax.buffer_donor = true"


def becomes(
    arguments: list[tuple[str, str, str]], results: list[tuple[str, str]]
) -> dict[int, int]:
    """Of a function whose arguments have a path, a type and attributes."""
    given = ", ".join(
        f'%arg{at}: tensor<{kind}> {{{more}}} loc("{path}")'
        for at, (path, kind, more) in enumerate(arguments)
    )
    types = ", ".join(
        f'tensor<{kind}> {{jax.result_info = "{path}"}}' for path, kind in results
    )
    lines = [
        f"%{at} = stablehlo.constant dense<0.0> : tensor<{kind}>"
        for at, (_, kind) in enumerate(results)
    ]
    names = ", ".join(f"%{at}" for at in range(len(results)))
    kinds = ", ".join(f"tensor<{kind}>" for _, kind in results)
    text = f"func.func public @main({given}) -> ({types}) {{\n"
    text += "\n".join([*lines, f"return {names} : {kinds}", "}"])
    (function,) = entry_functions(parse_program(text))
    return results_of_arguments(function)


@pytest.mark.parametrize(
    ("arguments", "results", "right"),
    [
        pytest.param(
            [("a", "4xf32", ALIASED.format(1)), ("b", "4xf32", ALIASED.format(0))],
            [("", "4xf32"), ("", "4xf32")],
            {0: 1, 1: 0},
            id="aliases",
        ),
        pytest.param(
            [
                ("params['w']", "4xf32", ""),
                ("opt[0].mu['w']", "4xf32", ""),
                ("opt[0].nu['w']", "4xf32", ""),
                ("batch['x']", "8xf32", ""),
            ],
            [
                ("result[0]['w']", "4xf32"),
                ("result[1][0].mu['w']", "4xf32"),
                ("result[1][0].nu['w']", "4xf32"),
                ("result[2]", "f32"),
            ],
            {0: 0, 1: 1, 2: 2},
            id="paths",
        ),
        pytest.param(
            [("state['m']['w']", "4xf32", ""), ("state['p']['w']", "4xf32", "")],
            [
                ("result['state']['p']['w']", "4xf32"),
                ("result['state']['m']['w']", "4xf32"),
            ],
            {0: 1, 1: 0},
            id="paths in another order",
        ),
        pytest.param(
            [("params['w']", "4xf32", ""), ("slopes['w']", "4xf32", "")],
            [("result['w']", "4xf32")],
            {},
            id="two have the path",
        ),
        pytest.param(
            [("params['w']", "4xf32", DONOR), ("slopes['w']", "4xf32", "")],
            [("result['w']", "4xf32")],
            {0: 0},
            id="two have the path and one is given away",
        ),
        pytest.param(
            [("w", "4xf32", DONOR), ("v", "8xf32", DONOR), ("x", "4xf32", "")],
            [("result[0]", "8xf32"), ("result[1]", "4xf32")],
            {0: 1, 1: 0},
            id="types of what is given away",
        ),
        pytest.param(
            [("w", "4xf32", DONOR)],
            [("result[0]", "4xf32"), ("result[1]", "4xf32")],
            {},
            id="two results of the type",
        ),
        pytest.param(
            [("xs[0]", "4xf32", ""), ("xs[1]", "4xf32", "")],
            [("result[0]", "4xf32"), ("result[1]", "4xf32")],
            {},
            id="places in a tuple are no names",
        ),
        pytest.param(
            [("params['w']", "4xbf16", "")],
            [("result['w']", "4xf32")],
            {},
            id="another type",
        ),
    ],
)
def test_results_of_arguments(
    arguments: list[tuple[str, str, str]],
    results: list[tuple[str, str]],
    right: dict[int, int],
):
    assert becomes(arguments, results) == right


def test_many_arguments_are_paired_in_linear_time() -> None:
    def work(count: int) -> int:
        paths = [f"['layer_{at}']['w']" for at in range(count)]
        given = ", ".join(
            f'%arg{at}: tensor<4xf32> loc("params{path}")'
            for at, path in enumerate(paths)
        )
        types = ", ".join(
            f'tensor<4xf32> {{jax.result_info = "result{path}"}}' for path in paths
        )
        names = ", ".join(f"%arg{at}" for at in range(count))
        kinds = ", ".join(["tensor<4xf32>"] * count)
        (function,) = entry_functions(
            parse_program(
                f"func.func public @main({given}) -> ({types}) {{\n"
                f"return {names} : {kinds}\n}}"
            )
        )
        assert results_of_arguments(function) == {at: at for at in range(count)}
        return calls(lambda: results_of_arguments(function))

    assert work(200) < 2.5 * work(100)
