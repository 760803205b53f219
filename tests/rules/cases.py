"""Functions of one op each, or of the few that an op's rule depends on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from tests.elementwise_ops import FLOAT_BINARY, FLOAT_UNARY, INT_BINARY, INT_UNARY

Shape = tuple[int, ...]


def tensor(*shape: int, of: str = "f32") -> str:
    """The text of a tensor type."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{of}>"


def function(arguments: Iterable[str], *ops: str) -> str:
    """A function of arguments `%0`, `%1`, … of these types that returns nothing."""
    listed = ", ".join(f"%{index}: {kind}" for index, kind in enumerate(arguments))
    body = "".join(f"  {op}\n" for op in ops)
    return f"func.func @main({listed}) {{\n{body}  return\n}}\n"


def call(
    name: str,
    operands: Iterable[str],
    results: Iterable[str],
    properties: str = "",
    region: str = "",
) -> str:
    """A function around one op in generic form, from operand to result types."""
    operands, results = list(operands), list(results)
    values = ", ".join(f"%{index}" for index in range(len(operands)))
    result = f"%r:{len(results)} = " if results else ""
    if properties:
        properties = f" <{{{properties}}}>"
    if region:
        region = f" ({{{region}}})"
    return function(
        operands,
        f'{result}"{name}"({values}){properties}{region} : '
        f"({', '.join(operands)}) -> ({', '.join(results)})",
    )


def binary(name: str, *elements: str, first: int = 0) -> str:
    """A region that applies `stablehlo.<name>` to the first two of its arguments."""
    kinds = [tensor(of=element) for element in elements]
    arguments = ", ".join(f"%a{index}: {kind}" for index, kind in enumerate(kinds))
    pairs = len(kinds) // 2
    body = "".join(
        f' %c{index} = "stablehlo.{name}"(%a{index + first}, %a{index + pairs}) : '
        f"({kinds[index]}, {kinds[index]}) -> {kinds[index]}"
        for index in range(pairs)
    )
    values = ", ".join(f"%c{index}" for index in range(pairs))
    return (
        f'^bb0({arguments}):{body} "stablehlo.return"({values}) : '
        f"({', '.join(kinds[:pairs])}) -> ()"
    )


SHAPES: tuple[Shape, ...] = ((), (8,), (1, 6), (4, 8, 3))


def elementwise() -> Iterator[tuple[str, str]]:
    for names, element, arity in (
        (FLOAT_UNARY, "f32", 1),
        (INT_UNARY, "i32", 1),
        (FLOAT_BINARY, "bf16", 2),
        (INT_BINARY, "i32", 2),
    ):
        for name in names:
            for shape in SHAPES:
                kind = tensor(*shape, of=element)
                yield (
                    f"{name}-{shape}",
                    call(f"stablehlo.{name}", [kind] * arity, [kind]),
                )
    for shape in SHAPES:
        real, integer, boolean, number = (
            tensor(*shape, of=element)
            for element in ("f32", "i32", "i1", "complex<f32>")
        )
        scalar = tensor()
        for name, operands, result, properties in (
            ("clamp", [real, real, real], real, ""),
            ("clamp", [scalar, real, scalar], real, ""),
            (
                "compare",
                [real, real],
                boolean,
                "comparison_direction = #stablehlo<comparison_direction LT>",
            ),
            ("complex", [real, real], number, ""),
            ("convert", [integer], real, ""),
            ("imag", [number], real, ""),
            ("is_finite", [real], boolean, ""),
            ("real", [number], real, ""),
            (
                "reduce_precision",
                [real],
                real,
                "exponent_bits = 5 : i32, mantissa_bits = 10 : i32",
            ),
            ("select", [boolean, real, real], real, ""),
            ("select", [tensor(of="i1"), real, real], real, ""),
        ):
            yield (
                f"{name}-{shape}-{operands[0]}",
                call(f"stablehlo.{name}", operands, [result], properties),
            )


BROADCASTS: tuple[tuple[Shape, Shape, Shape], ...] = (
    ((), (), ()),
    ((), (4, 8), ()),
    ((8,), (4, 8), (1,)),
    ((8,), (8, 4), (0,)),
    ((1, 8), (4, 8), (0, 1)),
    ((1, 1), (1, 8), (0, 1)),
    ((4, 8), (8, 2, 4), (2, 0)),
    ((1, 4), (6, 4, 5), (2, 1)),
)

CONCATENATIONS: tuple[tuple[tuple[Shape, ...], int], ...] = (
    (((4, 8),), 0),
    (((4, 8), (4, 3)), 1),
    (((4, 8), (2, 8), (1, 8)), 0),
    (((0, 8), (2, 8)), 0),
)

