"""Ops that move elements, for tests of rules."""

from collections.abc import Iterator

from tests.rules.op_text import Shape, array_text, call, function, limits_text, tensor

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
                f"broadcast_dimensions = {array_text(dims)}",
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
    head = '%a = "stablehlo.slice"(%0) ' + limits_text((0, 0), (4, 3), (1, 1))
    tail = '%b = "stablehlo.slice"(%0) ' + limits_text((0, 3), (4, 8), (1, 1))
    other = '%b = "stablehlo.slice"(%1) ' + limits_text((0, 3), (4, 8), (1, 1))
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
                f"slice_sizes = {array_text(after)}",
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
                f"edge_padding_low = {array_text(low)}, edge_padding_high = {array_text(high)}"
                f", interior_padding = {array_text(inside)}",
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
                f"dimensions = {array_text(dims)}",
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
                f'%r = "stablehlo.slice"(%0) {limits_text(start, limit, strides)} : '
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
                f"permutation = {array_text(permutation)}",
            ),
        )
