"""Random programs of ops that look over the borders of shards.

Convolutions, pooling and its gradient, pads, slices, shifts, rotations and reversals,
one after another, of values whose dimensions most meshes divide.

    text = windowed_program(7, MESHES["2x4"])
"""

import random
from collections.abc import Sequence

from tests.differential.random_ops import Op
from tests.differential.random_writer import Options, Tensor, Writer, array, dense
from ttxdsl.sharding.devices.mesh import Mesh

SIZES = (4, 8, 8, 12, 16, 16, 24, 32)
LARGEST = 64
"""No dimension grows beyond it."""

OPTIONS = Options(sharded=0.9, sharded_between=0.35)


def _source(w: Writer) -> Tensor:
    """A value of the program, or a new argument of one to three dimensions."""
    if w.values and w.rng.random() < 0.85:
        values = [v for v in w.values if v.shape and v.element == "f32"]
        if values:
            return w.rng.choice(values[-4:])
    shape = [w.rng.choice(SIZES) for _ in range(w.rng.choice((1, 2, 2, 3)))]
    return w.new(shape)


def _window(w: Writer, size: int) -> tuple[int, int, int, int, int, int]:
    """Window, stride, dilation, padding before and behind, number of windows.

    Half of the time the number of windows is the size over the stride, as in models.
    """
    rng = w.rng
    for _ in range(100):
        window, stride = rng.randint(1, 5), rng.choice((1, 1, 1, 2, 2, 3))
        spread = rng.choice((1, 1, 1, 2, 3))
        extent = (window - 1) * spread + 1
        low = rng.choice((0, extent // 2, extent - 1, rng.randint(-2, extent)))
        high = rng.randint(-2, extent)
        if rng.random() < 0.5 and size % stride == 0:
            high = (size // stride - 1) * stride + extent - size - low
        if size + low >= 1 and size + high >= 1 and size + low + high >= extent:
            count = (size + low + high - extent) // stride + 1
            if count <= LARGEST:
                return window, stride, spread, low, high, count
    return 1, 1, 1, 0, 0, size


def _windows(
    w: Writer, shape: Sequence[int], chosen: Sequence[int]
) -> tuple[list[int], list[int], list[int], list[list[int]], list[int]]:
    """Windows, strides, dilations, paddings and result sizes; trivial if not chosen."""
    found = [
        _window(w, size) if dim in chosen else (1, 1, 1, 0, 0, size)
        for dim, size in enumerate(shape)
    ]
    return (
        [one[0] for one in found],
        [one[1] for one in found],
        [one[2] for one in found],
        [[one[3], one[4]] for one in found],
        [one[5] for one in found],
    )


def _some_dims(w: Writer, rank: int) -> list[int]:
    return w.rng.sample(range(rank), w.rng.randint(1, min(2, rank)))


def pool(w: Writer) -> None:
    x = _source(w)
    base = [1] * len(x.shape)
    windows, strides, spread, pads, shape = _windows(
        w, x.shape, _some_dims(w, len(x.shape))
    )
    if w.rng.random() < 0.1:
        dim = w.rng.randrange(len(x.shape))
        base[dim] = 2
        spread_size = (x.shape[dim] - 1) * 2 + 1 + sum(pads[dim])
        extent = (windows[dim] - 1) * spread[dim] + 1
        if spread_size < extent:
            return
        shape[dim] = (spread_size - extent) // strides[dim] + 1
    inputs = [x] + ([w.like(x.shape)] if w.rng.random() < 0.2 else [])
    initial = [w.like(()) for _ in inputs]
    w.emit(
        "stablehlo.reduce_window",
        [*inputs, *initial],
        [(shape, "f32")] * len(inputs),
        f"window_dimensions = {array(windows)}, window_strides = {array(strides)}, "
        f"base_dilations = {array(base)}, window_dilations = {array(spread)}, "
        f"padding = {dense(pads, (len(x.shape), 2))}",
        w.combiner(
            w.rng.choice(("stablehlo.add", "stablehlo.maximum")), "f32", len(inputs)
        ),
    )


def running(w: Writer) -> None:
    """A cumulative op, as JAX writes it: a window of the whole dimension."""
    x = _source(w)
    dim = w.rng.randrange(len(x.shape))
    size = x.shape[dim]
    windows = [size if d == dim else 1 for d in range(len(x.shape))]
    pads = [[size - 1, 0] if d == dim else [0, 0] for d in range(len(x.shape))]
    if w.rng.random() < 0.3:
        pads[dim].reverse()
    w.emit(
        "stablehlo.reduce_window",
        [x, w.like(())],
        [(x.shape, "f32")],
        f"window_dimensions = {array(windows)}, padding = "
        f"{dense(pads, (len(x.shape), 2))}",
        w.combiner("stablehlo.add", "f32"),
    )


def convolve(w: Writer) -> None:
    rng = w.rng
    spatial = rng.choice((1, 1, 2))
    batch, features, out = (rng.choice((2, 4, 8)) for _ in range(3))
    feature_groups = rng.choice((1, 1, 1, 2))
    batch_groups = 1 if feature_groups > 1 else rng.choice((1, 1, 1, 2))
    sizes = [rng.choice(SIZES[:6]) for _ in range(spatial)]
    windows, strides, spread, pads, places = _windows(w, sizes, range(spatial))
    base = [1] * spatial
    if rng.random() < 0.15:
        base[0] = 2
        spread_size = (sizes[0] - 1) * 2 + 1 + sum(pads[0])
        extent = (windows[0] - 1) * spread[0] + 1
        if spread_size < extent:
            return
        places[0] = (spread_size - extent) // strides[0] + 1
    reversal = [rng.choice(("false", "false", "true")) for _ in range(spatial)]
    out = out if out % (feature_groups * batch_groups) == 0 else out * 2
    x = w.like((batch, *sizes, features))
    kernel = w.like((*windows, features // feature_groups, out))
    names = ", ".join(str(dim) for dim in range(spatial))
    w.emit(
        "stablehlo.convolution",
        [x, kernel],
        [((batch // batch_groups, *places, out), "f32")],
        f"dimension_numbers = #stablehlo.conv<[b, {names}, f]x[{names}, i, o]->"
        f"[b, {names}, f]>, feature_group_count = {feature_groups} : i64, "
        f"batch_group_count = {batch_groups} : i64, "
        f"window_strides = {array(strides)}, padding = {dense(pads, (spatial, 2))}, "
        f"lhs_dilation = {array(base)}, rhs_dilation = {array(spread)}, "
        f"window_reversal = array<i1: {', '.join(reversal)}>",
    )


def pool_gradient(w: Writer) -> None:
    x = _source(w)
    windows, strides, _, pads, shape = _windows(w, x.shape, _some_dims(w, len(x.shape)))
    for dim, size in enumerate(x.shape):
        # no dilation in this op; no window may lie in the padding alone
        pads[dim] = [min(max(0, pad), max(0, windows[dim] - 1)) for pad in pads[dim]]
        shape[dim] = (size + sum(pads[dim]) - windows[dim]) // strides[dim] + 1
        if shape[dim] < 1:
            return
    scalars = [Tensor(w.fresh(), (), "f32") for _ in range(2)]
    with w.region(scalars) as region:
        direction = "comparison_direction = #stablehlo<comparison_direction GE>"
        more = w.emit(
            "stablehlo.compare", scalars, [((), "i1")], direction, shard=False
        )
        w.ends("stablehlo.return", more)
    w.emit(
        "stablehlo.select_and_scatter",
        [x, w.like(shape), w.like(())],
        [(x.shape, "f32")],
        f"window_dimensions = {array(windows)}, window_strides = {array(strides)}, "
        f"padding = {dense(pads, (len(x.shape), 2))}",
        f"{region[0]}, {w.combiner('stablehlo.add', 'f32')}",
    )


def surround(w: Writer) -> None:
    """Edge, interior and negative padding."""
    x, rng = _source(w), w.rng
    low, high, interior = ([0] * len(x.shape) for _ in range(3))
    for dim in _some_dims(w, len(x.shape)):
        interior[dim] = rng.choice((0, 0, 0, 1, 2))
        low[dim] = rng.randint(-3, 3)
        high[dim] = rng.choice(
            (-low[dim], interior[dim] - low[dim], rng.randint(-2, 3))
        )
        if rng.random() < 0.2:
            # as in the gradients of slices: to twice or four times the size
            high[dim] = x.shape[dim] * rng.choice((1, 3)) - low[dim]
    shape = [
        size + a + b + (size - 1) * i
        for size, a, b, i in zip(x.shape, low, high, interior, strict=True)
    ]
    if not all(0 < size <= LARGEST for size in shape):
        return
    w.emit(
        "stablehlo.pad",
        [x, w.like(())],
        [(shape, "f32")],
        f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, "
        f"interior_padding = {array(interior)}",
    )


def _cut(
    w: Writer, x: Tensor, dim: int, start: int, limit: int, stride: int = 1
) -> Tensor:
    starts, limits, strides = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
    starts[dim], limits[dim], strides[dim] = start, limit, stride
    shape = list(x.shape)
    shape[dim] = -(-(limit - start) // stride)
    return w.emit(
        "stablehlo.slice",
        [x],
        [(shape, "f32")],
        f"start_indices = {array(starts)}, limit_indices = {array(limits)}, "
        f"strides = {array(strides)}",
    )[0]


def cut(w: Writer) -> None:
    x, rng = _source(w), w.rng
    dim = rng.randrange(len(x.shape))
    size, stride = x.shape[dim], rng.choice((1, 1, 2, 2, 3, 4))
    start = min(size - 1, rng.choice((0, 0, 1, size // 2, rng.randrange(size))))
    limit = rng.choice((size, rng.randint(start + 1, size)))
    _cut(w, x, dim, start, limit, stride)


def _join(w: Writer, parts: Sequence[Tensor], dim: int) -> None:
    shape = list(parts[0].shape)
    shape[dim] = sum(part.shape[dim] for part in parts)
    if shape[dim] <= LARGEST:
        w.emit(
            "stablehlo.concatenate", parts, [(shape, "f32")], f"dimension = {dim} : i64"
        )


def rotate(w: Writer) -> None:
    """`roll`: the end comes first."""
    x = _source(w)
    dim = w.rng.randrange(len(x.shape))
    size = x.shape[dim]
    if size > 1:
        at = w.rng.choice((1, size // 2, size - 1, w.rng.randrange(1, size)))
        _join(w, [_cut(w, x, dim, at, size), _cut(w, x, dim, 0, at)], dim)


def join(w: Writer) -> None:
    x = _source(w)
    dim = w.rng.randrange(len(x.shape))
    other = list(x.shape)
    other[dim] = w.rng.choice((1, x.shape[dim], x.shape[dim]))
    parts = [x, w.like(other)]
    w.rng.shuffle(parts)
    _join(w, parts, dim)


def turn(w: Writer) -> None:
    x = _source(w)
    dims = w.rng.sample(range(len(x.shape)), w.rng.randint(1, len(x.shape)))
    w.emit("stablehlo.reverse", [x], [(x.shape, "f32")], f"dimensions = {array(dims)}")


def add(w: Writer) -> None:
    x = _source(w)
    w.emit("stablehlo.add", [x, w.like(x.shape)], [(x.shape, "f32")])


MOVING: tuple[Op, ...] = (surround, surround, cut, cut, rotate, join, turn)
COMPUTING: tuple[Op, ...] = (
    *MOVING, pool, pool, running, convolve, convolve, convolve, pool_gradient, add,
)  # fmt: skip


def windowed_program(seed: int, mesh: Mesh) -> str:
    """The program of a seed, in MLIR's generic form; every other only moves data."""
    rng = random.Random(seed)
    w = Writer(rng, OPTIONS, mesh)
    ops = COMPUTING if seed % 2 else MOVING
    for _ in range(rng.randint(1, 5)):
        rng.choice(ops)(w)
    while not w.values:
        surround(w)
    results = list(dict.fromkeys((w.values[-1], rng.choice(w.values))))

    def sharded(tensor: Tensor, likely: float) -> str:
        if rng.random() >= likely:
            return tensor.type
        sharding = w.sharding(tensor.shape)
        return f"{tensor.type} {{sdy.sharding = #sdy.sharding{sharding}}}"

    arguments = ", ".join(f"{x.name}: {sharded(x, 0.9)}" for x in w.arguments)
    types = ", ".join(sharded(x, 0.4) for x in results)
    names = ", ".join(x.name for x in results)
    returned = ", ".join(x.type for x in results)
    body = "\n".join(w.lines)
    return (
        f"module {{\n  sdy.mesh @mesh = {mesh}\n"
        f"  func.func @main({arguments}) -> ({types}) {{\n{body}\n"
        f"    return {names} : {returned}\n  }}\n}}\n"
    )