RESHAPES: tuple[tuple[Shape, Shape], ...] = (
    ((), ()),
    ((), (1, 1)),
    ((1,), ()),
    ((8,), (8,)),
    ((8,), (2, 4)),
    ((8,), (2, 2, 2)),
    ((2, 4), (8,)),
    ((8, 4), (2, 16)),
    ((2, 4, 8), (8, 8)),
    ((6, 4), (4, 6)),
    ((1, 8, 1), (8,)),
    ((8,), (1, 1, 8, 1)),
    ((4, 1, 2), (2, 1, 4)),
    ((2, 3, 5), (30,)),
    ((30,), (5, 3, 2)),
    ((2, 15), (10, 3)),
    ((6, 35), (10, 21)),
    ((35, 6), (21, 10)),
    ((4, 9), (6, 6)),
    ((9, 4, 25), (6, 150)),
    ((7, 5), (5, 7)),
    ((2, 3, 4), (4, 3, 2)),
    ((12, 1, 10), (3, 1, 40)),
    ((0, 4), (4, 0)),
    ((2, 0), (0,)),
)


def data_movement() -> Iterator[tuple[str, str]]:
    for before, after in (
        ((4, 8), (4, 8)),
        ((4, 8, 2), (4, 8)),
        ((4, 8), (4, 8, 2)),
        ((2,), ()),
        ((), (2,)),
    ):
        elements = ("f64", "f32", "f16")
        rise = len(after) - len(before)
        yield (
            f"bitcast_convert-{before}-{after}",
            call(
                "stablehlo.bitcast_convert",
                [tensor(*before, of="f32")],
                [tensor(*after, of=elements[1 + rise])],
            ),
        )
    for before, after, dims in BROADCASTS:
        yield (
            f"broadcast_in_dim-{before}-{after}-{dims}",
            call(
                "stablehlo.broadcast_in_dim",
                [tensor(*before)],
                [tensor(*after)],
                f"broadcast_dimensions = {_array(dims)}",
            ),
        )
    for shapes, dim in CONCATENATIONS:
        result = list(shapes[0])
        result[dim] = sum(shape[dim] for shape in shapes)
        yield (
            f"concatenate-{shapes}-{dim}",
            call(
                "stablehlo.concatenate",
                [tensor(*shape) for shape in shapes],
                [tensor(*result)],
                f"dimension = {dim} : i64",
            ),
        )
    head = '%a = "stablehlo.slice"(%0) ' + _limits((0, 0), (4, 3), (1, 1))
    tail = '%b = "stablehlo.slice"(%0) ' + _limits((0, 3), (4, 8), (1, 1))
    other = '%b = "stablehlo.slice"(%1) ' + _limits((0, 3), (4, 8), (1, 1))
    whole, left, right = tensor(4, 8), tensor(4, 3), tensor(4, 5)
    head += f" : ({whole}) -> {left}"
    tail += f" : ({whole}) -> {right}"
    other += f" : ({whole}) -> {right}"
    for name, values, kinds in (
        ("roll", ("%b", "%a"), (right, left)),
        ("wrap", ("%b", "%0", "%a"), (right, whole, left)),
        ("mixed", ("%b", "%1"), (right, whole)),
        ("twice", ("%0", "%0"), (whole, whole)),
    ):
        for source, second in (("same", tail), ("other", other)):
            size = sum(int(kind[9]) for kind in kinds)
            yield (
                f"concatenate-{name}-{source}",
                function(
                    [whole, whole],
                    head,
                    second,
                    f'%r = "stablehlo.concatenate"({", ".join(values)}) '
                    f"<{{dimension = 1 : i64}}> : ({', '.join(kinds)}) -> "
                    + tensor(4, size),
                ),
            )
    for before, after in (
        ((4, 8), (4, 8)),
        ((4, 8), (2, 8)),
        ((4, 8), (1, 1)),
        ((1, 8), (1, 3)),
        ((), ()),
    ):
        index = tensor(of="i32")
        yield (
            f"dynamic_slice-{before}-{after}",
            call(
                "stablehlo.dynamic_slice",
                [tensor(*before), *[index] * len(before)],
                [tensor(*after)],
                f"slice_sizes = {_array(after)}",
            ),
        )
        yield (
            f"dynamic_update_slice-{before}-{after}",
            call(
                "stablehlo.dynamic_update_slice",
                [tensor(*before), tensor(*after), *[index] * len(before)],
                [tensor(*before)],
            ),
        )
    for name, constant in (
        ("constant", "stablehlo.constant dense<1> : tensor<i32>"),
        ("sdy.constant", "sdy.constant dense<1> : tensor<i32>"),
        ("arith.constant", "arith.constant dense<1> : tensor<i32>"),
        ("iota", "stablehlo.convert %2 : (tensor<i64>) -> tensor<i32>"),
    ):
        yield (
            f"dynamic_update_slice-{name}",
            function(
                [tensor(4, 8), tensor(2, 8), tensor(of="i64")],
                "%c = stablehlo.constant dense<0> : tensor<i32>",
                f"%d = {constant}",
                '%r = "stablehlo.dynamic_update_slice"(%0, %1, %d, %c) : '
                "(tensor<4x8xf32>, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> "
                "tensor<4x8xf32>",
            ),
        )
    for before, low, high, inside in (
        ((4, 8), (0, 0), (0, 0), (0, 0)),
        ((4, 8), (1, 0), (2, 0), (0, 0)),
        ((4, 8), (0, -2), (0, 2), (0, 0)),
        ((4, 8), (0, 0), (0, -7), (1, 0)),
        ((1, 1), (3, 0), (0, 0), (0, 0)),
    ):
        after = tuple(
            size + a + b + max(size - 1, 0) * gap
            for size, a, b, gap in zip(before, low, high, inside, strict=True)
        )
        yield (
            f"pad-{before}-{low}-{high}-{inside}",
            call(
                "stablehlo.pad",
                [tensor(*before), tensor()],
                [tensor(*after)],
                f"edge_padding_low = {_array(low)}, edge_padding_high = {_array(high)}"
                f", interior_padding = {_array(inside)}",
            ),
        )
    for before, after in RESHAPES:
        yield (
            f"reshape-{before}-{after}",
            call("stablehlo.reshape", [tensor(*before)], [tensor(*after)]),
        )
    for shape, dims in (((4, 8), (1,)), ((4, 8), ()), ((2, 3, 4), (2, 0))):
        yield (
            f"reverse-{shape}-{dims}",
            call(
                "stablehlo.reverse",
                [tensor(*shape)],
                [tensor(*shape)],
                f"dimensions = {_array(dims)}",
            ),
        )
    for before, start, limit, strides in (
        ((4, 8), (0, 0), (4, 8), (1, 1)),
        ((4, 8), (1, 0), (3, 8), (1, 1)),
        ((4, 8), (0, 0), (4, 8), (1, 2)),
        ((4, 8), (2, 2), (2, 3), (1, 1)),
    ):
        after = tuple(
            (stop - first + step - 1) // step
            for first, stop, step in zip(start, limit, strides, strict=True)
        )
        yield (
            f"slice-{before}-{start}-{limit}-{strides}",
            function(
                [tensor(*before)],
                f'%r = "stablehlo.slice"(%0) {_limits(start, limit, strides)} : '
                f"({tensor(*before)}) -> {tensor(*after)}",
            ),
        )
    for shape, permutation in (
        ((), ()),
        ((4, 8), (1, 0)),
        ((2, 3, 4), (2, 0, 1)),
        ((2, 1, 4), (0, 2, 1)),
    ):
        yield (
            f"transpose-{shape}-{permutation}",
            call(
                "stablehlo.transpose",
                [tensor(*shape)],
                [tensor(*(shape[dim] for dim in permutation))],
                f"permutation = {_array(permutation)}",
            ),
        )


