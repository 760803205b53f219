"""Lower a program and compare what ttir and ttnn compute with what it computed."""

from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tests.dialects.tt_text import parse
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.conversion.stablehlo_to_ttir.convert import convert_stablehlo_to_ttir
from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.kernels.elements import tensor_of
from ttxdsl.interpreters.runtime.run import run_module

Array = np.ndarray[Any, Any]


def random_inputs(module: ModuleOp, seed: int = 0) -> list[Array]:
    """Inputs of the entry function; small integers, so that they can be indices."""
    function: FuncOp = entry_function(module)
    random = np.random.default_rng(seed)
    inputs: list[Array] = []
    for type in function.function_type.inputs:
        shape, dtype = tensor_of(type)
        if dtype.kind == "b":
            inputs.append(random.integers(0, 2, shape).astype(dtype))
        elif dtype.kind in "iu":
            inputs.append(random.integers(0, 6, shape).astype(dtype))
        elif dtype.kind == "c":
            parts = random.standard_normal((2, *shape))
            inputs.append((parts[0] + 1j * parts[1]).astype(dtype))
        else:
            inputs.append(np.asarray(random.standard_normal(shape)).astype(dtype))
    return inputs


def to_ttir(text: str) -> ModuleOp:
    """A program in ttir, verified."""
    module = parse(text)
    with collect_remarks():
        convert_stablehlo_to_ttir(module)
    module.verify()
    return module


def to_ttnn(text: str, num_links: int = 1) -> ModuleOp:
    """A program in ttnn, verified."""
    module = to_ttir(text)
    convert_ttir_to_ttnn(module, num_links)
    module.verify()
    return module


def assert_close(got: Array, wanted: Array) -> None:
    """Equal type, shape and (for the element type's precision) values."""
    assert got.shape == wanted.shape
    assert got.dtype == wanted.dtype
    coarse = wanted.dtype.itemsize < 4 and wanted.dtype.kind not in "iub"
    bound = 3e-2 if coarse else 1e-4
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        np.asarray(got, wide), np.asarray(wanted, wide), rtol=bound, atol=bound
    )


def assert_same_numbers(text: str, inputs: list[Array] | None = None) -> ModuleOp:
    """Run the program as it is, in ttir and in ttnn; all agree.

    The lowered modules are printed and read again first. Answers with the ttnn module.
    """
    program = parse(text)
    given = random_inputs(program) if inputs is None else inputs
    wanted = run_module(program, given)
    lowered = parse(str(to_ttir(text)))
    for got, value in zip(run_module(lowered, given), wanted, strict=True):
        assert_close(got, value)
    convert_ttir_to_ttnn(lowered)
    lowered.verify()
    lowered = parse(str(lowered))
    for got, value in zip(run_module(lowered, given), wanted, strict=True):
        assert_close(got, value)
    return lowered


def op_names(module: ModuleOp) -> list[str]:
    """The names of all ops, in order."""
    return [op.name for op in module.walk()]
