"""The ops of random programs without regions of their own: one function each."""

from collections.abc import Callable, Sequence
from math import prod

from tests.catalogue.elementwise import FLOAT_BINARY, FLOAT_UNARY, INT_BINARY
from tests.differential.random_writer import Tensor, Writer, array, dense

Op = Callable[[Writer], object]


UNARY_OF = {
    "f": FLOAT_UNARY,
    "i": ("abs", "negate", "sign", "not", "popcnt"),
    "u": ("not", "popcnt", "count_leading_zeros"),
    "b": ("not",),
    "c": ("negate", "exponential", "tanh", "sine", "logistic"),
}
BINARY_OF = {
    "f": FLOAT_BINARY,
    "i": ("add", "subtract", "multiply", "maximum", "minimum", *INT_BINARY[:3]),
    "u": ("add", "subtract", "multiply", "maximum", "minimum", *INT_BINARY[:3]),
    "b": ("add", "multiply", "maximum", "minimum", *INT_BINARY[:3]),
    "c": ("add", "subtract", "multiply"),
}


def unary(w: Writer) -> None:
    x = w.some(0)
    w.emit(f"stablehlo.{w.rng.choice(UNARY_OF[w.kind])}", [x], [(x.shape, x.element)])


def binary(w: Writer) -> None:
    x = w.some(0)
    y = w.like(x.shape)
    name = w.rng.choice(BINARY_OF[w.kind])
    w.emit(f"stablehlo.{name}", [x, y], [(x.shape, x.element)])


def compare_and_select(w: Writer) -> None:
    x = w.some()
    y = w.like(x.shape)
    direction = "comparison_direction = #stablehlo<comparison_direction LT>"
    (less,) = w.emit("stablehlo.compare", [x, y], [(x.shape, "i1")], direction)
    w.emit("stablehlo.select", [less, x, w.like(x.shape)], [(x.shape, w.element)])


def clamp(w: Writer) -> None:
    x = w.some()
    bounds = [w.like(w.rng.choice(((), x.shape))) for _ in range(2)]
    if bounds[0].shape != bounds[1].shape:
        bounds[1] = bounds[0]
    w.emit("stablehlo.clamp", [bounds[0], x, bounds[1]], [(x.shape, "f32")])


def convert(w: Writer) -> None:
    x = w.some()
    (whole,) = w.emit("stablehlo.convert", [x], [(x.shape, "i32")])
    w.emit("stablehlo.convert", [whole], [(x.shape, "f32")])


def integers(w: Writer) -> None:
    x = w.some(element="i32")
    w.emit(
        f"stablehlo.{w.rng.choice(INT_BINARY)}",
        [x, w.like(x.shape, "i32")],
        [(x.shape, "i32")],
    )
    # XLA folds count_leading_zeros of a negative constant to -32
    names = ("not", "popcnt", "count_leading_zeros")
    unary = w.rng.choice(names[:2] if w.options.numbers else names)
    w.emit(f"stablehlo.{unary}", [x], [(x.shape, "i32")])


def bitcast(w: Writer) -> None:
    x = w.some()
    w.emit("stablehlo.bitcast_convert", [x], [(x.shape, "i32")])
    w.emit("stablehlo.bitcast_convert", [x], [((*x.shape, 2), "i16")])


def precision(w: Writer) -> None:
    x = w.some()
    bits = "exponent_bits = 5 : i32, mantissa_bits = 10 : i32"
    w.emit("stablehlo.reduce_precision", [x], [(x.shape, "f32")], bits)
    w.emit("stablehlo.is_finite", [x], [(x.shape, "i1")])


def complex_numbers(w: Writer) -> None:
    x = w.some()
    (z,) = w.emit(
        "stablehlo.complex", [x, w.like(x.shape)], [(x.shape, "complex<f32>")]
    )
    part = w.rng.choice(("real", "imag"))
    w.emit(f"stablehlo.{part}", [z], [(x.shape, "f32")])


