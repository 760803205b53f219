"""Reading and writing at computed places: gather, scatter, dynamic slices, sort.

Start indices may differ from device to device, that is, have leading dimensions of
their own; the result then has them too.

Source: StableHLO specification, sections dynamic_slice, dynamic_update_slice, gather,
scatter and sort.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttxdsl.dialects.stablehlo.attributes import GatherDims, ScatterDims
from ttxdsl.interpreters.kernels.contraction import windows
from ttxdsl.interpreters.kernels.elements import widen
from ttxdsl.interpreters.kernels.elementwise import (
    expand_scalar,
    has_negative_zero,
    lead_shape,
    pad,
    transpose,
)
from ttxdsl.interpreters.kernels.reduction import IDEMPOTENT, UFUNCS, Arrays, Reducer

Array = NDArray[Any]


def _as_index(x: Array) -> Array:
    """`x` as i64; unsigned values beyond its range become its greatest value."""
    x = widen(x)
    if x.dtype == np.uint64:
        x = np.minimum(x, np.uint64(np.iinfo(np.int64).max))
    return x.astype(np.int64)


def _along(count: int, at: int, rank: int) -> Array:
    """0, 1, …, count - 1 along dimension `at` of `rank`."""
    return np.arange(count).reshape((-1,) + (1,) * (rank - at - 1))


def _take(
    x: Array, starts: Mapping[int, Array], sizes: Sequence[int], lead: int, batch: int
) -> Array:
    """Slices of `x`: [lead…, batch…, sizes…].

    Args:
        starts: for tensor dimensions where slices start, [lead…, batch…], in bounds;
            0 for the others.
        lead: how many leading dimensions there are.
        batch: how many batch dimensions the starts have.
    """
    rank = len(sizes)
    local = x.shape[lead:]
    # a dimension taken whole needs no index array
    cut = [
        d for d in range(rank) if d in starts and (sizes[d] < local[d] or local[d] != 1)
    ]
    cut = [d for d in cut if sizes[d] != local[d]]
    whole = [d for d in range(rank) if d not in cut]
    prefix = {d: slice(0, sizes[d]) for d in whole if sizes[d] != local[d]}
    if prefix:
        x = x[(..., *(prefix.get(d, slice(None)) for d in range(rank)))]
    wide = [d for d in cut if sizes[d] > 1]
    places = lead + batch + len(wide)
    index: list[Array] = []
    kept_leads = [i for i in range(lead) if x.shape[i] > 1]
    index += [_along(x.shape[i], i, places) for i in kept_leads]
    for d in cut:
        start = starts[d].reshape(starts[d].shape + (1,) * len(wide))
        if d in wide:
            start = start + _along(sizes[d], lead + batch + wide.index(d), places)
        index.append(start)
    if not index:
        taken = x.reshape((*x.shape[:lead], *(1,) * batch, *x.shape[lead:]))
        return taken
    other_leads = [i for i in range(lead) if i not in kept_leads]
    order = [*kept_leads, *(lead + d for d in cut), *other_leads]
    order += [lead + d for d in whole]
    # the dropped leading dimensions have extent 1
    y = x.transpose(order)
    y = y.reshape(
        [x.shape[i] for i in kept_leads]
        + [x.shape[lead + d] for d in cut]
        + [x.shape[lead + d] for d in whole]
    )
    shape = np.broadcast_shapes((1,) * places, *(i.shape for i in index))
    taken = y[tuple(index)]
    taken = taken.reshape((*shape, *taken.shape[taken.ndim - len(whole) :]))
    # [lead…, batch…, wide…, whole…]: single places get their dimension of 1 back
    slots = {d: lead + batch + at for at, d in enumerate([*wide, *whole])}
    single = [d for d in cut if d not in wide]
    slots |= {d: taken.ndim + at for at, d in enumerate(single)}
    taken = taken.reshape((*taken.shape, *(1 for _ in single)))
    return taken.transpose([*range(lead + batch), *(slots[d] for d in range(rank))])


def with_leads(
    arrays: Sequence[Array], ranks: Sequence[int]
) -> tuple[int, list[Array]]:
    """Return the number of leading dimensions, and the arrays with all of them."""
    pairs = list(zip(arrays, ranks, strict=True))
    lead = max((x.ndim - rank for x, rank in pairs), default=0)
    return lead, [
        x.reshape((1,) * (lead + rank - x.ndim) + x.shape) for x, rank in pairs
    ]


def _clamped(start: Array, size: int, extent: int) -> Array:
    return np.clip(_as_index(start), 0, max(0, extent - size))


def _corner(
    starts: Sequence[Array], sizes: Sequence[int], local: Sequence[int]
) -> tuple[slice, ...] | None:
    """Return the slice of `sizes` at `starts`, if these are the same on all devices."""
    cuts: list[slice] = []
    for start, size, extent in zip(starts, sizes, local, strict=True):
        if start.size != 1:
            return None
        at = min(max(int(start.item()), 0), max(extent - size, 0))
        cuts.append(slice(at, at + size))
    return tuple(cuts)


def dynamic_slice(x: Array, starts: Sequence[Array], sizes: Sequence[int]) -> Array:
    """Return the slice of `sizes` at `starts`, moved so far that it lies inside."""
    rank = len(sizes)
    local = x.shape[x.ndim - rank :]
    if (cuts := _corner(starts, sizes, local)) is not None:
        lead = max((start.ndim for start in starts), default=0)
        if lead > x.ndim - rank:
            x = x.reshape((1,) * (lead + rank - x.ndim) + x.shape)
        return x[(..., *cuts)] if rank else x
    lead, (x, *lifted) = with_leads([x, *starts], [rank, *[0] * rank])
    places = [
        _clamped(start, size, extent)
        for start, size, extent in zip(lifted, sizes, local, strict=True)
    ]
    return _take(x, dict(enumerate(places)), sizes, lead, 0)


def update_slice_in_place(
    x: Array, update: Array, starts: Sequence[Array]
) -> Array | None:
    """`x` itself, with `update` written at `starts`; see `dynamic_update_slice`.

    None, and nothing is written, where the result has more leading extents than `x`,
    or `x` lies otherwise than a new result would.
    """
    rank = len(starts)
    lead = x.ndim - rank
    cuts = _corner(starts, update.shape[update.ndim - rank :], x.shape[lead:])
    if cuts is None or any(start.ndim > lead for start in starts):
        return None
    if not _takes(x, update, rank):
        return None
    x[(..., *cuts)] = update
    return x


def _takes(x: Array, source: Array, rank: int) -> bool:
    """Return True if `x` lies as a new array, and has the leading extents of `source`."""
    own, leads = (
        x.shape[: x.ndim - rank][::-1],
        source.shape[: source.ndim - rank][::-1],
    )
    return (
        x.flags.c_contiguous
        and len(leads) <= len(own)
        and all(n in (1, m) for n, m in zip(leads, own, strict=False))
    )


def dynamic_update_slice(x: Array, update: Array, starts: Sequence[Array]) -> Array:
    """`x` with `update` written at `starts`, moved so far that it lies inside."""
    rank = len(starts)
    lead, (x, update, *lifted) = with_leads(
        [x, update, *starts], [rank, rank, *[0] * rank]
    )
    local, sizes = x.shape[lead:], update.shape[lead:]
    leads = lead_shape((x, rank), (update, rank), *((s, 0) for s in lifted))
    result = np.array(np.broadcast_to(x, (*leads, *local)))
    if (cuts := _corner(lifted, sizes, local)) is not None:
        result[(..., *cuts)] = update
        return result
    places = [
        _clamped(start, size, extent)
        for start, size, extent in zip(lifted, sizes, local, strict=True)
    ]
    total = lead + rank
    index = [_along(extent, i, total) for i, extent in enumerate(leads)]
    for d, place in enumerate(places):
        index.append(
            place.reshape(place.shape + (1,) * rank) + _along(sizes[d], lead + d, total)
        )
    result[tuple(index)] = update
    return result


def _index_vectors(indices: Array, rank: int, vector_dim: int) -> list[Array]:
    """Return one array a component of the index vectors, without that dimension."""
    if vector_dim == rank:
        return [indices]
    at = indices.ndim - rank + vector_dim
    return [indices.take(k, axis=at) for k in range(indices.shape[at])]


def gather(
    x: Array,
    indices: Array,
    ranks: tuple[int, int],
    dims: GatherDims,
    sizes: Sequence[int],
    *,
    outside_is_zero: bool = False,
) -> Array:
    """Slices of `x` at the (clamped) indices, in the places of `offset_dims`.

    With `outside_is_zero` a slice that would have to be moved is zeros instead.
    """
    lead, (x, indices) = with_leads((x, indices), ranks)
    vectors = _index_vectors(indices, ranks[1], dims.index_vector_dim)
    batch = ranks[1] - (dims.index_vector_dim < ranks[1])
    local = x.shape[lead:]
    starts = {
        d: _clamped(vector, sizes[d], local[d])
        for d, vector in zip(dims.start_index_map, vectors, strict=True)
    }
    for d, at in zip(
        dims.operand_batching_dims, dims.start_indices_batching_dims, strict=True
    ):
        at -= at > dims.index_vector_dim
        starts[d] = _along(local[d], lead + at, lead + batch)
        starts[d] = starts[d].reshape(
            (1,) * (lead + batch - starts[d].ndim) + starts[d].shape
        )
    taken = _take(x, starts, sizes, lead, batch)
    # every batch dimension appears, also where no start index has it
    leads = taken.shape[:lead]
    shape = list(indices.shape[lead:])
    if dims.index_vector_dim < ranks[1]:
        del shape[dims.index_vector_dim]
    taken = np.broadcast_to(taken, (*leads, *shape, *taken.shape[lead + batch :]))
    if outside_is_zero:
        for d, vector in zip(dims.start_index_map, vectors, strict=True):
            inside = (vector >= 0) & (vector <= local[d] - sizes[d])
            inside = inside.reshape((*inside.shape, *(1,) * ranks[0]))
            taken = np.where(inside, taken, np.zeros((), taken.dtype))
    gone = {*dims.collapsed_slice_dims, *dims.operand_batching_dims}
    kept = [sizes[d] for d in range(ranks[0]) if d not in gone]
    taken = taken.reshape((*taken.shape[: lead + batch], *kept))
    rank = batch + len(kept)
    others = iter(range(batch))
    offsets = iter(range(batch, rank))
    return transpose(
        taken,
        [next(offsets) if d in dims.offset_dims else next(others) for d in range(rank)],
    )


def scatter(
    inputs: Sequence[Array],
    indices: Array,
    updates: Sequence[Array],
    ranks: tuple[int, int, int],
    dims: ScatterDims,
    update: Reducer | None,
    *,
    in_place: bool = False,
) -> Arrays:
    """Combine `updates` into `inputs` at the indices.

    Elements that fall outside are dropped. `update` is the body; None stands for a body
    that returns the update, of which the last one wins. With `in_place` the inputs have
    no other owner, and results may be written into them.
    """
    rank, index_rank, update_rank = ranks
    count = len(inputs)
    lead, lifted = with_leads(
        [indices, *inputs, *updates],
        [index_rank, *[rank] * count, *[update_rank] * count],
    )
    indices, arrays = lifted[0], lifted[1 : 1 + count]
    news = lifted[1 + count :]
    leads = np.broadcast_shapes(*(x.shape[:lead] for x in lifted))
    local, space = arrays[0].shape[lead:], news[0].shape[lead:]
    total = lead + update_rank
    batch_dims = [d for d in range(update_rank) if d not in dims.update_window_dims]
    gone = {*dims.inserted_window_dims, *dims.input_batching_dims}
    windowed = [d for d in range(rank) if d not in gone]
    # the target index along each input dimension, broadcast over the updates
    target: list[Array] = [np.zeros((1,) * total, np.int64) for _ in range(rank)]
    for d, at in zip(windowed, sorted(dims.update_window_dims), strict=True):
        target[d] = target[d] + _along(space[at], lead + at, total)
    vectors = _index_vectors(indices, index_rank, dims.index_vector_dim)
    for d, vector in zip(dims.scatter_dims_to_operand_dims, vectors, strict=True):
        shape = [1] * total
        shape[:lead] = vector.shape[:lead]
        for at, extent in zip(batch_dims, vector.shape[lead:], strict=True):
            shape[lead + at] = extent
        target[d] = target[d] + _as_index(vector).reshape(shape)
    for d, at in zip(
        dims.input_batching_dims, dims.scatter_indices_batching_dims, strict=True
    ):
        at = batch_dims[at - (at > dims.index_vector_dim)]
        target[d] = target[d] + _along(space[at], lead + at, total)
    inside = np.ones((1,) * total, np.bool_)
    linear = np.zeros((1,) * total, np.int64)
    for i, extent in enumerate(leads):
        linear = linear * extent + _along(extent, i, total)
    for d, extent in enumerate(local):
        inside = inside & (target[d] >= 0) & (target[d] < extent)
        linear = linear * extent + target[d]
    full = (*leads, *space)
    inside = np.broadcast_to(inside, full).reshape(-1)
    places = np.broadcast_to(linear, full).reshape(-1)[inside]
    whole = (*leads, *local)
    results = tuple(
        x.reshape(-1)
        if in_place and x.shape == whole and x.flags.c_contiguous
        else np.array(np.broadcast_to(x, whole)).reshape(-1)
        for x in arrays
    )
    values = tuple(np.broadcast_to(u, full).reshape(-1)[inside] for u in news)
    written = _write(results, places, values, update)
    return tuple(x.reshape(whole) for x in written)


def _by_ufunc(name: str, result: Array, value: Array) -> bool:
    """Whether NumPy's ufunc means what StableHLO means for these elements."""
    if name in IDEMPOTENT and any(has_negative_zero(widen(x)) for x in (result, value)):
        return False
    return result.dtype.kind != "c"


