"""JAX's linear algebra: what it computes, with its batch split over four devices.

JAX's CPU takes LAPACK from SciPy, so numbers are equal to the last bit or nearly so.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as scipy_linalg
import numpy as np
import pytest
from jax.lax import linalg
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

from tests.sampling import sampled
from ttxdsl.api import Program, program_of
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.linalg import ROUTINE_OF, ROUTINES
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import parse_program

SQUARE, TALL, WIDE, VECTOR = (8, 4, 4), (8, 5, 3), (8, 3, 5), (8, 4)
RIGHT, ABOVE = (8, 4, 2), (8, 2, 4)


def positive(f: Callable[..., Any]) -> Callable[..., Any]:
    """Of a Hermitian matrix whose eigenvalues are positive."""

    def of(a: Any, *rest: Any) -> Any:
        return f(
            a @ a.swapaxes(-1, -2).conj() + jnp.eye(a.shape[-1], dtype=a.dtype), *rest
        )

    return of


def svd(**options: Any) -> Callable[..., Any]:
    return partial(linalg.svd, **options)


def solve(**options: Any) -> Callable[..., Any]:
    return partial(linalg.triangular_solve, **options)


ROUTINE_CASES: dict[str, tuple[Any, ...]] = {
    "potrf": (positive(jnp.linalg.cholesky), SQUARE),
    "potrf, not definite": (jnp.linalg.cholesky, SQUARE),
    "getrf": (linalg.lu, TALL),
    "getrf, wide": (linalg.lu, WIDE),
    "geqrf": (partial(jnp.linalg.qr, mode="complete"), TALL),
    "geqrf, wide": (jnp.linalg.qr, WIDE),
    "geqp3": (partial(linalg.qr, pivoting=True), TALL),
    "orgqr": (linalg.householder_product, TALL, (8, 3)),
    "ormqr": (partial(linalg.ormqr, left=False, transpose=True), TALL, (8, 3), (8, 2, 5)),
    "gesdd": (svd(), TALL),
    "gesdd, thin": (svd(full_matrices=False), WIDE),
    "gesdd, values": (svd(compute_uv=False), TALL),
    "gesvd": (svd(algorithm=linalg.SvdAlgorithm.QR), WIDE),
    "syevd": (positive(linalg.eigh), SQUARE),
    "syevd, upper": (partial(linalg.eigh, lower=False, symmetrize_input=False), SQUARE),
    "geev": (linalg.eig, SQUARE),
    "geev, left": (partial(linalg.eig, compute_right_eigenvectors=False), SQUARE),
    "gees": (linalg.schur, SQUARE),
    "gees, values": (partial(linalg.schur, compute_schur_vectors=False), SQUARE),
    "gehrd": (linalg.hessenberg, SQUARE),
    "sytrd": (linalg.tridiagonal, SQUARE),
    "sytrd, upper": (partial(linalg.tridiagonal, lower=False), SQUARE),
    "gtsv": (linalg.tridiagonal_solve, VECTOR, VECTOR, VECTOR, RIGHT),
    "gtsv_perturbed": (partial(linalg.tridiagonal_solve, perturb_singular=True), VECTOR, VECTOR, VECTOR, RIGHT),
    "trsm": (solve(left_side=True, lower=True), SQUARE, RIGHT),
    "trsm, right": (solve(transpose_a=True, unit_diagonal=True), SQUARE, ABOVE),
    "trsm, adjoint": (solve(left_side=True, transpose_a=True, conjugate_a=True), SQUARE, RIGHT),
}  # fmt: skip
"""By routine, then option."""


@pytest.fixture(autouse=True)
def wide_numbers() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


def program(
    f: Callable[..., Any],
    values: list[Any],
    *axes: str | None,
    platform: str = "cpu",
    ends: bool = False,
) -> Program:
    """What JAX writes for a platform, its arguments split along `axes` of a mesh."""
    mesh = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,))
    where = NamedSharding(mesh, P(*axes))
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=where) for a in values]
    jitted: Any = jax.jit(f, out_shardings=where if ends else None)
    lowered = jitted.trace(*shapes).lower(lowering_platforms=(platform,))
    return program_of(parse_program(lowered.as_text(), "<jax>"), "<jax>")


def numbers(dtype: str, *shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(1)
    made = [rng.normal(size=shape) for shape in shapes]
    if np.dtype(dtype).kind == "c":
        made = [one + 1j * rng.normal(size=one.shape) for one in made]
    return [one.astype(dtype) for one in made]


def targets(of: Program) -> set[str]:
    calls = ops_of_type(of.module, stablehlo.CustomCallOp)
    return {call.call_target_name.data for call in calls}


def assert_equal(found: list[Any], wanted: list[Any], dtype: Any) -> None:
    steps = 100 * np.finfo(dtype).eps
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=steps, atol=steps)


def assert_as_jax(f: Callable[..., Any], values: list[Any]) -> Program:
    """Split, its numbers are JAX's, and no device asks another."""
    wanted = [np.asarray(one) for one in jax.tree.leaves(jax.jit(f)(*values))]
    whole = program(f, values, "x", ends=True)
    split = whole.partition()
    assert split.collectives() == []
    assert_equal(list(split.simulate(*values)), wanted, values[0].dtype)
    return whole