def _array(values: Iterable[int], element: str = "i64") -> str:
    listed = ", ".join(str(value) for value in values)
    return f"array<{element}: {listed}>" if listed else f"array<{element}>"


def _list(values: Iterable[int]) -> str:
    return f"[{', '.join(str(value) for value in values)}]"


def _limits(start: Shape, limit: Shape, strides: Shape) -> str:
    return (
        f"<{{start_indices = {_array(start)}, limit_indices = {_array(limit)}, "
        f"strides = {_array(strides)}}}>"
    )


DOTS: tuple[tuple[Shape, Shape, tuple[Shape, Shape, Shape, Shape]], ...] = (
    ((4, 8), (8, 16), ((), (), (1,), (0,))),
    ((4, 8), (16, 8), ((), (), (1,), (1,))),
    ((8, 4), (8, 16), ((), (), (0,), (0,))),
    ((4,), (8,), ((), (), (), ())),
    ((8,), (8,), ((), (), (0,), (0,))),
    ((), (3, 2), ((), (), (), ())),
    ((2, 4, 8), (2, 8, 16), ((0,), (0,), (2,), (1,))),
    ((4, 2, 8), (8, 16, 2), ((1,), (2,), (2,), (0,))),
    ((2, 3, 4, 8), (2, 3, 8, 5), ((0, 1), (0, 1), (3,), (2,))),
    ((2, 3, 4, 8), (3, 2, 8, 5), ((1, 0), (0, 1), (3,), (2,))),
    ((4, 2, 3), (3, 2, 7), ((), (), (2, 1), (0, 1))),
    ((4, 1, 3), (3, 1, 7), ((1,), (1,), (2,), (0,))),
)


def dot_result(lhs: Shape, rhs: Shape, numbers: tuple[Shape, ...]) -> Shape:
    """Batch, then free dimensions of the left, then of the right."""
    lhs_batch, rhs_batch, lhs_contracted, rhs_contracted = numbers
    return (
        *(lhs[dim] for dim in lhs_batch),
        *(
            size
            for dim, size in enumerate(lhs)
            if dim not in lhs_batch + lhs_contracted
        ),
        *(
            size
            for dim, size in enumerate(rhs)
            if dim not in rhs_batch + rhs_contracted
        ),
    )


