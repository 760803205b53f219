"""What a program computes in its forms: JAX, the global program, stage 13, and ttnn.

outcomes = compare_forms(module, arguments, oracle)
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from tests.differential.campaign import Outcome
from tests.differential.oracle import OracleAborted, OracleRejected
from tests.differential.partitioning import EQUAL, NOT_RUN, REFUSED, reason_of
from tests.differential.single_device import single_device_text
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
from ttxdsl.conversion.ttir_to_ttnn.convert import ConvertTTIRToTTNNPass
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.kernels.elements import is_float
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.runtime.regions import session
from ttxdsl.interpreters.runtime.run import register_implementations, run_module
from ttxdsl.loading.program import make_context
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

Array = NDArray[Any]

JAX, STAGES, STAGE_13, TTIR, TTNN = "JAX", "stages", "stage 13", "ttir", "ttnn"
"""The forms that are held against the global program; `stages` are all before the last."""

ROUNDED = "equal where rounding does not decide"
ROUNDED_REPLICAS = "replicas are rounded differently"


MANTISSA = {
    "float64": 52, "complex128": 52, "float32": 23, "complex64": 23, "float16": 10,
    "bfloat16": 7,
}  # fmt: skip
"""How many bits come after the point; the narrow types have two or so."""


class _Noise:
    """Rounds the result of each op a little differently, as another machine might.

    Where results then differ much, the program itself is ill-conditioned there: a sum
    that nearly cancels, the rounding of what is almost a half, the order of almost
    equal numbers.
    """

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def __call__(self, op: Operation, array: Array) -> Array:
        """The value with each number moved up or down by some units in its last place."""
        if not is_float(array.dtype) and array.dtype.kind != "c":
            return array
        bits = MANTISSA.get(array.dtype.name, 2)
        noise = self.random.integers(-2, 3, array.shape) * 2.0**-bits
        wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        return (wide * (1 + noise)).astype(array.dtype)


def spread(module: ModuleOp, arguments: Sequence[Array], runs: int = 6) -> list[Array]:
    """How far each element of each result moves when ops round otherwise; inf for NaN."""
    function = entry_function(module)
    found: list[list[Array]] = []
    for seed in range(runs):
        interpreter = Interpreter(module)
        register_implementations(interpreter)
        session(interpreter).rounding = _Noise(seed)
        with np.errstate(all="ignore"):
            results = interpreter.call_op(function, tuple(arguments))
        found.append([wide(np.asarray(result)) for result in results])
    with np.errstate(all="ignore"):
        moved = [
            np.max([abs(one - values[0]) for one in values[1:]], axis=0)
            for values in zip(*found, strict=True)
        ]
    return [np.where(np.isnan(one), np.inf, one) for one in moved]


def wide(array: Array) -> Array:
    """The numbers in a type that holds them all."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def differing(
    found: Array, wanted: Array, *, exactly: bool, allowed: Array | float = 0.0
) -> NDArray[np.bool_]:
    """Which elements differ: integers at all, others by more than sums round.

    Raises:
        AssertionError: type or shape differ.
    """
    assert found.dtype == wanted.dtype, f"{found.dtype} is not {wanted.dtype}"
    assert found.shape == wanted.shape, f"{found.shape} is not {wanted.shape}"
    is_exact = exactly or wanted.dtype.kind in "biu"
    one, other = wide(found), wide(wanted)
    with np.errstate(all="ignore"):
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        if not is_exact:
            scale = np.abs(np.where(np.isfinite(other), other, 0)).max(initial=0)
            tolerance = 2e-4 if wanted.dtype.itemsize >= 4 else 4e-2
            same |= abs(one - other) <= tolerance * (1 + abs(other) + scale)
        same |= abs(one - other) <= 16 * np.asarray(allowed)
        # an element that noise makes NaN, or not, may be either
        same |= np.isinf(np.asarray(allowed))
    return ~same


def hold_against(
    form: str,
    found: Sequence[Array],
    wanted: Sequence[Array],
    noise: Callable[[], list[Array]],
    *,
    exactly: bool,
    bits: bool,
) -> str:
    """`equal`, or `ROUNDED` if only ill-conditioned elements differ.

    `bits` says that integers may be the bits of floats, which differ where those do.

    Raises:
        AssertionError: other elements differ.
    """
    pairs = list(zip(found, wanted, strict=True))
    if not any(differing(*pair, exactly=exactly).any() for pair in pairs):
        return EQUAL
    for index, ((one, other), moved) in enumerate(zip(pairs, noise(), strict=True)):
        if bits and other.dtype.kind in "iu":
            moved = np.where(moved > 0, np.inf, 0)
        wrong = differing(one, other, exactly=exactly, allowed=moved)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise AssertionError(
                f"{form}: result {index} {one.dtype}{list(one.shape)} at {list(at)}: "
                f"{one[at]}, not {other[at]} ({wrong.sum()} of {wrong.size} differ)"
            )
    return ROUNDED


def close(found: object, expected: object) -> bool:
    """Whether two numbers differ by no more than rounding."""
    one, other = wide(np.asarray(found)), wide(np.asarray(expected))
    return bool(np.allclose(one, other, rtol=1e-4, atol=1e-6, equal_nan=True))


