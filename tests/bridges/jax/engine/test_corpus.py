"""JAX's own numbers on its devices: the corpus split at random."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import numpy as np
import pytest

from tests.bridges.jax.engine.devices import DevicesOfJax
from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.corpus import programs
from tests.differential.forms import hold_against, spread
from tests.differential.oracle import Oracle, OracleAborted, OracleRejected
from tests.differential.partitioning import (
    MESHES,
    NOT_RUN,
    REFUSED,
    only_moves,
    reason_of,
    sharded_program,
)
from tests.differential.single_device import single_device_text
from tests.differential.test_partitioning import UNSPECIFIED, arguments_of_program
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, parse_program, program_text
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


def check(
    devices: DevicesOfJax, oracle: Oracle, which: int, mesh: str
) -> Iterator[Outcome]:
    """A program of the corpus on a mesh, against JAX's own numbers of it.

    Those that JAX does not have are the global program's.
    """
    program = programs()[which]
    if "symbolic" in program.name:
        return
    module = sharded_program(program.pretty, MESHES[mesh], f"{program.name} {mesh} 0")
    module = parse_program(program.pretty) if module is None else module
    original = module.clone()
    text = single_device_text(original)
    with collect_remarks():
        try:
            TTStableHLOPipelinePass(verify_each=True).apply(make_context(), module)
        except UnsupportedError as error:
            yield "stage 13", f"{REFUSED}: {reason_of(error)}"
            return
        try:
            arguments = arguments_of_program(which)
            found = devices.run(program_text(module), arguments)
        except UnsupportedError as error:
            yield "devices", f"{NOT_RUN}: {reason_of(error)}"
            return
        except OracleRejected as error:
            yield "devices", f"{REFUSED}: {program.name}: {reason_of(error)}"
            return
        except OracleAborted as error:
            raise AssertionError(f"{program.name} on {mesh}: {error}") from error
        if program.name in UNSPECIFIED:
            yield "devices", f"{NOT_RUN}: nobody says the numbers"
            return
        wanted, whose = None, "JAX's numbers"
        if text is not None:
            with suppress(OracleRejected, OracleAborted):
                wanted = oracle.compute(text, arguments)
        if wanted is None:
            whose = "the global program's numbers"
            try:
                wanted = run_module(original, arguments)
            except Exception as error:
                yield "devices", f"{NOT_RUN}: {reason_of(error)}"
                return
        yield (
            whose,
            hold_against(
                f"{program.name} on {mesh}",
                found,
                [np.asarray(one) for one in wanted],
                lambda: spread(original, arguments),
                exactly=only_moves(original),
                bits=any(
                    op.name == "stablehlo.bitcast_convert" for op in original.walk()
                ),
            ),
        )


def check_of_seed(workers: tuple[DevicesOfJax, Oracle], seed: int) -> Iterator[Outcome]:
    """The program and the mesh of a number; the numbers go round all of them."""
    names = list(MESHES)
    which, mesh = divmod(seed % (len(programs()) * len(names)), len(names))
    return check(*workers, which, names[mesh])


def _workers() -> tuple[DevicesOfJax, Oracle]:
    return DevicesOfJax(), Oracle()


@pytest.mark.fuzz
def test_many_corpus_programs():
    """By default every program on every mesh, once."""
    run_campaign(
        "the corpus on JAX's devices",
        partial(asking, _workers, check_of_seed),
        cases=len(programs()) * len(MESHES),
    )