def _write(
    results: Arrays, places: Array, values: Arrays, update: Reducer | None
) -> Arrays:
    """`values` combined into the flat `results` at `places`."""
    if update is None:
        for result, value in zip(results, values, strict=True):
            result[places] = value
        return results
    if update.names is not None and all(map(_by_ufunc, update.names, results, values)):
        done: list[Array] = []
        for name, result, value in zip(update.names, results, values, strict=True):
            wide = widen(result)
            UFUNCS[name].at(wide, places, widen(value))
            done.append(wide.astype(result.dtype, copy=False))
        return tuple(done)
    # several updates of one element go one after the other: the r-th of each at once
    order = np.argsort(places, kind="stable")
    sorted_places = places[order]
    first = np.ones(places.shape, np.bool_)
    first[1:] = sorted_places[1:] != sorted_places[:-1]
    starts = np.flatnonzero(first)
    counts = np.diff(np.append(starts, places.size))
    turns: Array = np.arange(places.size) - np.repeat(starts, counts)
    for turn in range(int(counts.max(initial=0))):
        chosen = order[turns == turn]
        at = places[chosen]
        combined = update.combine(
            tuple(result[at] for result in results),
            tuple(value[chosen] for value in values),
        )
        for result, new in zip(results, combined, strict=True):
            result[at] = new
    return results


