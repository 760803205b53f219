"""Programs as today's JAX writes them: read, partitioned, and the numbers of its XLA.

The suite runs on the oldest JAX that we know; the newest needs a newer Python (see
`newest`).
"""

import pytest

from tests.differential.corpus import Program, programs
from tests.differential.forms import compare_forms
from tests.differential.oracle import Oracle
from tests.differential.partitioning import arguments_of, only_moves, reason_of
from tests.differential.test_partitioning import UNSPECIFIED
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.loading.program import make_context, parse_program

SOME = (
    "abs_complex64", "all_to_all", "chlo_asin_grad", "clamp_grad", "fori",
    "pmean_tree", "scan_nested", "shard_map_grad", "shard_map_partial", "symbolic_take",
)  # fmt: skip
"""Programs that 0.12 writes otherwise than 0.10, one of each kind."""


def check(program: Program, xla: Oracle) -> str | None:
    """Read a program in each form, and hold its numbers against XLA's.

    Returns:
        Why some are not compared, None if all are.

    Raises:
        Exception: it is not read or not partitioned, or a number is wrong.
    """
    for text in (program.pretty, program.generic, program.debug):
        parse_program(text, context=make_context())
    if "symbolic" in program.name:
        return None
    module = parse_program(program.pretty)
    tagged = only_moves(module)
    try:
        arguments = arguments_of(module, len(program.name), tagged=tagged)
    except UnsupportedError as error:
        return reason_of(error)
    compute = None
    if program.name not in UNSPECIFIED:
        compute = lambda text: xla.compute(text, arguments)  # noqa: E731
    outcomes = compare_forms(module, arguments, compute, tagged=tagged)
    others = [f"{form}: {what}" for form, what in outcomes if not _is_right(what)]
    return "; ".join(others) or None


def _is_right(outcome: str) -> bool:
    return outcome.startswith("equal") or outcome.endswith("ops for several devices")


def test_some_programs(newest_python: str, newest: Oracle):
    made = programs(*SOME, python=newest_python)
    assert {one.name: check(one, newest) for one in made} == dict.fromkeys(SOME)


NOT_RUN = {
    "debug_callbacks", "ffi", "ffi_alias", "ffi_old", "psum_groups", "pure_callback",
}  # fmt: skip
"""Programs of the corpus that nobody here can run, whichever JAX wrote them."""


@pytest.mark.fuzz
def test_the_corpus(newest_python: str, newest: Oracle):
    wrong: dict[str, str] = {}
    not_run: dict[str, str] = {}
    for program in programs(python=newest_python):
        try:
            if said := check(program, newest):
                not_run[program.name] = said
        except Exception as error:
            wrong[program.name] = f"{type(error).__name__}: {error}"
    assert not wrong
    assert not_run.keys() == NOT_RUN, not_run
