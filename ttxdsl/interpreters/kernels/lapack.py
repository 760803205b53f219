"""Linear algebra routines of custom calls, for one matrix, by SciPy's LAPACK.

Calls give what LAPACK gives: factors packed into one matrix, pivots from 1, reflectors
beside their factors, and `info`. JAX's own ops around a call unpack them, and put NaN
where `info` says that it failed. Operands that a routine overwrites, and results that
are not requested, are zeros.

Sources: LAPACK's descriptions of its routines; `jax.lax.linalg` for the order of
operands and results, and for the options.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo

Array = NDArray[Any]
Results = tuple[Array | int | None, ...]
"""The results of a call for one matrix; None for results that nothing reads."""

LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
"""LAPACK's letters for element types, by NumPy's."""

_NOT_FINITE = -4  # the operand is the fourth argument
_NAMES = {"orgqr": "ungqr", "ormqr": "unmqr", "syevd": "heevd", "sytrd": "hetrd"}
"""The complex names of routines that have another one for real numbers."""


def library(name: str) -> Any:
    """Return a module of SciPy's linear algebra, which is an extra.

    Raises:
        ImportError: it is not installed.
    """
    return import_module(f"scipy.linalg.{name}")


@dataclass(frozen=True)
class Call:
    """One custom call: its options, and LAPACK for its element type.

    Attributes:
        dtype: of the matrices, as they are computed with.
        results: the shape of each, without batches, and its elements.
    """

    op: stablehlo.CustomCallOp
    dtype: np.dtype[Any]
    results: tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]

    @property
    def target(self) -> str:
        """Whom it calls."""
        return self.op.call_target_name.data

    @property
    def letter(self) -> str:
        """LAPACK's letter for the element type."""
        return LETTERS[self.dtype.char]

    @property
    def is_complex(self) -> bool:
        """Whether the numbers are complex."""
        return self.dtype.kind == "c"

    def run(self, name: str, *args: Any, **options: Any) -> tuple[Any, ...]:
        """Return a LAPACK routine, by its name for real numbers without the letter."""
        if self.is_complex:
            name = _NAMES.get(name, name)
        return getattr(library("lapack"), self.letter + name)(*args, **options)

    def roomy(self, name: str, *args: Any, **options: Any) -> tuple[Any, ...]:
        """Run a routine with the workspace it asks for; leave out its last results."""
        *_, work, _ = self.run(name, *args, lwork=-1, **options)
        *results, _, info = self.run(name, *args, lwork=int(work[0].real), **options)
        return (*results, int(info))

    def has(self, name: str) -> bool:
        """Whether the call has an option."""
        return name in self._options()

    def flag(self, name: str) -> bool:
        """Return an option that is on or off."""
        return bool(self._option(name))

    def number(self, name: str) -> int:
        """Return an option that is a number."""
        return int(self._option(name))

    def letter_of(self, name: str, known: str) -> str:
        """Return an option that is a letter, given as its character code.

        Raises:
            UnsupportedError: it is another.
        """
        code = self.number(name)
        if code not in map(ord, known):
            raise UnsupportedError(
                f"custom call @{self.target} has {name} = {code}, which is none of "
                + ", ".join(f"{ord(number)} ({number})" for number in known),
                self.op,
            )
        return chr(code)

    @property
    def lower(self) -> bool:
        """Whether the lower triangle is read: a letter on the CPU, a flag elsewhere."""
        if self.target == "Eigh":
            return self._fields()[0] == "1"
        return self.flag("lower") if self.has("lower") else self.uplo == "L"

    @property
    def uplo(self) -> str:
        """`L` or `U`."""
        return self.letter_of("uplo", "LU")

    def _fields(self) -> list[str]:
        config = self.op.backend_config
        fields = config.data.split(",") if isinstance(config, StringAttr) else []
        if len(fields) < 2 or fields[0] not in ("0", "1"):
            raise UnsupportedError(
                f"custom call @{self.target} needs a backend_config of "
                f"'lower,sorted,sweeps,tolerance', got {config}",
                self.op,
            )
        return fields

    def _options(self) -> Mapping[str, Any]:
        for config in (
            self.op.backend_config,
            self.op.attributes.get("mhlo.backend_config"),
        ):
            if isinstance(config, DictionaryAttr):
                return config.data
        return {}

    def _option(self, name: str) -> int:
        value = self._options().get(name)
        if isinstance(value, IntegerAttr):
            return value.value.data
        raise UnsupportedError(
            f"custom call @{self.target} has no number {name} in its backend_config",
            self.op,
        )


Kernel = Callable[..., Results]
"""Computes a call of the matrices of one place in the batch."""


# factors


def _potrf(call: Call, a: Array) -> Results:
    return call.run("potrf", a, lower=call.lower, clean=0)


def _getrf(call: Call, a: Array) -> Results:
    factors, pivots, info = call.run("getrf", a)
    return factors, pivots + 1, info


def _lu(call: Call, a: Array) -> Results:
    """XLA's: pivots from 0, and the permutation that they amount to."""
    pivots = np.zeros(0, np.int32)
    if a.size:
        a, pivots, _ = call.run("getrf", a)
    return a, pivots, _permuted(pivots, len(a))


