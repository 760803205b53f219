"""Ops of ttir and ttnn: read, printed, taken by MLIR, and run beside NumPy."""

import numpy as np
import pytest

from tests.catalogue.tt import USES, TTUse
from tests.dialects.tt_text import parse
from tests.differential.oracle import Oracle
from ttxdsl.dialects import ttir, ttnn
from ttxdsl.dialects._tt.elementwise import ELEMENTWISE
from ttxdsl.interpreters.runtime.run import run_module


@pytest.mark.parametrize(
    "use", USES, ids=lambda use: f"{use.dialect}.{use.op} {use.properties}"
)
@pytest.mark.usefixtures("no_warnings")
def test_use(oracle: Oracle, use: TTUse):
    module = parse(use.text)
    text = str(module)
    assert parse(text).is_structurally_equivalent(module)
    oracle.run(text.replace("builtin.module", "module"))
    (found,) = run_module(module, use.inputs)
    np.testing.assert_allclose(found, use.wanted, rtol=use.rtol, atol=1e-6)


def test_every_elementwise_op_is_in_both_dialects():
    assert {spec.ttir for spec in ELEMENTWISE} <= {use.op for use in USES}
    for spec in ELEMENTWISE:
        assert ttir.ELEMENTWISE_OPS[spec.ttir].__doc__ == spec.summary
        assert ttnn.ELEMENTWISE_OPS[spec.ttir].name == f"ttnn.{spec.ttnn}"