def dot_numbers(numbers: tuple[Shape, ...]) -> str:
    names = ("batching", "batching", "contracting", "contracting")
    listed = ", ".join(
        f"{side}_{name}_dimensions = {_list(dims)}"
        for side, name, dims in zip(("lhs", "rhs") * 2, names, numbers, strict=True)
    )
    return f"dot_dimension_numbers = #stablehlo.dot<{listed}>"


def contraction() -> Iterator[tuple[str, str]]:
    for lhs, rhs, numbers in DOTS:
        yield (
            f"dot_general-{lhs}-{rhs}-{numbers}",
            call(
                "stablehlo.dot_general",
                [tensor(*lhs), tensor(*rhs)],
                [tensor(*dot_result(lhs, rhs, numbers))],
                dot_numbers(numbers),
            ),
        )
    for lhs, rhs, result in (
        ((4, 8), (8, 5), (4, 5)),
        ((8,), (8, 5), (5,)),
        ((4, 8), (8,), (4,)),
        ((8,), (8,), ()),
        ((1, 8), (8, 1), (1, 1)),
    ):
        yield (
            f"dot-{lhs}-{rhs}",
            call("stablehlo.dot", [tensor(*lhs), tensor(*rhs)], [tensor(*result)]),
        )
    for left, transpose in (
        (left, transpose)
        for left in ("true", "false")
        for transpose in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
    ):
        for batch in ((), (2, 3)):
            b = (*batch, 4, 7) if left == "true" else (*batch, 7, 4)
            yield (
                f"triangular_solve-{batch}-{left}-{transpose}",
                call(
                    "stablehlo.triangular_solve",
                    [tensor(*batch, 4, 4), tensor(*b)],
                    [tensor(*b)],
                    f"left_side = {left}, lower = true, transpose_a = "
                    f"#stablehlo<transpose {transpose}>, unit_diagonal = false",
                ),
            )


def reduction() -> Iterator[tuple[str, str]]:
    for shape, dims in (
        ((4, 8), (1,)),
        ((4, 8), (0,)),
        ((4, 8), ()),
        ((4, 8), (0, 1)),
        ((2, 3, 1, 5), (2, 0)),
    ):
        result = tuple(size for dim, size in enumerate(shape) if dim not in dims)
        for elements in (("f32",), ("f32", "i32")):
            yield (
                f"reduce-{shape}-{dims}-{elements}",
                call(
                    "stablehlo.reduce",
                    [tensor(*shape, of=element) for element in elements]
                    + [tensor(of=element) for element in elements],
                    [tensor(*result, of=element) for element in elements],
                    f"dimensions = {_array(dims)}",
                    binary("maximum", *elements * 2),
                ),
            )
    less = (
        '%c = "stablehlo.compare"(%a, %b) <{comparison_direction = '
        "#stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> "
        'tensor<i1> "stablehlo.return"(%c) : (tensor<i1>) -> ()'
    )
    for shape, dim in (((8,), 0), ((4, 8), 1), ((4, 8), 0), ((1, 8), 1), ((1, 8), 0)):
        for keys in (1, 2):
            arguments = "%a: tensor<f32>, %b: tensor<f32>"
            if keys == 2:
                arguments += ", %p: tensor<i32>, %q: tensor<i32>"
            kinds = [tensor(*shape), tensor(*shape, of="i32")][:keys]
            yield (
                f"sort-{shape}-{dim}-{keys}",
                call(
                    "stablehlo.sort",
                    kinds,
                    kinds,
                    f"dimension = {dim} : i64, is_stable = true",
                    f"^bb0({arguments}): {less}",
                ),
            )


CONVOLUTIONS: tuple[tuple[Shape, Shape, Shape, str, int, int], ...] = (
    # lhs, rhs, result, dimension numbers, batch groups, feature groups
    (
        (2, 8, 8, 3),
        (3, 3, 3, 16),
        (2, 6, 6, 16),
        "[b,0,1,f]x[0,1,i,o]->[b,0,1,f]",
        1,
        1,
    ),
    (
        (2, 3, 8, 8),
        (16, 3, 3, 3),
        (2, 16, 6, 6),
        "[b,f,0,1]x[o,i,0,1]->[b,f,0,1]",
        1,
        1,
    ),
    (
        (2, 8, 8, 3),
        (1, 1, 3, 16),
        (2, 8, 8, 16),
        "[b,0,1,f]x[0,1,i,o]->[b,0,1,f]",
        1,
        1,
    ),
    (
        (2, 8, 8, 3),
        (8, 7, 3, 16),
        (2, 1, 2, 16),
        "[b,0,1,f]x[0,1,i,o]->[b,0,1,f]",
        1,
        1,
    ),
    ((2, 9, 4), (4, 4, 6), (2, 6, 6), "[b,0,f]x[0,i,o]->[b,0,f]", 1, 1),
    ((4, 8, 6), (3, 6, 8), (2, 6, 8), "[b,0,f]x[0,i,o]->[b,0,f]", 2, 1),
    ((4, 8, 6), (3, 6, 4), (1, 6, 4), "[b,0,f]x[0,i,o]->[b,0,f]", 4, 1),
    ((2, 8, 6), (3, 2, 12), (2, 6, 12), "[b,0,f]x[0,i,o]->[b,0,f]", 1, 3),
    ((2, 8, 6), (3, 1, 6), (2, 6, 6), "[b,0,f]x[0,i,o]->[b,0,f]", 1, 6),
    ((2, 6), (6, 5), (2, 5), "[b,f]x[i,o]->[b,f]", 1, 1),
    ((1, 1, 1), (1, 1, 1), (1, 1, 1), "[b,0,f]x[0,i,o]->[b,0,f]", 1, 1),
)