@pytest.mark.parametrize("dtype", sampled(["complex128", "float32"], 1))
@pytest.mark.parametrize("name", ROUTINE_CASES)
def test_routine(name: str, dtype: str):
    f, *shapes = ROUTINE_CASES[name]
    made = assert_as_jax(f, numbers(dtype, *shapes))
    assert name.split(",")[0] in {ROUTINE_OF[target] for target in targets(made)}


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("name", ["potrf", "geev", "gesdd", "syevd", "orgqr"])
def test_other_letters(name: str, dtype: str):
    f, *shapes = ROUTINE_CASES[name]
    assert_as_jax(f, numbers(dtype, *shapes))


def test_every_routine_of_the_cpu_is_called():
    called = {name.split(",")[0] for name in ROUTINE_CASES}
    of_cpu = {r for r, t in ROUTINES.items() if t[0].startswith("lapack_")}
    assert called == of_cpu | {"gtsv_perturbed"}


@pytest.mark.parametrize(
    ("f", "shapes"),
    [
        (jnp.linalg.solve, (SQUARE, RIGHT)),
        (jnp.linalg.slogdet, (SQUARE,)),
        (jnp.linalg.pinv, (TALL,)),
        (jnp.linalg.cond, (TALL,)),
        (jax.vmap(jnp.linalg.lstsq), (TALL, (8, 5, 2))),
        (jax.vmap(scipy_linalg.expm), (SQUARE,)),
        (jax.vmap(partial(scipy_linalg.schur, output="complex")), (SQUARE,)),
        (jax.grad(lambda a: jnp.linalg.slogdet(a)[1].sum()), (SQUARE,)),
    ],
    ids=["solve", "slogdet", "pinv", "cond", "lstsq", "expm", "schur", "grad"],
)
def test_what_is_made_of_them(f: Callable[..., Any], shapes: tuple[Any, ...]):
    assert_as_jax(f, numbers("float32", *shapes))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["potrf", "getrf", "geev", "gesdd", "syevd", "gees"])
def test_what_fails_is_told_by_info(name: str, bad: float):
    """One bad matrix, one of ones, one of zeros: JAX puts NaN by what `info` says."""
    f, *shapes = ROUTINE_CASES[name]
    (values,) = numbers("float64", *shapes)
    values[0, 1, 2], values[1], values[2] = bad, 1, 0
    wanted = [np.asarray(one) for one in jax.tree.leaves(jax.jit(f)(values))]
    found = program(f, [values], "x").simulate(values)
    for one, other in zip(found, wanted, strict=True):
        assert (np.isnan(one) == np.isnan(other)).all()
        np.testing.assert_allclose(one[3:], other[3:], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0), (2, 1, 1), (2, 2, 3, 3)])