def gather_along(x: Array, index: Array, rank: int, dim: int) -> Array:
    """`result[…, j, …] = x[…, index[…, j, …], …]` along `dim`; indices are clamped."""
    lead = lead_shape((x, rank), (index, rank))
    x = np.broadcast_to(x, (*lead, *x.shape[x.ndim - rank :]))
    index = np.broadcast_to(index, (*lead, *index.shape[index.ndim - rank :]))
    axis = len(lead) + dim
    inside = np.clip(_as_index(index), 0, x.shape[axis] - 1)
    return np.take_along_axis(x, inside, axis)


def scatter_along(
    x: Array, index: Array, source: Array, rank: int, dim: int, how: Reducer | None
) -> Array:
    """`x` with `source[…, j, …]` combined in at `index[…, j, …]` along `dim`.

    Indices outside are dropped. None for `how` stands for replacing.
    """
    lead = lead_shape((x, rank), (index, rank), (source, rank))
    local = x.shape[x.ndim - rank :]
    space = index.shape[index.ndim - rank :]
    total = len(lead) + rank
    place = _as_index(np.broadcast_to(index, (*lead, *space)))
    inside = (place >= 0) & (place < local[dim])
    linear = np.zeros((1,) * total, np.int64)
    for axis, extent in enumerate((*lead, *local)):
        at = axis - len(lead)
        step = place if at == dim else _along((*lead, *space)[axis], axis, total)
        linear = linear * extent + step
    result = np.array(np.broadcast_to(x, (*lead, *local))).reshape(-1)
    values = np.broadcast_to(source, (*lead, *space))[inside]
    (written,) = _write((result,), linear[inside], (values,), how)
    return written.reshape((*lead, *local))