def windowed() -> Iterator[tuple[str, str]]:
    for lhs, rhs, result, numbers, batch_groups, feature_groups in CONVOLUTIONS:
        yield (
            f"convolution-{lhs}-{rhs}-{batch_groups}-{feature_groups}",
            call(
                "stablehlo.convolution",
                [tensor(*lhs), tensor(*rhs)],
                [tensor(*result)],
                f"dimension_numbers = #stablehlo.conv<{numbers}>, "
                f"batch_group_count = {batch_groups} : i64, "
                f"feature_group_count = {feature_groups} : i64",
            ),
        )
    for kind, before, after, length, elements in (
        ("FFT", (2, 8), (2, 8), (8,), ("complex<f32>",) * 2),
        ("IFFT", (3, 4, 8), (3, 4, 8), (4, 8), ("complex<f32>",) * 2),
        ("RFFT", (2, 8), (2, 5), (8,), ("f32", "complex<f32>")),
        ("IRFFT", (2, 4, 5), (2, 4, 8), (4, 8), ("complex<f32>", "f32")),
        ("RFFT", (2, 1), (2, 1), (1,), ("f32", "complex<f32>")),
    ):
        yield (
            f"fft-{kind}-{before}-{length}",
            call(
                "stablehlo.fft",
                [tensor(*before, of=elements[0])],
                [tensor(*after, of=elements[1])],
                f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {_array(length)}",
            ),
        )
    for before, after, window, strides, padding in (
        ((2, 8), (2, 7), (1, 2), None, None),
        ((2, 8), (2, 4), (1, 2), (1, 2), None),
        ((2, 8), (2, 8), (1, 1), (1, 1), None),
        ((2, 8), (2, 8), (1, 3), None, "[[0, 0], [1, 1]]"),
        ((2, 8), (3, 8), (1, 1), None, "[[0, 1], [0, 0]]"),
        ((2, 8), (2, 4), (1, 1), (1, 2), "[[0, 0], [0, 0]]"),
    ):
        for elements in (("f32",), ("f32", "i32")):
            properties = f"window_dimensions = {_array(window)}"
            if strides:
                properties += f", window_strides = {_array(strides)}"
            if padding:
                properties += f", padding = dense<{padding}> : tensor<2x2xi64>"
            yield (
                f"reduce_window-{before}-{window}-{strides}-{padding}-{elements}",
                call(
                    "stablehlo.reduce_window",
                    [tensor(*before, of=element) for element in elements]
                    + [tensor(of=element) for element in elements],
                    [tensor(*after, of=element) for element in elements],
                    properties,
                    binary("add", *elements * 2),
                ),
            )
    greater = (
        "^bb0(%a: tensor<f32>, %b: tensor<f32>): "
        '%c = "stablehlo.compare"(%a, %b) <{comparison_direction = '
        "#stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> "
        'tensor<i1> "stablehlo.return"(%c) : (tensor<i1>) -> ()'
    )
    for shape, source, window, strides, padding in (
        ((2, 8), (2, 4), (1, 2), (1, 2), None),
        ((2, 8), (2, 8), (1, 1), (1, 1), None),
        ((2, 8), (2, 3), (1, 3), (1, 3), "[[0, 0], [0, 1]]"),
    ):
        properties = []
        if window:
            properties.append(f"window_dimensions = {_array(window)}")
        if strides:
            properties.append(f"window_strides = {_array(strides)}")
        if padding:
            properties.append(f"padding = dense<{padding}> : tensor<2x2xi64>")
        yield (
            f"select_and_scatter-{shape}-{window}-{strides}-{padding}",
            call(
                "stablehlo.select_and_scatter",
                [tensor(*shape), tensor(*source), tensor()],
                [tensor(*shape)],
                ", ".join(properties),
                f"{greater}}}, {{{binary('add', 'f32', 'f32')}",
            ),
        )


