"""Shape inference: the specification's constraints as functions of sizes.

Every function takes plain tuples (a dynamic size is `DYNAMIC_INDEX`), checks the
constraints and answers with the shape that follows, or raises `VerifyException` with
the constraint's number in the op's section of the specification, what is there and
what was expected. Nothing here looks at the IR.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.stablehlo.attributes import (
    ConvDims,
    DotDims,
    GatherDims,
    ScatterDims,
)

Shape = tuple[int, ...]


def size_text(size: int) -> str:
    """Return a size for messages."""
    return "?" if size == DYNAMIC_INDEX else str(size)


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape for messages."""
    return f"[{', '.join(map(size_text, shape))}]"


def require(condition: bool, message: str) -> None:
    """Refuse when a constraint does not hold.

    The message is made in any case, so it names no types, which take long to print.
    """
    if not condition:
        raise VerifyException(message)


def sizes_fit(size: int, other: int) -> bool:
    """Whether two sizes of a dimension can be the same at run time."""
    return size == other or DYNAMIC_INDEX in (size, other)


def shapes_fit(shape: Shape, other: Shape) -> bool:
    """Whether two shapes can be the same at run time."""
    return shape == other or (
        len(shape) == len(other) and all(map(sizes_fit, shape, other))
    )


def require_dims(
    dims: Sequence[int], rank: int, name: str, constraint: str, of: str = "operand"
) -> None:
    """Every entry is a dimension of a tensor of this rank."""
    for dim in dims:
        if not 0 <= dim < rank:
            raise VerifyException(
                f"{constraint}: {name} has {dim}, but {of} has rank {rank}"
            )


def require_dim(dim: int, shape: Shape, name: str, constraint: str = "") -> None:
    """A number is a dimension of a shape."""
    if not 0 <= dim < len(shape):
        where = f"{constraint}: " if constraint else ""
        raise VerifyException(f"{where}{name} {dim} is not in [0, {len(shape)})")


def require_unique(dims: Sequence[int], name: str, constraint: str) -> None:
    """No entry occurs twice."""
    if len(set(dims)) != len(dims):
        raise VerifyException(
            f"{constraint}: {name} must not repeat a dimension, got {list(dims)}"
        )


def require_sorted(dims: Sequence[int], name: str, constraint: str) -> None:
    """The entries are in ascending order."""
    if list(dims) != sorted(dims):
        raise VerifyException(
            f"{constraint}: {name} must be in ascending order, got {list(dims)}"
        )


def require_length(
    values: Sequence[object], length: int, name: str, constraint: str
) -> None:
    """A list has one entry a dimension."""
    if len(values) != length:
        raise VerifyException(
            f"{constraint}: {name} must have {length} entries, one a dimension, "
            f"got {len(values)}"
        )


# --- data movement -----------------------------------------------------------------


def check_broadcast(operand: Shape, dims: Sequence[int], result: Shape) -> None:
    """Check `broadcast_in_dim` against the given result shape."""
    require_length(dims, len(operand), "broadcast_dimensions", "C2")
    require_unique(dims, "broadcast_dimensions", "C4")
    require_dims(dims, len(result), "broadcast_dimensions", "C3", "result")
    for index, (size, dim) in enumerate(zip(operand, dims, strict=True)):
        if size not in (1, DYNAMIC_INDEX, result[dim]):
            raise VerifyException(
                f"C5: operand dimension {index} has size {size}, which is neither 1 "
                f"nor the size {size_text(result[dim])} of result dimension {dim}"
            )


def check_reshape(operand: Shape, result: Shape) -> None:
    """Constraints of `reshape`: equal numbers of elements."""
    if DYNAMIC_INDEX in operand or DYNAMIC_INDEX in result:
        return
    before, after = elements(operand), elements(result)
    require(
        before == after,
        f"C2: {shape_text(operand)} has {before} elements, but "
        f"{shape_text(result)} has {after}",
    )


def elements(shape: Shape) -> int:
    """Return the number of elements of a static shape."""
    count = 1
    for size in shape:
        count *= size
    return count


def transpose(operand: Shape, permutation: Sequence[int]) -> Shape:
    """Result of `transpose`."""
    require(
        sorted(permutation) == list(range(len(operand))),
        f"C2: permutation must be a permutation of the {len(operand)} dimensions of "
        f"the operand, got {list(permutation)}",
    )
    return tuple(operand[dim] for dim in permutation)


