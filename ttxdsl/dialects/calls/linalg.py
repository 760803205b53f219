"""Custom calls of linear algebra: which routine JAX calls by which target.

JAX writes one target a routine and platform: LAPACK's on the CPU, one an element type;
cuSOLVER's and its relatives on GPUs, `cu…` of CUDA and `hip…` of ROCm; XLA's own on
TPUs. What is before the matrices of a call, in all of its operands and results, are
batches.

Source: `jax.lax.linalg` and what it writes for each platform.
"""

from xdsl.ir import Operation

from ttxdsl.ir.tensors import shape_of


def _lapack(name: str, letters: str = "sdcz") -> tuple[str, ...]:
    """One of f32, f64, complex of f32 and complex of f64 each."""
    return tuple(f"lapack_{letter}{name}_ffi" for letter in letters)


def _gpu(*names: str) -> tuple[str, ...]:
    return tuple(f"{vendor}{name}" for vendor in ("cu", "hip") for name in names)


ROUTINES: dict[str, tuple[str, ...]] = {
    "geev": (*_lapack("geev"), *_gpu("hybrid_eig_real", "hybrid_eig_comp")),
    "geev_packed": _gpu("solver_geev_ffi"),
    "gees": _lapack("gees"),
    "gehrd": _lapack("gehrd"),
    "geqp3": (*_lapack("geqp3"), *_gpu("hybrid_geqp3")),
    "geqrf": (*_lapack("geqrf"), *_gpu("solver_geqrf_ffi"), "Qr"),
    "gesdd": (*_lapack("gesdd"), *_gpu("solver_gesdd_ffi")),
    "gesvd": (*_lapack("gesvd"), *_gpu("solver_gesvd_ffi")),
    "gesvdj": _gpu("solver_gesvdj_ffi", "solver_gesvdp_ffi"),
    "getrf": (*_lapack("getrf"), *_gpu("solver_getrf_ffi")),
    "gtsv": _lapack("gtsv"),
    "gtsv_perturbed": (
        "tridiagonal_solve_perturbed_ffi",
        *_gpu("_tridiagonal_solve_perturbed"),
    ),
    "gtsv_solution": _gpu("sparse_gtsv2_ffi"),
    "lu": ("LuDecomposition",),
    "orgqr": (
        *_lapack("orgqr", "sd"),
        *_lapack("ungqr", "cz"),
        *_gpu("solver_orgqr_ffi"),
        "ProductOfElementaryHouseholderReflectors",
    ),
    "ormqr": (
        *_lapack("ormqr", "sd"),
        *_lapack("unmqr", "cz"),
        *_gpu("solver_ormqr_ffi"),
    ),
    "permutation": _gpu("_lu_pivots_to_permutation"),
    "potrf": (*_lapack("potrf"), *_gpu("solver_potrf_ffi")),
    "syevd": (
        *_lapack("syevd", "sd"),
        *_lapack("heevd", "cz"),
        *_gpu("solver_syevd_ffi"),
        "Eigh",
    ),
    "syrk": _gpu("solver_syrk_ffi"),
    "sytrd": (
        *_lapack("sytrd", "sd"),
        *_lapack("hetrd", "cz"),
        *_gpu("solver_sytrd_ffi"),
    ),
    "trsm": _lapack("trsm"),
}
"""The targets of each routine, which all have the same operands and results."""

ROUTINE_OF: dict[str, str] = {
    target: routine for routine, targets in ROUTINES.items() for target in targets
}
"""The routine that a target names."""


def batch_rank(call: Operation, routine: str) -> int:
    """Return the number of batch dimensions: those before a call's matrices or vectors.

    Args:
        call: of `routine`; what has fewer dimensions is one value for all batches.
        routine: one of `ROUTINES`.
    """
    rank = max((len(shape_of(value)) for value in call.operands), default=0)
    return max(rank - (1 if routine == "permutation" else 2), 0)
