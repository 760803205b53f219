"""Calls of linear algebra that are not as the routine takes them: one error each."""

import sys

import numpy as np
import pytest

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects.calls.linalg import ROUTINES
from ttxdsl.interpreters.kernels.lapack import KERNELS
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import parse_program

F = "tensor<3x3xf32>"
FACTORS = f"({F}, tensor<i32>)"


def run(target: str, config: str, types: str, *args: object) -> list[np.ndarray]:
    operands, results = types.split(" -> ")
    listed = operands.strip("()").split(", ")
    names = [f"%{index}" for index in range(len(listed))]
    taken = ", ".join(f"{n}: {t}" for n, t in zip(names, listed, strict=True))
    text = f"""func.func @main({taken}) -> {results} {{
      %r:{results.count("tensor")} = stablehlo.custom_call @{target}({", ".join(names)}) {{{config}}} : {types}
      return {", ".join(f"%r#{i}" for i in range(results.count("tensor")))} : {results.strip("()")}
    }}"""
    return list(run_module(parse_program(text), list(args)))


UPLO = "mhlo.backend_config = {uplo = 76 : ui8}"
ONE = np.eye(3, dtype=np.float32)


def test_info_and_pivots_are_lapacks():
    a = np.array([[0, 0], [2, 0]], np.float32)
    types = "(tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xi32>, tensor<i32>)"
    _, pivots, info = run("lapack_sgetrf_ffi", "", types, a)
    assert pivots.tolist() == [2, 2] and info == 2


@pytest.mark.parametrize(
    ("target", "config", "types", "message"),
    [
        ("lapack_spotrf_ffi", "", f"({F}) -> {FACTORS}", "no number uplo"),
        ("lapack_spotrf_ffi", UPLO.replace("76", "65"), f"({F}) -> {FACTORS}", r"uplo = 65, which is none of 76 \(L\), 85 \(U\)"),
        ("lapack_dpotrf_ffi", UPLO, f"({F}) -> {FACTORS}", "does not compute with float32"),
        ("lapack_spotrf_ffi", UPLO, f"({F}, {F}) -> {FACTORS}", "takes 1 operands, got 2"),
        ("lapack_spotrf_ffi", UPLO, "(tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>)", "operands that LAPACK does not take"),
        ("lapack_spotrf_ffi", UPLO, f"({F}) -> {F}", "a matrix, but says"),
        ("lapack_spotrf_ffi", UPLO, f"({F}) -> ({F}, tensor<3xi32>)", "a matrix, but says"),
        ("lapack_spotrf_ffi", UPLO, f"({F}) -> (tensor<3x3xf32>, tensor<f32>)", "a matrix, but says"),
        ("lapack_sgetrf_ffi", "", "(tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xi32>, tensor<i32>)", "of other batches"),
        ("lapack_strsm_ffi", "", "(tensor<2x3x3xf32>, tensor<3x3x3xf32>) -> tensor<2x3x3xf32>", "of other batches"),
        ("lapack_strsm_ffi", "", f"({F}, tensor<3x3xf64>) -> {F}", "does not compute with float32, float64"),
        ("lapack_sgees_ffi", "mhlo.backend_config = {mode = 86 : ui8, sort = 83 : ui8}", f"({F}) -> ({F}, {F}, tensor<3xf32>, tensor<3xf32>, tensor<i32>, tensor<i32>)", "sort = 83"),
        ("lapack_sgeqp3_ffi", "", f"({F}, tensor<3xi32>) -> ({F}, tensor<3xi32>, tensor<3xf32>)", "keeps columns in front"),
        ("Eigh", 'backend_config = ""', f"({F}) -> ({F}, tensor<3xf32>)", "lower,sorted,sweeps,tolerance"),
    ],
)  # fmt: skip
def test_refused(target: str, config: str, types: str, message: str):
    args = [
        np.ones([int(n) for n in one.split("x")[:-1]], one.split("x")[-1].replace("f", "float").replace("i", "int"))
        for one in types.split(" -> ")[0].strip("()").replace("tensor<", "").replace(">", "").split(", ")
    ]  # fmt: skip
    with pytest.raises(UnsupportedError, match=message) as error:
        run(target, config, types, *args)
    assert error.value.op_name == "stablehlo.custom_call"
    assert f"@{target}" in str(error.value)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "scipy.linalg.lapack", None)
    with pytest.raises(
        UnsupportedError, match=r"@lapack_spotrf_ffi needs SciPy"
    ) as error:
        run("lapack_spotrf_ffi", UPLO, f"({F}) -> {FACTORS}", ONE)
    assert error.value.hint == "pip install 'ttxdsl[linalg]'"


def test_every_routine_has_a_kernel():
    assert KERNELS.keys() == ROUTINES.keys()