def check_reverse(operand: Shape, dims: Sequence[int]) -> None:
    """Constraints of `reverse`."""
    require_unique(dims, "dimensions", "C2")
    require_dims(dims, len(operand), "dimensions", "C3")


def slice_(
    operand: Shape,
    starts: Sequence[int],
    limits: Sequence[int],
    strides: Sequence[int],
) -> Shape:
    """Result of `slice`."""
    rank = len(operand)
    require_length(starts, rank, "start_indices", "C2")
    require_length(limits, rank, "limit_indices", "C2")
    require_length(strides, rank, "strides", "C2")
    result: list[int] = []
    for dim, (size, start, limit, stride) in enumerate(
        zip(operand, starts, limits, strides, strict=True)
    ):
        if start < 0:
            raise VerifyException(
                f"C3: start index {start} of dimension {dim} is negative"
            )
        if size != DYNAMIC_INDEX and limit > size:
            raise VerifyException(
                f"C3: limit index {limit} of dimension {dim} is past the end {size}"
            )
        if start > limit:
            raise VerifyException(
                f"C3: start index {start} of dimension {dim} is past its limit {limit}"
            )
        if stride <= 0:
            raise VerifyException(
                f"C4: stride {stride} of dimension {dim} is not positive"
            )
        result.append(-(-(limit - start) // stride))
    return tuple(result)


def dynamic_slice(operand: Shape, indices: int, sizes: Sequence[int]) -> Shape:
    """Result of `dynamic_slice` with so many start indices."""
    rank = len(operand)
    if indices != rank:
        raise VerifyException(
            f"C2: {indices} start indices for an operand of rank {rank}"
        )
    require_length(sizes, rank, "slice_sizes", "C2")
    for dim, (size, piece) in enumerate(zip(operand, sizes, strict=True)):
        require(
            piece >= 0 and (size == DYNAMIC_INDEX or piece <= size),
            f"C4: slice size {piece} of dimension {dim} is not in [0, "
            f"{size_text(size)}]",
        )
    return tuple(sizes)


def check_update_slice(operand: Shape, update: Shape, indices: int) -> None:
    """Constraints of `dynamic_update_slice` with so many start indices."""
    rank = len(operand)
    require(
        len(update) == rank,
        f"C3: the update has rank {len(update)}, the operand {rank}",
    )
    if indices != rank:
        raise VerifyException(
            f"C4: {indices} start indices for an operand of rank {rank}"
        )
    for dim, (size, piece) in enumerate(zip(operand, update, strict=True)):
        if DYNAMIC_INDEX not in (size, piece) and piece > size:
            raise VerifyException(
                f"C6: the update has size {piece} in dimension {dim}, the operand "
                f"{size}"
            )


def concatenate(inputs: Sequence[Shape], dimension: int) -> Shape:
    """Result of `concatenate`."""
    require(bool(inputs), "C3: there must be an input")
    first = inputs[0]
    rank = len(first)
    require_dim(dimension, first, "dimension", "C4")
    result = list(first)
    for index, shape in enumerate(inputs[1:], 1):
        require(
            len(shape) == rank,
            f"C2: input {index} has rank {len(shape)}, input 0 has rank {rank}",
        )
        for dim, (left, right) in enumerate(zip(first, shape, strict=True)):
            if dim == dimension:
                fits = DYNAMIC_INDEX not in (result[dim], right)
                result[dim] = result[dim] + right if fits else DYNAMIC_INDEX
                continue
            require(
                sizes_fit(left, right),
                f"C2: inputs 0 and {index} differ in dimension {dim}: "
                f"{size_text(left)} and {size_text(right)}",
            )
            if result[dim] == DYNAMIC_INDEX:
                result[dim] = right
    return tuple(result)


def pad(
    operand: Shape,
    low: Sequence[int],
    high: Sequence[int],
    interior: Sequence[int],
) -> Shape:
    """Result of `pad`."""
    rank = len(operand)
    require_length(low, rank, "edge_padding_low", "C2")
    require_length(high, rank, "edge_padding_high", "C2")
    require_length(interior, rank, "interior_padding", "C2")
    result: list[int] = []
    for dim, size in enumerate(operand):
        if interior[dim] < 0:
            raise VerifyException(
                f"C3: interior padding {interior[dim]} of dimension {dim} is negative"
            )
        if size == DYNAMIC_INDEX:
            result.append(size)
            continue
        padded = size + low[dim] + high[dim] + max(size - 1, 0) * interior[dim]
        if padded < 0:
            raise VerifyException(
                f"C4: dimension {dim} gets the negative size {padded}"
            )
        result.append(padded)
    return tuple(result)


def check_bitcast(
    operand: Shape, operand_bits: int, result: Shape, result_bits: int
) -> None:
    """C1 of `bitcast_convert`: a last dimension takes up the ratio of the widths."""
    if operand_bits == result_bits:
        narrow, wide = operand, result
        fits = shapes_fit(operand, result)
    else:
        narrow, wide = (
            (operand, result) if operand_bits < result_bits else (result, operand)
        )
        small, large = sorted((operand_bits, result_bits))
        require(
            len(narrow) == len(wide) + 1,
            f"C1: {shape_text(narrow)} of {small} bits must have one more dimension "
            f"than {shape_text(wide)} of {large} bits",
        )
        require(
            narrow[-1] == DYNAMIC_INDEX or narrow[-1] * small == large,
            f"C1: {size_text(narrow[-1])} elements of {small} bits do not make one "
            f"of {large} bits",
        )
        fits = shapes_fit(narrow[:-1], wide)
    require(
        fits,
        f"C1: {shape_text(operand)} and {shape_text(result)} must agree, but for the "
        "last dimension of the narrower type",
    )


# --- indexing ----------------------------------------------------------------------


def gather(
    operand: Shape, indices: Shape, dims: GatherDims, sizes: Sequence[int | None]
) -> Shape:
    """Result of `gather`; a slice size that is not known is None."""
    rank = len(operand)
    vector = dims.index_vector_dim
    implied = (
        len(dims.offset_dims)
        + len(dims.collapsed_slice_dims)
        + len(dims.operand_batching_dims)
    )
    if rank != implied:
        raise VerifyException(
            "C1: offset_dims, collapsed_slice_dims and operand_batching_dims name "
            f"{implied} dimensions, but the operand has rank {rank}"
        )
    require(
        0 <= vector <= len(indices),
        f"C2: index_vector_dim {vector} is not in [0, {len(indices)}]",
    )
    expanded = (*indices, 1) if vector == len(indices) else indices
    require(
        sizes_fit(expanded[vector], len(dims.start_index_map)),
        f"C3: start_index_map has {len(dims.start_index_map)} entries, but index "
        f"vectors have {size_text(expanded[vector])}",
    )
    require_sorted(dims.offset_dims, "offset_dims", "C4")
    require_unique(dims.offset_dims, "offset_dims", "C4")
    require_unique(
        (*dims.collapsed_slice_dims, *dims.operand_batching_dims),
        "collapsed_slice_dims and operand_batching_dims",
        "C6",
    )
    require_sorted(dims.collapsed_slice_dims, "collapsed_slice_dims", "C7")
    require_dims(dims.collapsed_slice_dims, rank, "collapsed_slice_dims", "C8")
    require_sorted(dims.operand_batching_dims, "operand_batching_dims", "C10")
    require_dims(dims.operand_batching_dims, rank, "operand_batching_dims", "C11")
    _check_index_batching(
        operand,
        indices,
        dims.operand_batching_dims,
        dims.start_indices_batching_dims,
        vector,
        ("operand_batching_dims", "start_indices_batching_dims", "start_indices"),
        ("C13", "C14", "C15", "C16", "C17"),
    )
    require_unique(
        (*dims.start_index_map, *dims.operand_batching_dims),
        "start_index_map and operand_batching_dims",
        "C18",
    )
    require_dims(dims.start_index_map, rank, "start_index_map", "C19")
    require_length(sizes, rank, "slice_sizes", "C20")
    for name, chosen, constraint in (
        ("collapsed_slice_dims", dims.collapsed_slice_dims, "C9"),
        ("operand_batching_dims", dims.operand_batching_dims, "C12"),
    ):
        for dim in chosen:
            size = sizes[dim]
            if size is not None and size > 1:
                raise VerifyException(
                    f"{constraint}: dimension {dim} of {name} has slice size {size}, "
                    "not 1"
                )
    for dim, size in enumerate(sizes):
        require(
            size is None
            or (size >= 0 and (operand[dim] == DYNAMIC_INDEX or size <= operand[dim])),
            f"C21: slice size {size} of dimension {dim} is not in [0, "
            f"{size_text(operand[dim])}]",
        )
    result_rank = len(dims.offset_dims) + len(expanded) - 1
    require_dims(dims.offset_dims, result_rank, "offset_dims", "C5", "the result")
    gone = {*dims.collapsed_slice_dims, *dims.operand_batching_dims}
    offsets = iter(
        DYNAMIC_INDEX if size is None else size
        for dim, size in enumerate(sizes)
        if dim not in gone
    )
    batches = iter(size for dim, size in enumerate(expanded) if dim != vector)
    return tuple(
        next(offsets if dim in dims.offset_dims else batches)
        for dim in range(result_rank)
    )


def _check_index_batching(
    operand: Shape,
    indices: Shape,
    operand_dims: Sequence[int],
    index_dims: Sequence[int],
    vector: int,
    names: tuple[str, str, str],
    constraints: tuple[str, str, str, str, str],
) -> None:
    """Check the constraints of `gather` and `scatter` on batch dimensions."""
    operand_name, index_name, of = names
    unique, bounds, not_vector, same_number, same_size = constraints
    require_unique(index_dims, index_name, unique)
    require_dims(index_dims, len(indices), index_name, bounds, of)
    if vector in index_dims:
        raise VerifyException(
            f"{not_vector}: {index_name} has index_vector_dim {vector}"
        )
    require(
        len(operand_dims) == len(index_dims),
        f"{same_number}: {len(operand_dims)} {operand_name}, but {len(index_dims)} "
        f"{index_name}",
    )
    for left, right in zip(operand_dims, index_dims, strict=True):
        require(
            sizes_fit(operand[left], indices[right]),
            f"{same_size}: batch dimensions {left} and {right} have sizes "
            f"{size_text(operand[left])} and {size_text(indices[right])}",
        )


def check_scatter(
    operand: Shape, indices: Shape, update: Shape, dims: ScatterDims
) -> None:
    """Constraints of `scatter` on one input and its update."""
    rank = len(operand)
    vector = dims.index_vector_dim
    require(
        0 <= vector <= len(indices),
        f"C22: index_vector_dim {vector} is not in [0, {len(indices)}]",
    )
    expanded = (*indices, 1) if vector == len(indices) else indices
    update_rank = len(expanded) - 1 + len(dims.update_window_dims)
    require(
        len(update) == update_rank,
        f"C4: updates must have rank {update_rank}, got {len(update)}",
    )
    implied = (
        len(dims.update_window_dims)
        + len(dims.inserted_window_dims)
        + len(dims.input_batching_dims)
    )
    if rank != implied:
        raise VerifyException(
            "C2: update_window_dims, inserted_window_dims and input_batching_dims name "
            f"{implied} dimensions, but the input has rank {rank}"
        )
    require_sorted(dims.update_window_dims, "update_window_dims", "C7")
    require_unique(dims.update_window_dims, "update_window_dims", "C7")
    require_dims(
        dims.update_window_dims, len(update), "update_window_dims", "C8", "updates"
    )
    require_unique(
        (*dims.inserted_window_dims, *dims.input_batching_dims),
        "inserted_window_dims and input_batching_dims",
        "C9",
    )
    require_sorted(dims.inserted_window_dims, "inserted_window_dims", "C10")
    require_dims(dims.inserted_window_dims, rank, "inserted_window_dims", "C11")
    require_sorted(dims.input_batching_dims, "input_batching_dims", "C12")
    require_dims(dims.input_batching_dims, rank, "input_batching_dims", "C13")
    _check_index_batching(
        operand,
        expanded,
        dims.input_batching_dims,
        dims.scatter_indices_batching_dims,
        vector,
        ("input_batching_dims", "scatter_indices_batching_dims", "scatter_indices"),
        ("C14", "C15", "C16", "C17", "C18"),
    )
    require(
        sizes_fit(expanded[vector], len(dims.scatter_dims_to_operand_dims)),
        f"C19: scatter_dims_to_operand_dims has "
        f"{len(dims.scatter_dims_to_operand_dims)} entries, but index vectors have "
        f"{size_text(expanded[vector])}",
    )
    require_unique(
        (*dims.scatter_dims_to_operand_dims, *dims.input_batching_dims),
        "scatter_dims_to_operand_dims and input_batching_dims",
        "C20",
    )
    require_dims(
        dims.scatter_dims_to_operand_dims, rank, "scatter_dims_to_operand_dims", "C21"
    )
    gone = {*dims.inserted_window_dims, *dims.input_batching_dims}
    windows = [size for dim, size in enumerate(operand) if dim not in gone]
    for dim, limit in zip(dims.update_window_dims, windows, strict=True):
        if DYNAMIC_INDEX not in (update[dim], limit) and update[dim] > limit:
            raise VerifyException(
                f"C4: window dimension {dim} of updates has size {update[dim]}, more "
                f"than the {limit} of the input"
            )
    window_dims = set(dims.update_window_dims)
    places = [size for dim, size in enumerate(expanded) if dim != vector]
    scattered = [dim for dim in range(len(update)) if dim not in window_dims]
    for dim, size in zip(scattered, places, strict=True):
        require(
            sizes_fit(update[dim], size),
            f"C4: dimension {dim} of updates has size {size_text(update[dim])}, the "
            f"indices have {size_text(size)}",
        )


# --- products ----------------------------------------------------------------------


def dot_general(lhs: Shape, rhs: Shape, dims: DotDims) -> Shape:
    """Result of `dot_general`."""
    batch = (dims.lhs_batching_dimensions, dims.rhs_batching_dimensions)
    contract = (dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions)
    require(
        len(batch[0]) == len(batch[1]),
        f"C1: {len(batch[0])} lhs_batching_dimensions, but {len(batch[1])} "
        "rhs_batching_dimensions",
    )
    require(
        len(contract[0]) == len(contract[1]),
        f"C2: {len(contract[0])} lhs_contracting_dimensions, but {len(contract[1])} "
        "rhs_contracting_dimensions",
    )
    for side, shape, batching, contracting, numbers in (
        ("lhs", lhs, batch[0], contract[0], ("C3", "C5", "C6")),
        ("rhs", rhs, batch[1], contract[1], ("C4", "C7", "C8")),
    ):
        require_unique(
            (*batching, *contracting),
            f"{side}_batching_dimensions and {side}_contracting_dimensions",
            numbers[0],
        )
        rank = len(shape)
        require_dims(batching, rank, f"{side}_batching_dimensions", numbers[1], side)
        require_dims(
            contracting, rank, f"{side}_contracting_dimensions", numbers[2], side
        )
    for name, pairs, constraint in (
        ("batch", batch, "C9"),
        ("contracted", contract, "C10"),
    ):
        for left, right in zip(*pairs, strict=True):
            require(
                sizes_fit(lhs[left], rhs[right]),
                f"{constraint}: {name} dimensions {left} of lhs and {right} of rhs "
                f"have sizes {size_text(lhs[left])} and {size_text(rhs[right])}",
            )
    result = [
        rhs[right] if lhs[left] == DYNAMIC_INDEX else lhs[left]
        for left, right in zip(*batch, strict=True)
    ]
    for shape, batching, contracting in (
        (lhs, batch[0], contract[0]),
        (rhs, batch[1], contract[1]),
    ):
        gone = {*batching, *contracting}
        result += [size for dim, size in enumerate(shape) if dim not in gone]
    return tuple(result)


def dot(lhs: Shape, rhs: Shape) -> Shape:
    """Result of `dot`, the product of vectors or matrices."""
    require(
        len(lhs) in (1, 2) and len(rhs) in (1, 2) and sizes_fit(lhs[-1], rhs[0]),
        f"lhs {shape_text(lhs)} and rhs {shape_text(rhs)} must be vectors or matrices "
        "whose inner sizes agree",
    )
    return (*lhs[:-1], *rhs[1:])


def check_cholesky(a: Shape) -> None:
    """Constraints of `cholesky`."""
    require(len(a) >= 2, f"C2: a must have rank 2 or more, got {shape_text(a)}")
    require(
        sizes_fit(a[-2], a[-1]),
        f"C3: the last two dimensions of a must be equal, got {shape_text(a)}",
    )


def check_triangular_solve(a: Shape, b: Shape, left_side: bool) -> None:
    """Constraints of `triangular_solve`."""
    require(len(a) >= 2, f"C2: a must have rank 2 or more, got {shape_text(a)}")
    require(
        len(a) == len(b),
        f"C2: a and b must have one rank, got {len(a)} and {len(b)}",
    )
    require(
        sizes_fit(a[-2], a[-1]),
        f"C3: the last two dimensions of a must be equal, got {shape_text(a)}",
    )
    shared = b[-2] if left_side else b[-1]
    require(
        sizes_fit(a[-1], shared),
        f"C3: a {shape_text(a)} does not fit b {shape_text(b)} with left_side = "
        f"{left_side}",
    )
    require(
        shapes_fit(a[:-2], b[:-2]),
        f"C3: batch dimensions of a {shape_text(a)} and b {shape_text(b)} differ",
    )


def fft(operand: Shape, kind: str, length: Sequence[int]) -> Shape:
    """Result of `fft` of a kind: FFT, IFFT, RFFT or IRFFT."""
    count = len(length)
    if not 1 <= count <= 3:
        raise VerifyException(f"C3: fft_length must have 1 to 3 entries, got {count}")
    require(
        count <= len(operand),
        f"C1: fft_length has {count} entries, but the operand has rank {len(operand)}",
    )
    result = list(operand)
    if kind == "RFFT":
        require(
            all(map(sizes_fit, operand[-count:], length)),
            f"C5: an RFFT's last dimensions must be fft_length {list(length)}, got "
            f"{shape_text(operand)}",
        )
        if length[-1] != 0:
            result[-1] = length[-1] // 2 + 1
    elif kind == "IRFFT":
        require(
            all(map(sizes_fit, operand[-count:-1], length)),
            f"C5: an IRFFT's dimensions before the last must be those of fft_length "
            f"{list(length)}, got {shape_text(operand)}",
        )
        require(
            (sizes_fit(operand[-1], 0) and length[-1] == 0)
            or sizes_fit(operand[-1], length[-1] // 2 + 1),
            f"C5: an IRFFT's last dimension must be {length[-1]} / 2 + 1, got "
            f"{size_text(operand[-1])}",
        )
        result[-1] = length[-1]
    return tuple(result)


# --- reductions and windows --------------------------------------------------------


def reduce(inputs: Sequence[Shape], dims: Sequence[int]) -> Shape:
    """Result of `reduce`, the same for every input."""
    require(bool(inputs), "C3: there must be an input")
    first = inputs[0]
    for index, shape in enumerate(inputs):
        require(
            shapes_fit(first, shape),
            f"C1: input {index} has shape {shape_text(shape)}, input 0 "
            f"{shape_text(first)}",
        )
    require_dims(dims, len(first), "dimensions", "C4", "the input")
    require_unique(dims, "dimensions", "C5")
    return tuple(size for dim, size in enumerate(first) if dim not in dims)


def dilated(size: int, dilation: int) -> int:
    """Return the size of a dilated dimension."""
    return 0 if size == 0 else (size - 1) * dilation + 1


def windows(
    base: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilations: Sequence[int],
    window_dilations: Sequence[int],
) -> Shape:
    """Return the number of window positions along each dimension."""
    result: list[int] = []
    for size, width, stride, (low, high), spread, gap in zip(
        base, window, strides, padding, base_dilations, window_dilations, strict=True
    ):
        if DYNAMIC_INDEX in (size, width):
            result.append(DYNAMIC_INDEX)
            continue
        padded = low + dilated(size, spread) + high
        wide = dilated(width, gap)
        room = padded > 0 and wide <= padded
        result.append((padded - wide) // stride + 1 if room else 0)
    return tuple(result)


def check_window(
    window: Sequence[int],
    strides: Sequence[int],
    base_dilations: Sequence[int],
    window_dilations: Sequence[int],
    constraints: tuple[str, str, str, str],
) -> None:
    """Sizes, strides and dilations of a window are positive."""
    for name, values, constraint in (
        ("window dimension", window, constraints[0]),
        ("stride", strides, constraints[1]),
        ("base dilation", base_dilations, constraints[2]),
        ("window dilation", window_dilations, constraints[3]),
    ):
        for dim, value in enumerate(values):
            if value <= 0:
                raise VerifyException(
                    f"{constraint}: {name} {dim} must be positive, got {value}"
                )


def check_conv_dims(lhs_rank: int, rhs_rank: int, dims: ConvDims) -> None:
    """Check the dimension numbers of a convolution."""
    if lhs_rank < 2:
        raise VerifyException(f"C13: lhs must have rank 2 or more, got {lhs_rank}")
    if lhs_rank != rhs_rank:
        raise VerifyException(f"C1: lhs has rank {lhs_rank}, but rhs has {rhs_rank}")
    spatial = len(dims.input_spatial_dimensions)
    for name, values, constraint in (
        ("kernel_spatial_dimensions", dims.kernel_spatial_dimensions, "C17"),
        ("output_spatial_dimensions", dims.output_spatial_dimensions, "C19"),
    ):
        require(
            len(values) == spatial,
            f"{constraint}: {len(values)} {name}, but {spatial} "
            "input_spatial_dimensions",
        )
    for name, values, constraint in (
        (
            "input dimensions",
            (
                dims.input_batch_dimension,
                dims.input_feature_dimension,
                *dims.input_spatial_dimensions,
            ),
            "C13",
        ),
        (
            "kernel dimensions",
            (
                dims.kernel_input_feature_dimension,
                dims.kernel_output_feature_dimension,
                *dims.kernel_spatial_dimensions,
            ),
            "C18",
        ),
        (
            "output dimensions",
            (
                dims.output_batch_dimension,
                dims.output_feature_dimension,
                *dims.output_spatial_dimensions,
            ),
            "C20",
        ),
    ):
        require_dims(values, lhs_rank, name, constraint, "lhs")
        require_unique(values, name, constraint)
    if lhs_rank != spatial + 2:
        raise VerifyException(
            f"C12: {spatial} spatial dimensions make rank {spatial + 2}, but lhs has "
            f"rank {lhs_rank}"
        )


def check_conv_groups(
    lhs: Shape, rhs: Shape, dims: ConvDims, feature_groups: int, batch_groups: int
) -> None:
    """Constraints of a convolution on group counts."""
    if batch_groups != 1 and feature_groups != 1:
        raise VerifyException(
            f"C23: batch_group_count {batch_groups} and feature_group_count "
            f"{feature_groups} are both above 1"
        )
    batch = lhs[dims.input_batch_dimension]
    features = lhs[dims.input_feature_dimension]
    kernel_features = rhs[dims.kernel_input_feature_dimension]
    out_features = rhs[dims.kernel_output_feature_dimension]
    if batch != DYNAMIC_INDEX and batch % batch_groups != 0:
        raise VerifyException(
            f"C10: batch size {batch} is no multiple of batch_group_count "
            f"{batch_groups}"
        )
    if features != DYNAMIC_INDEX:
        if features % feature_groups != 0:
            raise VerifyException(
                f"C11: {features} input features are no multiple of "
                f"feature_group_count {feature_groups}"
            )
        if not sizes_fit(kernel_features, features // feature_groups):
            raise VerifyException(
                f"C14: the kernel takes {kernel_features} features, but a group of the "
                f"input has {features // feature_groups}"
            )
    if out_features != DYNAMIC_INDEX:
        if out_features % batch_groups != 0:
            raise VerifyException(
                f"C15: {out_features} output features are no multiple of "
                f"batch_group_count {batch_groups}"
            )
        if out_features % feature_groups != 0:
            raise VerifyException(
                f"C16: {out_features} output features are no multiple of "
                f"feature_group_count {feature_groups}"
            )


def convolution_result(
    lhs: Shape, rhs: Shape, dims: ConvDims, places: Shape, batch_groups: int
) -> Shape:
    """Result of a convolution whose window has so many places a dimension."""
    result = [DYNAMIC_INDEX] * len(lhs)
    for dim, size in zip(dims.output_spatial_dimensions, places, strict=True):
        result[dim] = size
    batch = lhs[dims.input_batch_dimension]
    result[dims.output_batch_dimension] = (
        batch if batch == DYNAMIC_INDEX else batch // batch_groups
    )
    result[dims.output_feature_dimension] = rhs[dims.kernel_output_feature_dimension]
    return tuple(result)


# --- collectives -------------------------------------------------------------------


def all_to_all(operand: Shape, split: int, concat: int, count: int) -> Shape:
    """Result of `all_to_all`."""
    rank = len(operand)
    require_dims((split,), rank, "split_dimension", "C1")
    require_dims((concat,), rank, "concat_dimension", "C3")
    result = list(operand)
    if result[split] != DYNAMIC_INDEX:
        if result[split] % count != 0:
            raise VerifyException(
                f"C2: dimension {split} has size {result[split]}, no multiple of "
                f"split_count {count}"
            )
        result[split] //= count
    if result[concat] != DYNAMIC_INDEX:
        result[concat] *= count
    return tuple(result)