GATHERS: tuple[tuple[Shape, Shape, Shape, Shape, str], ...] = (
    # operand, indices, result, slice sizes, dimension numbers
    (
        (10, 8), (4, 1), (4, 8), (1, 8),
        "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
        "index_vector_dim = 1",
    ),
    (
        (10, 8), (4, 1), (4, 1, 8), (1, 8),
        "offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1",
    ),
    (
        (10, 8), (4, 5, 2), (4, 5, 3, 2), (3, 2),
        "offset_dims = [2, 3], start_index_map = [0, 1], index_vector_dim = 2",
    ),
    (
        (10, 8), (4,), (4, 8), (1, 8),
        "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
        "index_vector_dim = 1",
    ),
    (
        (10, 8), (2, 4, 5), (4, 5), (1, 1),
        "collapsed_slice_dims = [0, 1], start_index_map = [0, 1], "
        "index_vector_dim = 0",
    ),
    (
        (1, 8), (4, 1), (8, 4), (1, 8),
        "offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], "
        "index_vector_dim = 1",
    ),
    (
        (3, 10, 8), (3, 4, 1), (3, 4, 8), (1, 1, 8),
        "offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], "
        "start_indices_batching_dims = [0], start_index_map = [1], "
        "index_vector_dim = 2",
    ),
    (
        (3, 10, 2, 8), (2, 4, 3, 1), (2, 4, 5, 3, 8), (1, 5, 1, 8),
        "offset_dims = [2, 4], operand_batching_dims = [0, 2], "
        "start_indices_batching_dims = [2, 0], start_index_map = [1], "
        "index_vector_dim = 3",
    ),
)  # fmt: skip

SCATTERS: tuple[tuple[Shape, Shape, Shape, str], ...] = (
    # input, indices, updates, dimension numbers
    (
        (10, 8), (4, 1), (4, 8),
        "update_window_dims = [1], inserted_window_dims = [0], "
        "scatter_dims_to_operand_dims = [0], index_vector_dim = 1",
    ),
    (
        (10, 8), (4, 2), (4, 3, 8),
        "update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], "
        "index_vector_dim = 1",
    ),
    (
        (10, 8), (4, 5), (4, 5, 8),
        "update_window_dims = [2], inserted_window_dims = [0], "
        "scatter_dims_to_operand_dims = [0], index_vector_dim = 2",
    ),
    (
        (10, 8), (2,), (),
        "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], "
        "index_vector_dim = 0",
    ),
    (
        (3, 10, 8), (3, 4, 1), (3, 4, 8),
        "update_window_dims = [2], inserted_window_dims = [1], "
        "input_batching_dims = [0], scatter_indices_batching_dims = [0], "
        "scatter_dims_to_operand_dims = [1], index_vector_dim = 2",
    ),
)  # fmt: skip


def gather_scatter() -> Iterator[tuple[str, str]]:
    for operand, indices, result, sizes, numbers in GATHERS:
        yield (
            f"gather-{operand}-{indices}-{sizes}",
            call(
                "stablehlo.gather",
                [tensor(*operand), tensor(*indices, of="i32")],
                [tensor(*result)],
                f"dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = "
                f"{_array(sizes)}, indices_are_sorted = false",
            ),
        )
    for number, (shape, indices, updates, numbers) in enumerate(SCATTERS):
        regions = [("add", binary("add", "f32", "f32"))]
        if number == 0:
            regions += [
                (name, binary(name, "f32", "f32"))
                for name in ("maximum", "minimum", "multiply", "subtract")
            ]
            regions += [
                (
                    "replace",
                    "^bb0(%a: tensor<f32>, %b: tensor<f32>): "
                    '"stablehlo.return"(%b) : (tensor<f32>) -> ()',
                ),
                (
                    "swapped",
                    "^bb0(%a: tensor<f32>, %b: tensor<f32>): "
                    '%c = "stablehlo.add"(%b, %a) : (tensor<f32>, tensor<f32>) -> '
                    'tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> ()',
                ),
                (
                    "double",
                    "^bb0(%a: tensor<f32>, %b: tensor<f32>): "
                    '%c = "stablehlo.add"(%b, %b) : (tensor<f32>, tensor<f32>) -> '
                    'tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> ()',
                ),
            ]
        for name, region in regions:
            yield (
                f"scatter-{shape}-{indices}-{updates}-{name}",
                _scatter(("f32",), shape, indices, updates, numbers, region),
            )
    shape, indices, updates, numbers = SCATTERS[0]
    for name, elements in (
        ("and", ("i1",)),
        ("or", ("i32",)),
        ("add", ("f32", "i32")),
    ):
        yield (
            f"scatter-{name}-{elements}",
            _scatter(
                elements, shape, indices, updates, numbers, binary(name, *elements * 2)
            ),
        )
    mixed = binary("add", "f32", "i32", "f32", "i32").replace(
        '"stablehlo.add"(%a1', '"stablehlo.maximum"(%a1'
    )
    yield (
        "scatter-mixed",
        _scatter(("f32", "i32"), shape, indices, updates, numbers, mixed),
    )


def _scatter(
    elements: tuple[str, ...],
    shape: Shape,
    indices: Shape,
    updates: Shape,
    numbers: str,
    region: str,
) -> str:
    return call(
        "stablehlo.scatter",
        [
            *(tensor(*shape, of=element) for element in elements),
            tensor(*indices, of="i32"),
            *(tensor(*updates, of=element) for element in elements),
        ],
        [tensor(*shape, of=element) for element in elements],
        f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>, "
        "indices_are_sorted = false, unique_indices = false",
        region,
    )


GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"


def collective() -> Iterator[tuple[str, str]]:
    kind = tensor(4, 8)
    for dim in (0, 1):
        wide = tuple(size * 2 if d == dim else size for d, size in enumerate((4, 8)))
        for operands in (1, 2):
            yield (
                f"all_gather-{dim}-{operands}",
                call(
                    "stablehlo.all_gather",
                    [kind] * operands,
                    [tensor(*wide)] * operands,
                    f"all_gather_dim = {dim} : i64, {GROUPS}",
                ),
            )
        yield (
            f"reduce_scatter-{dim}",
            call(
                "stablehlo.reduce_scatter",
                [tensor(*wide)],
                [kind],
                f"scatter_dimension = {dim} : i64, {GROUPS}",
                binary("add", "f32", "f32"),
            ),
        )
        for concat in (0, 1):
            after = [4, 8]
            after[dim] //= 2
            after[concat] *= 2
            for operands in (1, 2):
                yield (
                    f"all_to_all-{dim}-{concat}-{operands}",
                    call(
                        "stablehlo.all_to_all",
                        [kind] * operands,
                        [tensor(*after)] * operands,
                        f"split_dimension = {dim} : i64, concat_dimension = {concat} "
                        f": i64, split_count = 2 : i64, {GROUPS}",
                    ),
                )
    yield (
        "all_reduce",
        call(
            "stablehlo.all_reduce",
            [kind, tensor(3)],
            [kind, tensor(3)],
            GROUPS,
            binary("add", "f32", "f32"),
        ),
    )
    yield (
        "all_reduce-one",
        call(
            "stablehlo.all_reduce",
            [kind],
            [kind],
            GROUPS,
            binary("add", "f32", "f32"),
        ),
    )
    yield (
        "collective_broadcast",
        call("stablehlo.collective_broadcast", [kind], [kind], GROUPS),
    )
    yield (
        "collective_permute",
        call(
            "stablehlo.collective_permute",
            [kind],
            [kind],
            "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>",
        ),
    )
    yield (
        "cross-replica-sum",
        call("stablehlo.cross-replica-sum", [kind], [kind], GROUPS),
    )


def custom_call() -> Iterator[tuple[str, str]]:
    from ttxdsl.dialects.calls.linalg import ROUTINE_OF, ROUTINES
    from ttxdsl.rules import tenstorrent
    from ttxdsl.rules.custom_call import TARGETS

    signatures: dict[str, tuple[list[Shape], list[Shape]]] = {
        "ApproxTopK": ([(4, 8), (4, 8), (), ()], [(4, 3), (4, 3)]),
        "Eigh": ([(2, 5, 5)], [(2, 5, 5), (2, 5)]),
        "PartialReduce": ([(4, 8), (4, 8), (), ()], [(2, 8), (2, 8)]),
        "ProductOfElementaryHouseholderReflectors": ([(2, 6, 4), (2, 4)], [(2, 6, 4)]),
        "Qr": ([(2, 6, 4)], [(2, 6, 4), (2, 4)]),
        "QrDecompositionBlock": ([(6, 4)], [(6, 4), (4,)]),
        "X64Combine": ([(4, 8), (4, 8)], [(4, 8)]),
        "_SPMDInternalOp_MultiRotate": ([(4, 8)], [(4, 8), (4, 8)]),
        "mhlo.topk": ([(4, 8)], [(4, 3), (4, 3)]),
    }
    default: tuple[list[Shape], list[Shape]] = ([(4, 8)], [(4, 8)])
    # of a routine that has many targets, which have one rule, the first
    alike = ROUTINE_OF.keys() - {targets[0] for targets in ROUTINES.values()}
    # and those that Shardy does not know
    alike |= tenstorrent.TARGETS.keys()
    for target in sorted({*TARGETS, *signatures, "unknown"} - alike | {*signatures}):
        operands, results = signatures.get(target, default)
        yield (
            f"custom_call-{target}",
            call(
                "stablehlo.custom_call",
                [tensor(*shape) for shape in operands],
                [tensor(*shape) for shape in results],
                f'call_target_name = "{target}"',
            ),
        )
    yield (
        "custom_call-X64Combine-rng",
        function(
            [tensor(2, of="ui32"), tensor(2, of="ui32")],
            '%s = "stablehlo.custom_call"(%0, %1) <{call_target_name = "X64Combine"}>'
            " : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui64>",
            '%r:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = '
            "#stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> "
            "(tensor<2xui64>, tensor<4x6xui32>)",
        ),
    )
    yield (
        "custom_call-own-rule",
        function(
            [tensor(4, 8)],
            '%r = "stablehlo.custom_call"(%0) <{call_target_name = "foo"}> '
            "{sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) "
            "{i=4, j=8} need_replication={j}, custom>} : (tensor<4x8xf32>) -> "
            "tensor<4x8xf32>",
        ),
    )
    yield (
        "add-own-rule",
        function(
            [tensor(4, 8)],
            '%r = "stablehlo.add"(%0, %0) {sdy.sharding_rule = #sdy.op_sharding_rule<'
            "([i, j], [i, k])->([i, l]) {i=4, j=8, k=8, l=8}>} : "
            "(tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>",
        ),
    )