def scatter_in_place(
    x: Array, index: Array, source: Array, rank: int, dim: int
) -> Array | None:
    """`x` itself, with rows of `source` written; see `scatter_along`.

    None, and nothing is written, where `index` differs by more than the place along
    `dim`, is not inside, or the result has more leading extents than `x`.
    """
    lead, axis = x.ndim - rank, index.ndim - rank + dim
    # strides show a broadcast without reading its elements
    repeats = all(
        at == axis or size == 1 or not step
        for at, (size, step) in enumerate(zip(index.shape, index.strides, strict=True))
    )
    if not repeats or 0 in index.shape or index.ndim - rank > lead:
        return None
    if not _takes(x, source, rank):
        return None
    at = tuple(slice(None) if dim == axis else 0 for dim in range(index.ndim))
    places = index[at]
    if places.min() < 0 or places.max() >= x.shape[lead + dim]:
        return None
    x[(..., places, *(slice(None),) * (rank - 1 - dim))] = source
    return x


Select = Callable[[Arrays, Arrays], Array]
"""Whether to stay with the first of two elements."""


def select_and_scatter(
    x: Array,
    source: Array,
    init: Array,
    window: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    select: Select,
    reducer: Reducer,
) -> Array:
    """Return each window of `x` selects an element; the results are gathered there.

    The padding of `x` is never selected. The windows' elements are gone through one
    after the other (as many as a window has), all windows at once.
    """
    rank = len(window)
    leads = lead_shape((x, rank), (source, rank), (init, 0))
    local = x.shape[x.ndim - rank :]
    low, high = [edge for edge, _ in padding], [edge for _, edge in padding]
    gaps = [0] * rank
    ones = [1] * rank
    numbers = np.arange(int(np.prod(local))).reshape(local)
    padded = pad(x, np.zeros((), x.dtype), low, high, gaps)
    places = pad(numbers, np.array(-1), low, high, gaps)
    values = windows(padded, window, strides, ones)
    indices = windows(places, window, strides, ones)
    spaces = values.shape[: values.ndim - rank]
    best: Array = np.zeros(spaces, x.dtype)
    chosen: Array = np.full(spaces, -1, np.int64)
    for at in np.ndindex(*window):
        value, index = values[(..., *at)], indices[(..., *at)]
        stay = (chosen >= 0) & (select((best,), (value,)) | (index < 0))
        best = np.where(stay, best, value)
        chosen = np.where(stay, chosen, index)
    full = (*leads, *source.shape[source.ndim - rank :])
    count = int(np.prod(leads))
    result = np.array(
        np.broadcast_to(expand_scalar(init, rank), (*leads, *local))
    ).reshape(-1)
    row = np.arange(count).reshape((*leads, *ones)) * numbers.size
    target = np.broadcast_to(row + chosen, full).reshape(-1)
    inside = np.broadcast_to(chosen >= 0, full).reshape(-1)
    added = np.broadcast_to(source, full).reshape(-1)
    (written,) = _write((result,), target[inside], (added[inside],), reducer)
    return written.reshape((*leads, *local))


