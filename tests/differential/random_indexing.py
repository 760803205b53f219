"""Ops of random programs in all their forms: gathers, scatters, windows, types.

`random_ops` writes the common forms, which is what propagation sees most; here every
dimension number, padding and dilation is drawn, for programs that are run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tests.differential.random_ops import is_too_long, neutral, reducer
from tests.differential.random_regions import body_ops
from tests.differential.random_writer import (
    Tensor,
    Writer,
    array,
    dense,
    kind_of,
    nested,
)


@dataclass(frozen=True)
class Windows:
    """Which part of an operand each index of a gather or scatter stands for.

    Attributes:
        sizes: of the window, one a dimension of the operand.
        batching: dimensions of the operand that go with one of the indices.
        dropped: dimensions of size 1 that the window has and the slice has not.
        index_map: dimension of the operand that each entry of an index speaks of.
        batching_of_indices: the dimensions that go with `batching`.
        vector: the dimension of the indices that an index lies along.
        many: sizes of the other dimensions of the indices, in order.
        offset: dimensions of the slices, or updates, that the window becomes.
    """

    sizes: tuple[int, ...]
    batching: tuple[int, ...]
    dropped: tuple[int, ...]
    index_map: tuple[int, ...]
    batching_of_indices: tuple[int, ...]
    vector: int
    many: tuple[int, ...]
    offset: tuple[int, ...]

    @property
    def indices_shape(self) -> tuple[int, ...]:
        """The shape of the indices."""
        shape = list(self.many)
        if self.vector < len(shape) or len(self.index_map) != 1:
            shape.insert(self.vector, len(self.index_map))
        return tuple(shape)

    @property
    def slices_shape(self) -> tuple[int, ...]:
        """The shape of all slices together, or of the updates."""
        without = (*self.batching, *self.dropped)
        window = [n for dim, n in enumerate(self.sizes) if dim not in without]
        many, rank = list(self.many), len(self.many) + len(window)
        return tuple(
            (window if dim in self.offset else many).pop(0) for dim in range(rank)
        )


def windows(w: Writer, shape: Sequence[int]) -> Windows:
    rng = w.rng
    dims = list(range(len(shape)))
    batching = [dim for dim in dims if len(dims) > 1 and rng.random() < 0.25][:2]
    rest = [dim for dim in dims if dim not in batching]
    if not rest:
        rest = [batching.pop()]
    index_map = rng.sample(rest, rng.randint(1, len(rest)))
    sizes = [
        1
        if dim in batching
        else rng.choice((1, shape[dim], rng.randint(1, shape[dim])))
        for dim in dims
    ]
    dropped = [dim for dim in rest if sizes[dim] == 1 and rng.random() < 0.7]
    many = [(shape[dim], dim) for dim in batching]
    many += [(rng.choice((1, 2, 3, 4, 8)), -1) for _ in range(rng.randint(0, 2))]
    rng.shuffle(many)
    vector = rng.randint(0, len(many)) if rng.random() < 0.4 else len(many)
    implicit = len(index_map) == 1 and vector == len(many)
    places = {
        dim: at + (not implicit and at >= vector) for at, (_, dim) in enumerate(many)
    }
    rank = len(many) + len(dims) - len(batching) - len(dropped)
    offset = sorted(rng.sample(range(rank), rank - len(many)))
    return Windows(
        tuple(sizes),
        tuple(batching),
        tuple(dropped),
        tuple(index_map),
        tuple(places[dim] for dim in batching),
        vector,
        tuple(size for size, _ in many),
        tuple(offset),
    )


def gather_any(w: Writer) -> None:
    x = w.some(1, 4)
    cut = windows(w, x.shape)
    numbers = (
        f"offset_dims = {list(cut.offset)}, collapsed_slice_dims = {list(cut.dropped)}, "
        f"operand_batching_dims = {list(cut.batching)}, "
        f"start_indices_batching_dims = {list(cut.batching_of_indices)}, "
        f"start_index_map = {list(cut.index_map)}, index_vector_dim = {cut.vector}"
    )
    w.emit(
        "stablehlo.gather",
        [x, w.like(cut.indices_shape, "i32")],
        [(cut.slices_shape, x.element)],
        f"dimension_numbers = #stablehlo.gather<{numbers}>, "
        f"slice_sizes = {array(cut.sizes)}",
    )


def scatter_any(w: Writer) -> None:
    x = w.some(1, 4)
    cut = windows(w, x.shape)
    numbers = (
        f"update_window_dims = {list(cut.offset)}, "
        f"inserted_window_dims = {list(cut.dropped)}, "
        f"input_batching_dims = {list(cut.batching)}, "
        f"scatter_indices_batching_dims = {list(cut.batching_of_indices)}, "
        f"scatter_dims_to_operand_dims = {list(cut.index_map)}, "
        f"index_vector_dim = {cut.vector}"
    )
    if all(cut.sizes[dim] == 1 for dim in cut.index_map):
        indices = w.like(cut.indices_shape, "i32")
    else:
        indices = fitting_indices(w, cut, x.shape)
    w.emit(
        "stablehlo.scatter",
        [x, indices, w.like(cut.slices_shape)],
        [(x.shape, x.element)],
        f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>",
        w.combiner(reducer(w), x.element),
    )


def fitting_indices(w: Writer, cut: Windows, shape: Sequence[int]) -> Tensor:
    """Constant indices whose windows lie inside.

    Of a window that sticks out StableHLO scatters what is inside, XLA nothing.
    """
    most = [shape[dim] - cut.sizes[dim] for dim in cut.index_map]
    implicit = len(cut.indices_shape) == len(cut.many)
    behind = 1 if implicit else prod(cut.indices_shape[cut.vector + 1 :])
    drawn = [
        w.rng.randint(0, most[at // behind % len(most)])
        for at in range(prod(cut.indices_shape))
    ]
    return w.constant(cut.indices_shape, "i32", nested(drawn, cut.indices_shape))


def top_k(w: Writer) -> None:
    x = w.some(1, 3)
    k = w.rng.randint(1, x.shape[-1])
    shape = (*x.shape[:-1], k)
    w.emit("chlo.top_k", [x], [(shape, x.element), (shape, "i32")], f"k = {k} : i64")


def cumulative(w: Writer) -> None:
    """What has been summed (or multiplied, or was the largest) up to each element."""
    x = w.some()
    dim = w.rng.randrange(len(x.shape))
    if is_too_long(w, x.shape[dim]):
        return
    window = [size if at == dim else 1 for at, size in enumerate(x.shape)]
    before = x.shape[dim] - 1
    pairs = [[before, 0] if at == dim else [0, 0] for at in range(len(x.shape))]
    if w.rng.random() < 0.3:
        pairs[dim].reverse()
    op = reducer(w)
    w.emit(
        "stablehlo.reduce_window",
        [x, neutral(w, op)],
        [(x.shape, x.element)],
        f"window_dimensions = {array(window)}, padding = {dense(pairs, (len(pairs), 2))}",
        w.combiner(op, x.element),
    )


@dataclass(frozen=True)
class Sliding:
    """A window that moves along one dimension of some size."""

    size: int
    stride: int = 1
    low: int = 0
    high: int = 0
    base_dilation: int = 1
    dilation: int = 1

    def steps(self, length: int) -> int:
        """In how many places the window fits."""
        long = max(0, (length - 1) * self.base_dilation + 1) + self.low + self.high
        reach = (self.size - 1) * self.dilation + 1
        return 0 if long < reach else (long - reach) // self.stride + 1


def sliding(w: Writer, length: int, most: int = 4) -> Sliding:
    """A window of any kind that fits at least once."""
    rng = w.rng
    for _ in range(20):
        drawn = Sliding(
            rng.randint(1, most),
            rng.choice((1, 1, 1, 2, 3)),
            rng.choice((0, 0, 1, 2, -1)),
            rng.choice((0, 0, 1, 2, -1)),
            rng.choice((1, 1, 1, 2)),
            rng.choice((1, 1, 1, 2)),
        )
        if drawn.steps(length):
            return drawn
    return Sliding(1)


def window_properties(slides: Sequence[Sliding], names: Sequence[str]) -> str:
    """Strides, dilations and padding, under the names that an op has for them."""
    strides, base, dilations = names
    padding = [[one.low, one.high] for one in slides]
    return (
        f"{strides} = {array([one.stride for one in slides])}, "
        f"{base} = {array([one.base_dilation for one in slides])}, "
        f"{dilations} = {array([one.dilation for one in slides])}, "
        f"padding = {dense(padding, (len(slides), 2))}"
    )


def reduce_window_any(w: Writer) -> None:
    x = w.some()
    slides = [
        sliding(w, size, 3) if w.rng.random() < 0.6 else Sliding(1) for size in x.shape
    ]
    # StableHLO's reduce_window may not cut
    slides = [
        Sliding(
            one.size,
            one.stride,
            max(0, one.low),
            max(0, one.high),
            one.base_dilation,
            one.dilation,
        )
        for one in slides
    ]
    shape = [one.steps(size) for one, size in zip(slides, x.shape, strict=True)]
    names = ("window_strides", "base_dilations", "window_dilations")
    op = reducer(w)
    w.emit(
        "stablehlo.reduce_window",
        [x, neutral(w, op)],
        [(shape, x.element)],
        f"window_dimensions = {array([one.size for one in slides])}, "
        + window_properties(slides, names),
        w.combiner(op, x.element),
    )


def convolution_any(w: Writer) -> None:
    rng = w.rng
    spatial = rng.choice((1, 2, 2, 3))
    lengths = [rng.choice((3, 4, 6, 8)) for _ in range(spatial)]
    slides = [sliding(w, length, 3) for length in lengths]
    groups = rng.choice((1, 1, 2, 4))
    by_batch = groups > 1 and rng.random() < 0.4
    batch, features = rng.choice((1, 2, 4)), rng.choice((1, 2, 3))
    out = rng.choice((1, 2, 4)) * groups
    x_shape = [batch, features, *lengths]
    x_shape[0 if by_batch else 1] *= groups
    kernel_shape = [features, out, *(one.size for one in slides)]
    steps = [one.steps(n) for one, n in zip(slides, lengths, strict=True)]
    result_shape = [batch, out, *steps]

    def placed(shape: Sequence[int], first: str) -> tuple[list[int], str]:
        order = rng.sample(range(len(shape)), len(shape))
        names = [*first, *map(str, range(spatial))]
        return [shape[at] for at in order], ", ".join(names[at] for at in order)

    x_shape, x_names = placed(x_shape, "bf")
    kernel_shape, kernel_names = placed(kernel_shape, "io")
    result_shape, result_names = placed(result_shape, "bf")
    reversal = ", ".join(rng.choice(("true", "false", "false")) for _ in slides)
    names = ("window_strides", "lhs_dilation", "rhs_dilation")
    w.emit(
        "stablehlo.convolution",
        [w.like(x_shape), w.like(kernel_shape)],
        [(result_shape, w.element)],
        f"dimension_numbers = #stablehlo.conv<[{x_names}]x[{kernel_names}]->[{result_names}]>, "
        f"feature_group_count = {1 if by_batch else groups} : i64, "
        f"batch_group_count = {groups if by_batch else 1} : i64, "
        f"window_reversal = array<i1: {reversal}>, {window_properties(slides, names)}",
    )


def pad_any(w: Writer) -> None:
    """Padding that also cuts."""
    x = w.some()
    low: list[int] = []
    high: list[int] = []
    interior: list[int] = []
    shape: list[int] = []
    for size in x.shape:
        i = w.rng.choice((0, 0, 0, 1, 2))
        long = size + max(0, size - 1) * i
        a, b = (w.rng.choice((0, 0, 1, 3, -1, -2)) for _ in range(2))
        if long + a + b < 1:
            a = b = 0
        low.append(a)
        high.append(b)
        interior.append(i)
        shape.append(long + a + b)
    w.emit(
        "stablehlo.pad",
        [x, w.like(())],
        [(shape, x.element)],
        f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, "
        f"interior_padding = {array(interior)}",
    )


def convert_any(w: Writer) -> None:
    """To another element type of the program."""
    x = w.some(0)
    target = w.rng.choice(w.options.elements)
    if kind_of(x.element) == "c" and kind_of(target) != "c":
        part = w.rng.choice(("real", "imag"))
        w.emit(f"stablehlo.{part}", [x], [(x.shape, "f32")])
        return
    w.emit("stablehlo.convert", [x], [(x.shape, target)])


def compare_any(w: Writer) -> None:
    x = w.some(0)
    which = w.rng.choice(("EQ", "NE") if w.kind == "c" else ("LT", "GE", "EQ", "GT"))
    direction = f"comparison_direction = #stablehlo<comparison_direction {which}>"
    w.emit("stablehlo.compare", [x, w.like(x.shape)], [(x.shape, "i1")], direction)


def select_any(w: Writer) -> None:
    """By a condition for each element or for all."""
    x = w.some(0)
    condition = w.like(w.rng.choice(((), x.shape)), "i1")
    w.emit("stablehlo.select", [condition, x, w.like(x.shape)], [(x.shape, x.element)])


def if_(w: Writer) -> None:
    if not w.options.regions or w.depth > 1:
        return
    condition = w.like((), "i1")
    shapes = [w.some().shape for _ in range(w.rng.randint(1, 2))]
    branches: list[str] = []
    for _ in range(2):
        with w.region([]) as branch:
            body_ops(w, w.rng.randint(1, 3))
            w.ends("stablehlo.return", [w.like(shape) for shape in shapes])
        branches += branch
    w.emit(
        "stablehlo.if",
        [condition],
        [(shape, w.element) for shape in shapes],
        regions=", ".join(branches),
    )


def sort_keys(w: Writer) -> None:
    """By two keys, the second decides between equals; integers, so that there are some."""
    x = w.some(1, 4, "i32")
    operands = [x, w.like(x.shape, "i32"), w.like(x.shape)]
    scalars = [Tensor(w.fresh(), (), one.element) for one in operands for _ in "lr"]
    with w.region(scalars) as region:

        def compared(which: str, pair: Sequence[Tensor]) -> Tensor:
            said = f"comparison_direction = #stablehlo<comparison_direction {which}>"
            return w.emit("stablehlo.compare", pair, [((), "i1")], said, shard=False)[0]

        less = compared(w.rng.choice(("LT", "GT")), scalars[:2])
        equal = compared("EQ", scalars[:2])
        then = compared(w.rng.choice(("LT", "GT")), scalars[2:4])
        (both,) = w.emit("stablehlo.and", [equal, then], [((), "i1")], shard=False)
        (first,) = w.emit("stablehlo.or", [less, both], [((), "i1")], shard=False)
        w.ends("stablehlo.return", [first])
    dim = w.rng.randrange(len(x.shape))
    w.emit(
        "stablehlo.sort",
        operands,
        [(one.shape, one.element) for one in operands],
        f"dimension = {dim} : i64, is_stable = true",
        region[0],
    )