def fft(w: Writer) -> None:
    x = w.some()
    length = x.shape[-1]
    half = (*x.shape[:-1], length // 2 + 1)
    w.emit(
        "stablehlo.fft",
        [x],
        [(half, "complex<f32>")],
        f"fft_type = #stablehlo<fft_type RFFT>, fft_length = {array([length])}",
    )


def rng_bit_generator(w: Writer) -> None:
    state = w.like((2,), "ui64")
    w.emit(
        "stablehlo.rng_bit_generator",
        [state],
        [((2,), "ui64"), (w.shape(), "ui32")],
        "rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>",
    )


def iota(w: Writer) -> None:
    shape = w.shape()
    dim = w.rng.randrange(len(shape))
    w.emit("stablehlo.iota", [], [(shape, w.element)], f"iota_dimension = {dim} : i64")


def constant(w: Writer) -> None:
    w.constant(w.shape(0))


def broadcast(w: Writer) -> None:
    x = w.some(0, 3)
    rank = w.rng.randint(max(1, len(x.shape)), 4)
    dims = sorted(w.rng.sample(range(rank), len(x.shape)))
    shape = [w.rng.choice(w.options.sizes) for _ in range(rank)]
    for dim, size in zip(dims, x.shape, strict=True):
        if size != 1 or w.rng.random() < 0.5:
            shape[dim] = size
    w.emit(
        "stablehlo.broadcast_in_dim",
        [x],
        [(shape, w.element)],
        f"broadcast_dimensions = {array(dims)}",
    )


def transpose(w: Writer) -> None:
    x = w.some(2)
    order = w.rng.sample(range(len(x.shape)), len(x.shape))
    shape = [x.shape[dim] for dim in order]
    w.emit(
        "stablehlo.transpose",
        [x],
        [(shape, w.element)],
        f"permutation = {array(order)}",
    )


def reshape(w: Writer) -> None:
    """Merge neighbours and split sizes at random."""
    x = w.some()
    shape: list[int] = []
    for size in x.shape:
        if shape and w.rng.random() < 0.4:
            shape[-1] *= size
        else:
            shape.append(size)
    split: list[int] = []
    for size in shape:
        divisors = [n for n in range(2, size) if size % n == 0]
        if divisors and w.rng.random() < 0.6:
            first = w.rng.choice(divisors)
            split += [first, size // first]
        else:
            split.append(size)
        if w.rng.random() < 0.1:
            split.append(1)
    w.emit("stablehlo.reshape", [x], [(split, w.element)])


def reverse(w: Writer) -> None:
    x = w.some()
    dims = w.rng.sample(range(len(x.shape)), w.rng.randint(1, len(x.shape)))
    w.emit(
        "stablehlo.reverse", [x], [(x.shape, w.element)], f"dimensions = {array(dims)}"
    )


def slice_(w: Writer) -> None:
    x = w.some()
    starts = [w.rng.choice((0, 0, w.rng.randrange(size))) for size in x.shape]
    limits = [
        w.rng.choice((size, w.rng.randint(start + 1, size)))
        for start, size in zip(starts, x.shape, strict=True)
    ]
    strides = [w.rng.choice((1, 1, 2)) for _ in x.shape]
    shape = [
        -(-(limit - start) // stride)
        for start, limit, stride in zip(starts, limits, strides, strict=True)
    ]
    w.emit(
        "stablehlo.slice",
        [x],
        [(shape, w.element)],
        f"start_indices = {array(starts)}, limit_indices = {array(limits)}, "
        f"strides = {array(strides)}",
    )


def pad(w: Writer) -> None:
    x = w.some()
    low, high, interior = (
        [w.rng.choice((0, 0, 1, 2)) for _ in x.shape] for _ in range(3)
    )
    shape = [
        size + a + b + max(0, size - 1) * i
        for size, a, b, i in zip(x.shape, low, high, interior, strict=True)
    ]
    w.emit(
        "stablehlo.pad",
        [x, w.like(())],
        [(shape, w.element)],
        f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, "
        f"interior_padding = {array(interior)}",
    )


def concatenate(w: Writer) -> None:
    x = w.some()
    dim = w.rng.randrange(len(x.shape))
    parts = [x]
    for _ in range(w.rng.randint(1, 2)):
        shape = list(x.shape)
        shape[dim] = w.rng.choice((shape[dim], w.rng.choice(w.options.sizes)))
        parts.append(w.like(shape))
    shape = list(x.shape)
    shape[dim] = sum(part.shape[dim] for part in parts)
    w.emit(
        "stablehlo.concatenate", parts, [(shape, w.element)], f"dimension = {dim} : i64"
    )


def dot(w: Writer) -> None:
    x = w.some(1, 4)
    dims = w.rng.sample(range(len(x.shape)), len(x.shape))
    batch = sorted(dims[: w.rng.choice((0, 0, 1, 2))])
    rest = [dim for dim in dims if dim not in batch]
    contracting = rest[: w.rng.choice((0, 1, 1, 1, 2))]
    kept = sorted(dim for dim in rest if dim not in contracting)
    new = w.shape(0, max(0, min(2, 4 - len(batch) - len(kept))))
    shape = [x.shape[dim] for dim in (*batch, *contracting)] + list(new)
    order = w.rng.sample(range(len(shape)), len(shape))
    y = w.like([shape[dim] for dim in order])
    place = [order.index(dim) for dim in range(len(shape))]
    y_batch = place[: len(batch)]
    y_contracting = place[len(batch) : len(batch) + len(contracting)]
    y_kept = sorted(place[len(batch) + len(contracting) :])
    result = [x.shape[dim] for dim in (*batch, *kept)] + [
        y.shape[dim] for dim in y_kept
    ]
    numbers = (
        f"lhs_batching_dimensions = {batch}, rhs_batching_dimensions = {y_batch}, "
        f"lhs_contracting_dimensions = {contracting}, "
        f"rhs_contracting_dimensions = {y_contracting}"
    )
    w.emit(
        "stablehlo.dot_general",
        [x, y],
        [(result, w.element)],
        f"dot_dimension_numbers = #stablehlo.dot<{numbers}>",
    )


def convolution(w: Writer) -> None:
    batch, height, width, features = (w.rng.choice((2, 4, 8)) for _ in range(4))
    out, window = w.rng.choice((4, 8)), w.rng.choice((1, 2))
    feature_groups = w.rng.choice((1, 1, 2))
    batch_groups = 1 if feature_groups > 1 else w.rng.choice((1, 1, 2))
    x = w.like((batch, height, width, features))
    kernel = w.like((window, window, features // feature_groups, out))
    shape = (batch // batch_groups, height - window + 1, width - window + 1, out)
    w.emit(
        "stablehlo.convolution",
        [x, kernel],
        [(shape, "f32")],
        "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, "
        f"feature_group_count = {feature_groups} : i64, "
        f"batch_group_count = {batch_groups} : i64, "
        f"window_strides = array<i64: 1, 1>, padding = {dense(0, (2, 2))}",
    )


def is_too_long(w: Writer, length: int) -> bool:
    """Whether XLA, which sums bf16 in bf16, would lose too much of so long a sum."""
    return w.options.numbers and w.element in ("bf16", "f16") and length > 16


REDUCERS_OF = {
    "f": ("add", "add", "maximum", "minimum", "multiply"),
    "i": ("add", "maximum", "minimum", "multiply", "and", "or", "xor"),
    "u": ("add", "maximum", "minimum", "multiply", "and", "or", "xor"),
    "b": ("and", "or", "xor", "maximum"),
    "c": ("add", "multiply"),
}


def reducer(w: Writer) -> str:
    """An op to reduce with."""
    return (
        f"stablehlo.{w.rng.choice(REDUCERS_OF[w.kind]) if w.options.numbers else 'add'}"
    )


def neutral(w: Writer, op: str) -> Tensor:
    """The scalar that reducing with `op` leaves everything as it is with.

    Padding repeats the initial value in StableHLO, in XLA it does not.
    """
    bits = int(w.element.strip("uif")) if w.kind in "iu" else 0
    least, most = 0, 2**bits - 1
    if w.kind == "i":
        least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    floats = {"add": "0.0", "multiply": "1.0", "maximum": "-3.0e4", "minimum": "3.0e4"}
    if w.kind == "c":
        return w.constant((), w.element, "(0.0, 0.0)" if "add" in op else "(1.0, 0.0)")
    if w.kind == "b":
        return w.constant((), w.element, "true" if op.endswith("and") else "false")
    integers = {"add": 0, "multiply": 1, "maximum": least, "minimum": most}
    integers |= {"and": -1 if w.kind == "i" else most, "or": 0, "xor": 0}
    name = op.removeprefix("stablehlo.")
    literal = floats[name] if w.kind == "f" else str(integers[name])
    return w.constant((), w.element, literal)


def reduce(w: Writer) -> None:
    x = w.some()
    inputs = [x] + ([w.like(x.shape)] if w.rng.random() < 0.25 else [])
    dims = sorted(w.rng.sample(range(len(x.shape)), w.rng.randint(1, len(x.shape))))
    if is_too_long(w, prod(x.shape[dim] for dim in dims)):
        return
    shape = [size for dim, size in enumerate(x.shape) if dim not in dims]
    op = reducer(w)
    if w.options.numbers:
        # XLA may count the initial value several times, or never
        initial = [neutral(w, op) for _ in inputs]
    else:
        initial = [w.like(()) for _ in inputs]
    region = w.combiner(op, w.element, len(inputs))
    w.emit(
        "stablehlo.reduce",
        [*inputs, *initial],
        [(shape, w.element)] * len(inputs),
        f"dimensions = {array(dims)}",
        region,
    )


def reduce_window(w: Writer) -> None:
    x = w.some()
    window = [w.rng.choice((1, 1, min(2, size))) for size in x.shape]
    strides = [w.rng.choice((1, size)) for size in window]
    shape = [
        (size - part) // stride + 1
        for size, part, stride in zip(x.shape, window, strides, strict=True)
    ]
    initial = w.like(())
    w.emit(
        "stablehlo.reduce_window",
        [x, initial],
        [(shape, "f32")],
        f"window_dimensions = {array(window)}, window_strides = {array(strides)}",
        w.combiner("stablehlo.maximum", "f32"),
    )


def select_and_scatter(w: Writer) -> None:
    x = w.some()
    window = [w.rng.choice((1, 1, min(2, size))) for size in x.shape]
    shape = [
        (size - part) // part + 1 for size, part in zip(x.shape, window, strict=True)
    ]
    source, initial = w.like(shape), w.like(())
    scalars = [Tensor(w.fresh(), (), "f32") for _ in range(2)]
    with w.region(scalars) as region:
        direction = "comparison_direction = #stablehlo<comparison_direction GE>"
        more = w.emit(
            "stablehlo.compare", scalars, [((), "i1")], direction, shard=False
        )
        w.ends("stablehlo.return", more)
    w.emit(
        "stablehlo.select_and_scatter",
        [x, source, initial],
        [(x.shape, "f32")],
        f"window_dimensions = {array(window)}, window_strides = {array(window)}",
        f"{region[0]}, {w.combiner('stablehlo.add', 'f32')}",
    )


def batch_norm(w: Writer) -> None:
    x = w.some(2)
    feature = w.rng.randrange(len(x.shape))
    statistics = [w.like((x.shape[feature],)) for _ in range(4)]
    w.emit(
        "stablehlo.batch_norm_inference",
        [x, *statistics],
        [(x.shape, "f32")],
        f"epsilon = 1.0e-05 : f32, feature_index = {feature} : i64",
    )


def sort(w: Writer) -> None:
    x = w.some()
    operands = [x] + ([w.like(x.shape)] if w.rng.random() < 0.5 else [])
    scalars = [Tensor(w.fresh(), (), w.element) for _ in range(2 * len(operands))]
    with w.region(scalars) as region:
        which = w.rng.choice(("LT", "GT")) if w.options.numbers else "LT"
        direction = f"comparison_direction = #stablehlo<comparison_direction {which}>"
        if w.options.numbers and w.kind == "f":  # NaN has a place, too
            direction += ", compare_type = #stablehlo<comparison_type TOTALORDER>"
        less = w.emit(
            "stablehlo.compare", scalars[:2], [((), "i1")], direction, shard=False
        )
        w.ends("stablehlo.return", less)
    dim = w.rng.randrange(len(x.shape))
    w.emit(
        "stablehlo.sort",
        operands,
        [(x.shape, w.element)] * len(operands),
        f"dimension = {dim} : i64, is_stable = true",
        region[0],
    )


def dynamic_slice(w: Writer) -> None:
    x = w.some()
    shape = [w.rng.choice((size, size, w.rng.randint(1, size))) for size in x.shape]
    starts = [w.like((), "i32") for _ in shape]
    w.emit(
        "stablehlo.dynamic_slice",
        [x, *starts],
        [(shape, w.element)],
        f"slice_sizes = {array(shape)}",
    )


def dynamic_update_slice(w: Writer) -> None:
    x = w.some()
    shape = [w.rng.choice((size, size, w.rng.randint(1, size))) for size in x.shape]
    starts = [w.like((), "i32") for _ in shape]
    w.emit(
        "stablehlo.dynamic_update_slice",
        [x, w.like(shape), *starts],
        [(x.shape, w.element)],
    )


def gather(w: Writer) -> None:
    """Rows of a table, perhaps with a batch dimension that both have."""
    table = w.some(2, 3)
    batched = len(table.shape) == 3 and w.rng.random() < 0.5
    batch = list(table.shape[:1]) if batched else []
    indices = w.like([*batch, *w.shape(1, 2), 1], "i32")
    first = len(batch)
    sizes = [1] * (first + 1) + list(table.shape[first + 1 :])
    many = indices.shape[:-1]
    kept = table.shape[first + 1 :]
    offset = list(range(len(many), len(many) + len(kept)))
    numbers = (
        f"offset_dims = {offset}, collapsed_slice_dims = [{first}], "
        f"operand_batching_dims = {list(range(first))}, "
        f"start_indices_batching_dims = {list(range(first))}, "
        f"start_index_map = [{first}], index_vector_dim = {len(many)}"
    )
    w.emit(
        "stablehlo.gather",
        [table, indices],
        [((*many, *kept), w.element)],
        f"dimension_numbers = #stablehlo.gather<{numbers}>, "
        f"slice_sizes = {array(sizes)}",
    )


def scatter(w: Writer) -> None:
    """Add rows into a table."""
    table = w.some(2, 3)
    indices = w.like([*w.shape(1, 2), 1], "i32")
    many, kept = indices.shape[:-1], table.shape[1:]
    updates = w.like((*many, *kept))
    window = list(range(len(many), len(many) + len(kept)))
    numbers = (
        f"update_window_dims = {window}, inserted_window_dims = [0], "
        f"scatter_dims_to_operand_dims = [0], index_vector_dim = {len(many)}"
    )
    w.emit(
        "stablehlo.scatter",
        [table, indices, updates],
        [(table.shape, w.element)],
        f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>",
        w.combiner(reducer(w), w.element),
    )


def cholesky(w: Writer) -> None:
    size = w.rng.choice((2, 4, 8))
    x = w.like((*w.shape(0, 2), size, size))
    if w.options.numbers:
        x = positive_definite(w, x)
    w.emit("stablehlo.cholesky", [x], [(x.shape, "f32")], "lower = true")


def positive_definite(w: Writer, x: Tensor) -> Tensor:
    """The matrices times their transposes, and ones on the diagonal; of bounded x."""
    shape, last = x.shape, len(x.shape) - 1
    (x,) = w.emit("stablehlo.tanh", [x], [(shape, "f32")])
    batch = list(range(last - 1))
    numbers = (
        f"lhs_batching_dimensions = {batch}, rhs_batching_dimensions = {batch}, "
        f"lhs_contracting_dimensions = [{last}], rhs_contracting_dimensions = [{last}]"
    )
    numbers = f"dot_dimension_numbers = #stablehlo.dot<{numbers}>"
    (square,) = w.emit("stablehlo.dot_general", [x, x], [(shape, "f32")], numbers)
    sums = w.emit("stablehlo.add", [square, identity(w, shape)], [(shape, "f32")])
    return sums[0]


def identity(w: Writer, shape: Sequence[int]) -> Tensor:
    """Unit matrices."""
    last = len(shape) - 1
    rows, columns = (
        w.emit("stablehlo.iota", [], [(shape, "i32")], f"iota_dimension = {dim} : i64")
        for dim in (last - 1, last)
    )
    direction = "comparison_direction = #stablehlo<comparison_direction EQ>"
    equal = w.emit("stablehlo.compare", [*rows, *columns], [(shape, "i1")], direction)
    return w.emit("stablehlo.convert", equal, [(shape, "f32")])[0]


def triangular_solve(w: Writer) -> None:
    size, batch = w.rng.choice((2, 4, 8)), w.shape(0, 1)
    a = w.like((*batch, size, size))
    if w.options.numbers:
        a = positive_definite(w, a)
    left = w.rng.random() < 0.5
    shape = (*batch, size, w.rng.choice(w.options.sizes))
    b = w.like(shape if left else (*batch, shape[-1], size))
    w.emit(
        "stablehlo.triangular_solve",
        [a, b],
        [(b.shape, "f32")],
        f"left_side = {str(left).lower()}, lower = true, unit_diagonal = false, "
        "transpose_a = #stablehlo<transpose NO_TRANSPOSE>",
    )


def unknown_call(w: Writer) -> None:
    """A custom call without a rule; a wall for shardings."""
    x = w.some()
    w.emit(
        "stablehlo.custom_call", [x], [(x.shape, "f32")], 'call_target_name = "unknown"'
    )


def known_call(w: Writer) -> None:
    """A custom call that Shardy knows."""
    x = w.some(2)
    *batch, rows, columns = x.shape
    results: list[tuple[Sequence[int], str]]
    match target := w.rng.choice(
        (
            "mhlo.erf",
            "mhlo.topk",
            "Eigh",
            "Qr",
            "MoveToHost",
            "annotate_device_placement",
        )
    ):
        case "mhlo.topk":
            best = (*batch, rows, w.rng.randint(1, columns))
            results = [(best, "f32"), (best, "i32")]
        case "Eigh":
            x = w.like((*batch, rows, rows))
            results = [(x.shape, "f32"), ((*batch, rows), "f32")]
        case "Qr":
            results = [(x.shape, "f32"), ((*batch, min(rows, columns)), "f32")]
        case _:
            results = [(x.shape, "f32")]
    w.emit("stablehlo.custom_call", [x], results, f'call_target_name = "{target}"')


def collective(w: Writer) -> None:
    """A collective over one group of two devices, in a program that is global."""
    x = w.some()
    dim = w.rng.randrange(len(x.shape))
    groups = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
    grown = [size * 2 if d == dim else size for d, size in enumerate(x.shape)]
    halved = [size // 2 if d == dim else size for d, size in enumerate(x.shape)]
    other = w.rng.randrange(len(x.shape))
    moved = [
        size // 2 if d == dim else size * 2 if d == other else size
        for d, size in enumerate(x.shape)
    ]
    kinds = ["all_reduce", "all_gather", "collective_permute"]
    if x.shape[dim] % 2 == 0:
        kinds += ["reduce_scatter"]
        if other != dim:
            kinds += ["all_to_all"]
    match kind := w.rng.choice(kinds):
        case "all_reduce":
            shape, more = list(x.shape), groups
        case "all_gather":
            shape, more = grown, f"all_gather_dim = {dim} : i64, {groups}"
        case "collective_permute":
            shape = list(x.shape)
            more = "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>"
        case "reduce_scatter":
            shape, more = halved, f"scatter_dimension = {dim} : i64, {groups}"
        case _:
            shape = moved
            more = (
                f"split_dimension = {dim} : i64, concat_dimension = {other} : i64, "
                f"split_count = 2 : i64, {groups}"
            )
    region = ""
    if kind in ("all_reduce", "reduce_scatter"):
        region = w.combiner("stablehlo.add", "f32")
    w.emit(f"stablehlo.{kind}", [x], [(shape, "f32")], more, region)


def ruled_call(w: Writer) -> None:
    """A custom call with a rule of the user's."""
    x = w.some(2, 2, accept=lambda tensor: len(tensor.shape) == 2)
    rows, columns = x.shape
    w.emit(
        "stablehlo.custom_call",
        [x],
        [((columns, rows), "f32")],
        'call_target_name = "ruled"',
        attributes="sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) "
        f"{{i={rows}, j={columns}}}, custom>",
    )


BODY_OPS: tuple[Op, ...] = (unary, binary, binary, transpose, reshape, dot, broadcast)


def body_ops(w: Writer, count: int) -> None:
    """A few ops for the body of a region."""
    for _ in range(count):
        w.rng.choice(BODY_OPS)(w)