def _permutation(call: Call, pivots: Array) -> Results:
    return (_permuted(pivots, *call.results[0][0]),)


def _permuted(pivots: Array, size: int) -> Array:
    permutation = np.arange(size)
    for i, j in enumerate(pivots):
        permutation[[i, j]] = permutation[[j, i]]
    return permutation


def _geqrf(call: Call, a: Array) -> Results:
    return call.roomy("geqrf", a)[: len(call.results)]


def _geqp3(call: Call, a: Array, fixed: Array) -> Results:
    if fixed.any():
        raise UnsupportedError(
            f"custom call @{call.target} keeps columns in front, which SciPy cannot",
            call.op,
            hint="pass zeros for jpvt, so that every column may be moved",
        )
    return call.roomy("geqp3", a)[:3]


def _orgqr(call: Call, a: Array, factors: Array) -> Results:
    if not factors.size:
        return (np.eye(*a.shape, dtype=a.dtype),)
    return call.roomy("orgqr", a, factors)[:1]


def _ormqr(call: Call, a: Array, factors: Array, c: Array) -> Results:
    if not factors.size:
        return (c,)
    transposed = "C" if call.is_complex else "T"
    options = (
        "L" if call.flag("left") else "R",
        transposed if call.flag("transpose") else "N",
        a[:, : len(factors)],
        factors,
        c,
    )
    _, work, _ = call.run("ormqr", *options, -1)
    return call.run("ormqr", *options, int(work[0].real))[:1]


def _gehrd(call: Call, a: Array) -> Results:
    low, high = call.number("low") - 1, call.number("high") - 1
    if len(a) < 2:
        return a, None, 0
    return call.run("gehrd", a, lo=low, hi=high)


def _sytrd(call: Call, a: Array) -> Results:
    if len(a) < 2:
        return a, a[0].real, None, None, 0
    return call.run("sytrd", a, lower=call.lower)


# eigenvalues and singular values


def _syevd(call: Call, a: Array) -> Results:
    vectors = not call.has("mode") or call.letter_of("mode", "NV") == "V"
    values, eigenvectors, info = call.run(
        "syevd", a, compute_v=vectors, lower=call.lower
    )
    if len(call.results) == 2 and info:  # a failure would go unnoticed
        eigenvectors, values = (
            np.full_like(eigenvectors, np.nan),
            np.full_like(values, np.nan),
        )
    return (eigenvectors if vectors else None, values, info)[: len(call.results)]


def _sides(call: Call) -> tuple[bool, bool]:
    """Return whether left and right eigenvectors are asked for."""
    if call.has("left"):
        return call.flag("left"), call.flag("right")
    left, right = (
        call.letter_of(f"compute_{side}", "NV") == "V" for side in ("left", "right")
    )
    return left, right


def _eigen(call: Call, a: Array) -> tuple[Any, ...]:
    """Return parts of values, vectors as LAPACK packs them (or None), and `info`."""
    left, right = _sides(call)
    if not np.isfinite(a).all():
        parts = 1 if call.is_complex else 2
        return *[None] * (2 + parts), _NOT_FINITE
    *values, vl, vr, info = call.run("geev", a, compute_vl=left, compute_vr=right)
    return *values, vl if left else None, vr if right else None, info


def _geev(call: Call, a: Array) -> Results:
    *values, vl, vr, info = _eigen(call, a)
    if not call.is_complex:
        vl, vr = (None if v is None else _unpacked(values[1], v) for v in (vl, vr))
    return *values, vl, vr, info


def _geev_packed(call: Call, a: Array) -> Results:
    """cuSOLVER's: complex values, and vectors as LAPACK packs them."""
    *values, vl, vr, info = _eigen(call, a)
    if values[0] is not None and not call.is_complex:
        values = [values[0] + 1j * values[1]]
    return None, values[0], vl, vr, info


def _unpacked(imaginary: Array, packed: Array) -> Array:
    """Vectors of which a conjugate pair is stored as its real and imaginary part."""
    vectors = packed.astype(np.result_type(packed, np.complex64))
    for j in np.flatnonzero(imaginary > 0):
        if j + 1 < packed.shape[-1]:
            vectors[:, j] = packed[:, j] + 1j * packed[:, j + 1]
            vectors[:, j + 1] = vectors[:, j].conj()
    return vectors


def _any_order(*value: Any) -> bool:
    """Chooses no eigenvalue to come first."""
    return False


def _gees(call: Call, a: Array) -> Results:
    vectors = call.letter_of("mode", "NV") == "V"
    call.letter_of("sort", "N")
    t, chosen, *values, schur_vectors, info = call.roomy(
        "gees", _any_order, a, compute_v=vectors, sort_t=0
    )
    return t, schur_vectors if vectors else None, *values, chosen, info