Before = Callable[[Arrays, Arrays], Array]
"""A comparator on whole arrays: (left of each operand, right of each) -> bool."""


def sort_by_key(
    arrays: Sequence[Array], rank: int, dim: int, key: Array, descending: bool
) -> Arrays:
    """`arrays` along `dim` in the order of `key`, stably."""
    axis = dim - rank
    return _reordered(arrays, rank, axis, order_by_key(key, axis, descending))


def order_by_key(key: Array, axis: int, descending: bool) -> Array:
    """Return the places of a key's elements in order along an axis, stably."""
    if not descending:
        return np.argsort(key, axis=axis, kind="stable")
    # stable: reversed, sorted upwards, and reversed back
    order = np.flip(np.argsort(np.flip(key, axis), axis=axis, kind="stable"), axis)
    return key.shape[axis] - 1 - order


def _reordered(arrays: Sequence[Array], rank: int, axis: int, order: Array) -> Arrays:
    lead = lead_shape((order, rank), *((x, rank) for x in arrays))
    local = arrays[0].shape[arrays[0].ndim - rank :]
    order = np.broadcast_to(order, (*lead, *local))
    return tuple(
        np.take_along_axis(np.broadcast_to(x, (*lead, *local)), order, axis)
        for x in arrays
    )


def sort(arrays: Sequence[Array], rank: int, dim: int, before: Before) -> Arrays:
    """`arrays` along `dim` in the order that any comparator gives, stably.

    Each round of `merge_exchange` is one evaluation of the comparator on whole arrays.
    Equal elements are told apart by their first place; so
    are two of which the comparator puts each before the other, as LE does.
    """
    lead = lead_shape(*((x, rank) for x in arrays))
    local = arrays[0].shape[arrays[0].ndim - rank :]
    axis = len(lead) + dim
    size = local[dim]
    moved = [np.moveaxis(np.broadcast_to(x, (*lead, *local)), axis, -1) for x in arrays]
    place: Array = np.broadcast_to(np.arange(int(size)), moved[0].shape)
    state = [np.array(x) for x in (*moved, place)]
    for low, high in merge_exchange(int(size)):
        _exchange(state, low, high, axis, len(lead) + rank, before)
    return tuple(np.moveaxis(x, -1, axis) for x in state[:-1])


