"""Random programs for differential tests: the same seed always makes the same text.

A program is one function in MLIR's generic form: a random mesh, a random graph of ops
from the families that have sharding rules, and random shardings on arguments, results
and values between them. Ask the oracle for the pretty form.

    text = random_program(7)
    text = random_program(7, Options(ops=30, regions=False))
"""

import random

from tests.differential.random_indexing import (
    compare_any,
    convert_any,
    convolution_any,
    cumulative,
    gather_any,
    if_,
    pad_any,
    reduce_window_any,
    scatter_any,
    select_any,
    sort_keys,
    top_k,
)
from tests.differential.random_ops import (
    Op,
    batch_norm,
    binary,
    bitcast,
    broadcast,
    cholesky,
    clamp,
    collective,
    compare_and_select,
    complex_numbers,
    concatenate,
    constant,
    convert,
    convolution,
    dot,
    dynamic_slice,
    dynamic_update_slice,
    fft,
    gather,
    integers,
    iota,
    known_call,
    pad,
    precision,
    reduce,
    reduce_window,
    reshape,
    reverse,
    rng_bit_generator,
    ruled_call,
    scatter,
    select_and_scatter,
    slice_,
    sort,
    transpose,
    triangular_solve,
    unary,
    unknown_call,
)
from tests.differential.random_regions import (
    case,
    constraint,
    group,
    manual_computation,
    optimization_barrier,
    propagation_barrier,
    while_loop,
)
from tests.differential.random_writer import (
    Options,
    Tensor,
    Writer,
    kind_of,
    random_mesh,
)

__all__ = ["FAMILIES", "NUMBERS", "Options", "random_program"]

FAMILIES: dict[str, tuple[Op, ...]] = {
    "elementwise": (
        unary,
        unary,
        binary,
        binary,
        binary,
        compare_and_select,
        clamp,
        convert,
    ),
    "rare_elementwise": (integers, bitcast, precision, complex_numbers, batch_norm),
    "creation": (constant, iota, broadcast, broadcast),
    "data_movement": (transpose, reshape, reshape, reverse, slice_, pad, concatenate),
    "contraction": (dot, dot, dot, convolution),
    "reduction": (reduce, reduce, reduce_window, select_and_scatter, sort),
    "indexing": (dynamic_slice, dynamic_update_slice, gather, scatter),
    "linear_algebra": (cholesky, triangular_solve, fft, rng_bit_generator),
    "calls": (unknown_call, known_call, ruled_call, collective),
    "sdy": (constraint, constraint, propagation_barrier, group),
    "control_flow": (optimization_barrier, while_loop, case, manual_computation),
}
"""The kinds of ops; one that is named twice is twice as likely."""

NUMBERS: dict[str, tuple[Op, ...]] = {
    "typed": (unary, binary, binary, convert_any, compare_any, select_any),
    "any_movement": (pad_any, reverse, slice_, concatenate, transpose, reshape),
    "any_indexing": (gather_any, gather_any, scatter_any, dynamic_slice),
    "any_window": (reduce_window_any, cumulative, convolution_any),
    "ordering": (sort, sort_keys, top_k),
    "branches": (if_, case, while_loop, while_loop),
}
"""Kinds of ops in all their forms and types, for programs that are run."""

ANY_TYPE: dict[Op, str] = {
    unary: "fiubc", binary: "fiubc", convert_any: "fiubc", compare_any: "fiubc",
    select_any: "fiubc", compare_and_select: "fiu", iota: "fiuc", constant: "fiubc",
    broadcast: "fiubc", transpose: "fiubc", reshape: "fiubc", reverse: "fiubc",
    slice_: "fiubc", pad: "fiubc", pad_any: "fiubc", concatenate: "fiubc",
    dynamic_slice: "fiubc", dynamic_update_slice: "fiubc", gather: "fiubc",
    gather_any: "fiubc", scatter: "fiub", scatter_any: "fiub", dot: "fiuc",
    reduce: "fiubc", reduce_window_any: "fiu", cumulative: "fiu", sort: "fiub",
    sort_keys: "fiubc", top_k: "fiu", convolution_any: "f", while_loop: "fiuc",
    case: "fiuc", if_: "fiuc", optimization_barrier: "fiubc", constraint: "fiubc",
    manual_computation: "fiuc",
}  # fmt: skip
"""The kinds of element types that an op takes; other ops take f32 only."""


def _element(rng: random.Random, op: Op, options: Options) -> str:
    if len(options.elements) == 1:
        return options.elements[0]
    kinds = ANY_TYPE.get(op, "")
    fitting = [one for one in options.elements if kind_of(one) in kinds]
    return rng.choice(fitting) if fitting else "f32"


def random_program(seed: int, options: Options | None = None) -> str:
    """The program of a seed, in MLIR's generic form with `@main` and `@mesh`."""
    options = options or Options()
    rng = random.Random(seed)
    mesh = random_mesh(rng, options.devices, device_ids=options.device_ids)
    w = Writer(rng, options, mesh)
    everything = FAMILIES | NUMBERS
    families = options.families or tuple(FAMILIES)
    for _ in range(rng.randint(max(1, options.ops // 2), options.ops)):
        op = rng.choice(everything[rng.choice(families)])
        w.element = _element(rng, op, options)
        op(w)
    w.element = "f32"
    if not w.values:
        unary(w)
    results = [rng.choice(w.values) for _ in range(rng.randint(1, 3))]

    def with_sharding(tensor: Tensor, likely: float) -> str:
        if rng.random() >= likely:
            return tensor.type
        return (
            f"{tensor.type} {{sdy.sharding = #sdy.sharding{w.sharding(tensor.shape)}}}"
        )

    arguments = ", ".join(
        f"{x.name}: {with_sharding(x, options.sharded)}" for x in w.arguments
    )
    types = ", ".join(with_sharding(x, options.sharded / 3) for x in results)
    names = ", ".join(x.name for x in results)
    returned = ", ".join(x.type for x in results)
    body = "\n".join(w.lines)
    return (
        f"module {{\n  sdy.mesh @mesh = {mesh}\n"
        f"  func.func @main({arguments}) -> ({types}) {{\n{body}\n"
        f"    return {names} : {returned}\n  }}\n}}\n"
    )