@pytest.mark.parametrize("name", ["getrf", "geqrf", "syevd", "gees"])
def test_batches_and_matrices_of_any_size(name: str, shape: tuple[int, ...]):
    f = ROUTINE_CASES[name][0]
    (values,) = numbers("float64", shape)
    wanted = [np.asarray(one) for one in jax.tree.leaves(jax.jit(f)(values))]
    assert_equal(list(program(f, [values]).simulate(values)), wanted, values.dtype)


@pytest.mark.parametrize("diagonal", [[1, 2, 1], [1, 0, 0], [0, 0, 0], [1, 5, 1]])
def test_singular_tridiagonal(diagonal: list[float]):
    f = partial(linalg.tridiagonal_solve, perturb_singular=True)
    d = np.array(diagonal, np.float64)
    values = [d.clip(0, 1), d, d.clip(0, 1), np.ones((3, 1))]
    found = program(f, values).simulate(*values)
    assert_equal(list(found), [np.asarray(f(*values))], d.dtype)


OTHER_PLATFORMS = [
    ("tpu", linalg.lu, (TALL,), "LuDecomposition"),
    ("tpu", jnp.linalg.qr, (TALL,), "Qr"),
    ("tpu", positive(partial(linalg.eigh, implementation=linalg.EighImplementation.JACOBI)), (SQUARE,), "Eigh"),
    ("cuda", linalg.lu, (WIDE,), "cu_lu_pivots_to_permutation"),
    ("cuda", positive(jnp.linalg.cholesky), (SQUARE,), "cusolver_potrf_ffi"),
    ("cuda", positive(linalg.eigh), (SQUARE,), "cusolver_syevd_ffi"),
    ("cuda", svd(), (TALL,), "cusolver_gesvdj_ffi"),
    ("cuda", svd(algorithm=linalg.SvdAlgorithm.QR), (WIDE,), "cusolver_gesvd_ffi"),
    ("cuda", linalg.eig, (SQUARE,), "cuhybrid_eig_real"),
    ("cuda", linalg.tridiagonal_solve, (VECTOR, VECTOR, VECTOR, RIGHT), "cusparse_gtsv2_ffi"),
    ("rocm", linalg.tridiagonal, (SQUARE,), "hipsolver_sytrd_ffi"),
    ("cuda", partial(linalg.symmetric_product, alpha=2.0, beta=0.5), ((8, 4, 3), SQUARE), "cusolver_syrk_ffi"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("platform", "f", "shapes", "target"),
    OTHER_PLATFORMS,
    ids=[target for *_, target in OTHER_PLATFORMS],
)
def test_other_platforms(
    platform: str, f: Callable[..., Any], shapes: tuple[Any, ...], target: str
):
    values = numbers("float32", *shapes)
    whole = program(f, values, "x", platform=platform, ends=True)
    assert target in targets(whole)
    # JAX's CPU has no Jacobi, which says nothing of the numbers
    on_cpu = positive(linalg.eigh) if target == "Eigh" else f
    wanted = [np.asarray(one) for one in jax.tree.leaves(on_cpu(*values))]
    split = whole.partition()
    assert split.collectives() == []
    assert_equal(list(split.simulate(*values)), wanted, np.float32)


@pytest.mark.parametrize("platform", ["cpu", "tpu"])
@pytest.mark.parametrize("axes", [(None, "x"), (None, None, "x")])
def test_matrices_are_gathered_first(axes: tuple[str | None, ...], platform: str):
    (values,) = numbers("float32", (2, 4, 4))
    split = program(linalg.lu, [values], *axes, platform=platform).partition()
    assert [one.kind for one in split.collectives()] == ["all_gather"]
    wanted = [np.asarray(one) for one in linalg.lu(values)]
    assert_equal(list(split.simulate(values)), wanted, np.float32)


@pytest.mark.parametrize("form", ["ttir", "ttnn"])
def test_the_virtual_mesh_runs_them_in_every_form(form: Any):
    (values,) = numbers("float32", SQUARE)
    lowered = program(jnp.linalg.inv, [values], "x").lower(form)
    assert f"{form}.custom_call" in lowered.text
    wanted = [np.asarray(jnp.linalg.inv(values))]
    assert_equal(list(lowered.simulate(values)), wanted, np.float32)