def merge_exchange(size: int) -> Iterator[tuple[Array, Array]]:
    """Return the places to compare and put in order, in about log2(size)**2 / 2 rounds.

    Source: Batcher's merge exchange, Knuth's algorithm 5.2.2M.
    """
    step = 1
    while step < size:
        step *= 2
    step //= 2
    p = step
    while p:
        q, r, d = step, 0, p
        while True:
            low: Array = np.arange(max(0, size - d))
            low = low[(low & p) == r]
            if low.size:
                yield low, low + d
            if q == p:
                break
            d, q, r = q - p, q // 2, p
        p //= 2


def _exchange(
    state: list[Array],
    low: Array,
    high: Array,
    axis: int,
    ndim: int,
    before: Before,
) -> None:
    """Put each pair (low, high) of the last dimension in order."""

    def original(x: Array) -> Array:
        return np.moveaxis(x, -1, axis) if axis != ndim - 1 else x

    left = tuple(original(x[..., low]) for x in state[:-1])
    right = tuple(original(x[..., high]) for x in state[:-1])
    right_first = before(right, left)
    equal = right_first == before(left, right)
    earlier = original(state[-1][..., high]) < original(state[-1][..., low])
    swap = np.where(equal, earlier, right_first)
    if axis != ndim - 1:
        swap = np.moveaxis(swap, axis, -1)
    for x in state:
        a, b = x[..., low], x[..., high]
        x[..., low] = np.where(swap, b, a)
        x[..., high] = np.where(swap, a, b)
