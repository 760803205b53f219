"""Windows, gathers and scatters, for tests of rules."""

from collections.abc import Iterator

from tests.rules.op_text import Shape, array_text, binary, call, tensor

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
                f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {array_text(length)}",
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
            properties = f"window_dimensions = {array_text(window)}"
            if strides:
                properties += f", window_strides = {array_text(strides)}"
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
            properties.append(f"window_dimensions = {array_text(window)}")
        if strides:
            properties.append(f"window_strides = {array_text(strides)}")
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
                f"{array_text(sizes)}, indices_are_sorted = false",
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
    for name, elements in (("and", ("i1",)), ("or", ("i32",)), ("add", ("f32", "i32"))):
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