def _singular(call: Call, name: str, a: Array) -> tuple[Any, ...]:
    """Return `u`, values, adjoint of `v`, and `info`; None for results not requested."""
    if call.has("mode"):
        mode = call.letter_of("mode", "ASN")
        vectors, full = mode != "N", mode == "A"
    else:
        vectors, full = call.flag("compute_uv"), call.flag("full_matrices")
    u, values, vh, info = call.run(name, a, compute_uv=vectors, full_matrices=full)
    return u if vectors else None, values, vh if vectors else None, info


def _svd(name: str) -> Kernel:
    def kernel(call: Call, a: Array) -> Results:
        u, values, vh, info = _singular(call, name, a)
        if call.has("transposed") and call.flag("transposed"):
            u, vh = vh, u  # the routine saw the transposed matrix
        return None, values, u, vh, info

    return kernel


def _gesvdj(call: Call, a: Array) -> Results:
    """Jacobi's method and the polar one: `v`, not its adjoint."""
    u, values, vh, info = _singular(call, "gesdd", a)
    return None, values, u, None if vh is None else vh.conj().T, info


# solutions and products


def _trsm(call: Call, a: Array, b: Array) -> Results:
    solve = getattr(library("blas"), call.letter + "trsm")
    return (
        solve(
            1,
            a,
            b,
            side=call.letter_of("side", "LR") == "R",
            lower=call.lower,
            trans_a="NTC".index(call.letter_of("trans_x", "NTC")),
            diag=call.letter_of("diag", "NU") == "U",
        ),
    )


def _gtsv(call: Call, below: Array, diagonal: Array, above: Array, b: Array) -> Results:
    """Solve a tridiagonal system; the diagonals are padded to the matrix's size."""
    if len(diagonal) == 1:
        with np.errstate(all="ignore"):
            return None, diagonal, None, b / diagonal, int(diagonal[0] == 0)
    filled, d, du, x, info = call.run("gtsv", below[1:], diagonal, above[:-1], b)
    left_of, right_of = below.copy(), above.copy()
    left_of[1 : 1 + len(filled)] = filled
    right_of[: len(du)] = du
    return left_of, d, right_of, x, info


def _gtsv_solution(
    call: Call, below: Array, diagonal: Array, above: Array, b: Array
) -> Results:
    """Solve a tridiagonal system as cuSPARSE does: without `info`; NaN if it fails."""
    *_, x, info = _gtsv(call, below, diagonal, above, b)
    return (np.full_like(b, np.nan) if info else x,)


def _gtsv_perturbed(
    call: Call, below: Array, diagonal: Array, above: Array, b: Array
) -> Results:
    """Solve with nonzero pivots where the matrix is singular: results stay finite.

    Rows are exchanged by the ratio of the pivot to its row's norm, as in LAGTF.
    """
    n, limits = len(diagonal), np.finfo(call.dtype)
    d, x = diagonal.copy(), b.copy()
    # the two diagonals above the one of U
    first, second = np.append(above[:-1], 0).astype(d.dtype), np.zeros_like(d)
    scale = abs(d[0]) + abs(first[0])
    for i in range(n - 1):
        down = below[i + 1]
        size = abs(down) + abs(d[i + 1]) + abs(first[i + 1])
        if abs(down) * scale > abs(d[i]) * size:
            x[[i, i + 1]] = x[[i + 1, i]]
            row = down, d[i + 1], first[i + 1]
            down, d[i + 1], first[i + 1] = d[i], first[i], second[i]
            d[i], first[i], second[i] = row
        else:
            scale = size
        factor = down / d[i] if d[i] else d.dtype.type(0)
        d[i + 1] -= factor * first[i]
        first[i + 1] -= factor * second[i]
        x[i + 1] -= factor * x[i]
    largest = max(np.abs(band).max() for band in (d, first, second))
    least = max(limits.eps * largest, limits.tiny)
    for i in reversed(range(n)):
        if i + 1 < n:
            x[i] -= first[i] * x[i + 1]
        if i + 2 < n:
            x[i] -= second[i] * x[i + 2]
        if abs(d[i]) < limits.tiny or np.abs(x[i]).max() > abs(d[i]) * limits.max:
            d[i] += least
        x[i] /= d[i]
    return (x,)


def _syrk(call: Call, a: Array, c: Array, alpha: Array, beta: Array) -> Results:
    if call.flag("transpose"):
        a = a.T
    return (alpha * (a @ a.T) + beta * c,)


KERNELS: Mapping[str, Kernel] = {
    "geev": _geev,
    "geev_packed": _geev_packed,
    "gees": _gees,
    "gehrd": _gehrd,
    "geqp3": _geqp3,
    "geqrf": _geqrf,
    "gesdd": _svd("gesdd"),
    "gesvd": _svd("gesvd"),
    "gesvdj": _gesvdj,
    "getrf": _getrf,
    "gtsv": _gtsv,
    "gtsv_perturbed": _gtsv_perturbed,
    "gtsv_solution": _gtsv_solution,
    "lu": _lu,
    "orgqr": _orgqr,
    "ormqr": _ormqr,
    "permutation": _permutation,
    "potrf": _potrf,
    "syevd": _syevd,
    "syrk": _syrk,
    "sytrd": _sytrd,
    "trsm": _trsm,
}
"""The kernel of each routine of `ROUTINES`."""