def compare_forms(
    module: ModuleOp,
    arguments: Sequence[Array],
    jax: Callable[[str], Sequence[Array]] | None,
    *,
    tagged: bool = False,
    verify_each: bool = True,
    every_form: bool = False,
) -> list[Outcome]:
    """Run a program in every form; what came of each.

    Args:
        module: the program with shardings; becomes ttnn.
        arguments: see `arguments_of`.
        jax: runs the text of a program without shardings on JAX's CPU backend.
        tagged: the program moves data and nothing else: all forms agree exactly.
        verify_each: verify the program after every stage, which takes most of the time.
        every_form: run it after every stage and as ttir too.

    Raises:
        AssertionError: a form has another number.
    """
    original = module.clone()
    try:
        wanted = run_module(original, arguments)
    except ReplicaMismatchError:
        return [("global", f"{NOT_RUN}: calls values replicas that differ")]
    except Exception as error:
        return [("global", f"{NOT_RUN}: {reason_of(error)}")]
    kept: list[list[Array]] = []

    def noise() -> list[Array]:
        if not kept:
            kept.append(spread(original, arguments))
        return kept[0]

    outcomes: list[Outcome] = []
    bits = any(op.name == "stablehlo.bitcast_convert" for op in original.walk())

    def hold(form: str, found: Sequence[Array]) -> None:
        outcome = hold_against(form, found, wanted, noise, exactly=tagged, bits=bits)
        outcomes.append((form, outcome))

    def run(form: str) -> None:
        try:
            found = run_module(module, arguments)
        except ReplicaMismatchError as error:
            # the same sum, done in another order by NumPy for another device
            if not close(error.found, error.expected):
                raise
            outcomes.append((form, ROUNDED_REPLICAS))
        else:
            hold(form, found)

    if jax is not None:
        text = single_device_text(original)
        if text is None:
            outcomes.append((JAX, f"{NOT_RUN}: ops for several devices"))
        else:
            try:
                found = jax(text)
            except (OracleRejected, OracleAborted) as error:
                outcomes.append((JAX, f"{NOT_RUN}: {reason_of(error)}"))
            else:
                hold(JAX, found)
    with collect_remarks():
        try:
            pipeline = TTStableHLOPipelinePass(verify_each=verify_each)
            for result in pipeline.run(make_context(), module):
                if every_form and result.number < len(pipeline.stages()):
                    run(STAGES)
            module.verify()
        except UnsupportedError as error:
            return [*outcomes, (STAGE_13, f"{REFUSED}: {reason_of(error)}")]
        run(STAGE_13)
        try:
            ConvertStableHLOToTTIRPass().apply(make_context(), module)
            if every_form:
                run(TTIR)
            ConvertTTIRToTTNNPass().apply(make_context(), module)
        except UnsupportedError as error:
            return [*outcomes, (TTNN, f"{REFUSED}: {reason_of(error)}")]
        module.verify()
        run(TTNN)
    return outcomes


OPTIMIZED, UNOPTIMIZED = "optimized", "not optimized"


def compare_optimized(
    module: ModuleOp, arguments: Sequence[Array], *, tagged: bool
) -> list[Outcome]:
    """Hold what devices compute with and without the optimizations against each other.

    Args: see `compare_forms`.

    Returns:
        How each compares with the global program, how they do with one another, and
        whether the optimizations found anything.

    Raises:
        AssertionError: one has another number.
    """
    try:
        wanted = run_module(module, arguments)
    except ReplicaMismatchError:
        return [("global", f"{NOT_RUN}: calls values replicas that differ")]
    except Exception as error:
        return [("global", f"{NOT_RUN}: {reason_of(error)}")]
    noise = cache(lambda: spread(module, arguments))
    bits = any(op.name == "stablehlo.bitcast_convert" for op in module.walk())
    outcomes: list[Outcome] = []

    def hold(form: str, found: Sequence[Array], other: Sequence[Array]) -> None:
        outcome = hold_against(form, found, other, noise, exactly=tagged, bits=bits)
        outcomes.append((form, outcome))

    results: dict[str, Sequence[Array]] = {}
    sent: dict[str, int] = {}
    for form in (UNOPTIMIZED, OPTIMIZED):
        local = module.clone()
        pipeline = TTStableHLOPipelinePass(optimize=form == OPTIMIZED)
        with collect_remarks():
            try:
                pipeline.apply(make_context(), local)
            except UnsupportedError as error:
                return [*outcomes, (form, f"{REFUSED}: {reason_of(error)}")]
        sent[form] = sum(one.bytes_per_device for one in list_collectives(local))
        try:
            results[form] = run_module(local, arguments)
        except ReplicaMismatchError as error:
            if not close(error.found, error.expected):
                raise
            outcomes.append((form, ROUNDED_REPLICAS))
        else:
            hold(form, results[form], wanted)
    if len(results) == 2:
        hold("one against the other", results[OPTIMIZED], results[UNOPTIMIZED])
    difference = sent[OPTIMIZED] - sent[UNOPTIMIZED]
    said = (
        "sends less" if difference < 0 else "sends more" if difference else "the same"
    )
    return [*outcomes, ("bytes, optimized", said)]
