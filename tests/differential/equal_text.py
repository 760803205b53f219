"""Whether our passes answer with the same text as the C++ passes."""

import difflib
from collections.abc import Callable
from functools import cache, lru_cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from tests.differential.oracle import Oracle
from ttxdsl.diagnostics.remarks import collect_remarks


@cache
def _universe() -> Universe:
    # looking for installed universes takes longer than many a pass
    return Universe.get_multiverse()


@lru_cache(maxsize=16)
def _parsed(text: str) -> tuple[Context, ModuleOp]:
    context = Context()
    for name, factory in _universe().all_dialects.items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    module.verify()
    return context, module


def run_ours(text: str, pipeline: str) -> str:
    """Parse and verify a module, run passes as `xdsl-opt -p` does, and print it."""
    context, module = _parsed(text)
    module = module.clone()
    with collect_remarks():
        PassPipeline.parse_spec(_universe().all_passes, pipeline).apply(context, module)
    module.verify()
    return str(module)


def assert_equal_text(
    oracle: Oracle,
    text: str,
    pipeline: str,
    theirs: str | None = None,
    *,
    normal: Callable[[str], str] = str,
) -> None:
    """Both sides, run on the same text, print the same.

    Args:
        oracle: the C++ side.
        text: the input; the C++ side's print of it is what both are given.
        pipeline: our passes.
        theirs: the C++ side's passes if they are written otherwise.
        normal: brings what both print to one form, where C++ has no fixed order.

    Raises:
        AssertionError: with input, expected and actual text.
    """
    text = oracle.run(text)
    expected = oracle.run(text, theirs or pipeline)
    assert_answers(oracle, text, pipeline, expected, normal=normal)


def assert_answers(
    oracle: Oracle,
    text: str,
    pipeline: str,
    expected: str,
    *,
    normal: Callable[[str], str] = str,
) -> None:
    """Our passes answer with `expected`, which C++ has printed; see there."""
    expected = normal(expected)
    actual = normal(oracle.run(run_ours(text, pipeline)))
    if actual != expected:
        difference = "\n".join(
            difflib.unified_diff(
                expected.splitlines(), actual.splitlines(), "C++", "ours", lineterm=""
            )
        )
        raise AssertionError(f"{pipeline} differs\n{difference}\n\n--- input\n{text}")