def other() -> Iterator[tuple[str, str]]:
    for feature in (0, 1, 2):
        shape = (2, 3, 4)
        statistics = tensor(shape[feature])
        yield (
            f"batch_norm_inference-{feature}",
            call(
                "stablehlo.batch_norm_inference",
                [tensor(*shape), *[statistics] * 4],
                [tensor(*shape)],
                f"epsilon = 1.0e-03 : f32, feature_index = {feature} : i64",
            ),
        )
    for shape in ((4, 4), (2, 3, 5, 5)):
        yield (
            f"cholesky-{shape}",
            call(
                "stablehlo.cholesky", [tensor(*shape)], [tensor(*shape)], "lower = true"
            ),
        )
    for shape in ((), (4,), (4, 1, 6)):
        yield (
            f"rng_bit_generator-{shape}",
            call(
                "stablehlo.rng_bit_generator",
                [tensor(2, of="ui64")],
                [tensor(2, of="ui64"), tensor(*shape, of="ui32")],
                "rng_algorithm = #stablehlo<rng_algorithm DEFAULT>",
            ),
        )
    mesh = 'sdy.mesh @mesh = <["x"=2]>\n'
    sharding = '#sdy.sharding<@mesh, [{"x"}, {}]>'
    for name in ("sharding_constraint", "reshard"):
        yield (
            f"sdy.{name}",
            mesh
            + call(
                f"sdy.{name}",
                [tensor(4, 8)],
                [tensor(4, 8)],
                f"sharding = {sharding}",
            ),
        )


def no_rule() -> Iterator[tuple[str, str]]:
    """Ops that C++ has no rule for, for one reason or the other."""
    kind = tensor(4, 8)
    for name, operands, results, properties in (
        ("after_all", ["!stablehlo.token"], ["!stablehlo.token"], ""),
        ("constant", [], [kind], "value = dense<1.0> : tensor<4x8xf32>"),
        ("create_token", [], ["!stablehlo.token"], ""),
        ("iota", [], [kind], "iota_dimension = 0 : i64"),
        ("optimization_barrier", [kind], [kind], ""),
        ("partition_id", [], [tensor(of="ui32")], ""),
        ("replica_id", [], [tensor(of="ui32")], ""),
        ("get_dimension_size", [kind], [tensor(of="i32")], "dimension = 0 : i64"),
        ("broadcast", [kind], [tensor(2, 4, 8)], "broadcast_sizes = array<i64: 2>"),
    ):
        yield name, call(f"stablehlo.{name}", operands, results, properties)
    for name in [
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "cosh",
        "digamma",
        "erf",
        "lgamma",
        "sinh",
        "square",
    ]:
        yield f"chlo.{name}", call(f"chlo.{name}", [kind], [kind])
    yield (
        "chlo.top_k",
        call(
            "chlo.top_k", [kind], [tensor(4, 2), tensor(4, 2, of="i32")], "k = 2 : i64"
        ),
    )
    yield "chlo.next_after", call("chlo.next_after", [kind, kind], [kind])
    yield (
        "map",
        call(
            "stablehlo.map",
            [kind, kind],
            [kind],
            "dimensions = array<i64: 0, 1>",
            binary("add", "f32", "f32"),
        ),
    )
    yield (
        "while",
        function(
            [tensor(of="i32"), kind],
            '%r:2 = "stablehlo.while"(%0, %1) ({^bb0(%a: tensor<i32>, %b: '
            "tensor<4x8xf32>): "
            '%c = "stablehlo.compare"(%a, %a) <{comparison_direction = '
            "#stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> "
            'tensor<i1> "stablehlo.return"(%c) : (tensor<i1>) -> ()}, '
            "{^bb0(%a: tensor<i32>, %b: tensor<4x8xf32>): "
            '%d = "stablehlo.add"(%b, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> '
            'tensor<4x8xf32> "stablehlo.return"(%a, %d) : (tensor<i32>, '
            "tensor<4x8xf32>) -> ()}) : (tensor<i32>, tensor<4x8xf32>) -> "
            "(tensor<i32>, tensor<4x8xf32>)",
        ),
    )


FAMILIES = {
    family.__name__: family
    for family in (
        collective,
        contraction,
        custom_call,
        data_movement,
        elementwise,
        gather_scatter,
        no_rule,
        other,
        reduction,
        windowed,
    )
}


def all_cases() -> Iterator[tuple[str, str]]:
    """Every function, with its family and a number as part of a unique name."""
    for family, cases in FAMILIES.items():
        numbers = count()
        for name, text in cases():
            yield f"{family}-{next(numbers)}-{name}".replace(" ", ""), text
