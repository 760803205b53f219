"""Programs for the forms of the lowering that no other case has."""

from collections.abc import Iterator


def program(arguments: str, ops: str, result: str) -> str:
    """A function of comma-separated argument types; `%r` is its result."""
    given = ", ".join(f"%{i}: {one}" for i, one in enumerate(arguments.split(", ")))
    return f"func.func @main({given}) -> {result} {{ {ops} return %r : {result} }}"


F, B, S = "tensor<4x6xf32>", "tensor<4x6xi1>", "tensor<f32>"
LINE = "tensor<4xf32>"
DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")


def _body(op: str, element: str = "f32") -> str:
    """A computation of that op on two scalars."""
    type = f"tensor<{element}>"
    return f"""({{
      ^bb0(%p: {type}, %q: {type}):
        %z = "stablehlo.{op}"(%p, %q) : ({type}, {type}) -> {type}
        stablehlo.return %z : {type}
    }})"""


def _comparisons() -> Iterator[str]:
    for way in DIRECTIONS:
        yield program(
            f"{F}, {F}", f"%r = stablehlo.compare {way}, %0, %1 : ({F}, {F}) -> {B}", B
        )
        yield program(
            f"{F}, {F}",
            f'%r = "chlo.broadcast_compare"(%0, %1) <{{comparison_direction = '
            f"#chlo<comparison_direction {way}>}}> : ({F}, {F}) -> {B}",
            B,
        )
    yield program(
        f"{F}, {F}",
        f"%r = stablehlo.compare LT, %0, %1, TOTALORDER : ({F}, {F}) -> {B}",
        B,
    )


def _constants() -> Iterator[str]:
    for number in ("0.0", "1.0", "2.5", "[1.0, 2.0, 3.0, 4.0]"):
        for op in ("stablehlo.constant", "sdy.constant", "chlo.constant"):
            said = f"value = dense<{number}> : {LINE}"
            yield program(LINE, f'%r = "{op}"() <{{{said}}}> : () -> {LINE}', LINE)
    for number in ("0.0", "1.0", "2.5"):
        said = f"value = {number} : f32"
        yield program(
            F, f'%r = "chlo.constant_like"(%0) <{{{said}}}> : ({F}) -> {F}', F
        )


def _reductions() -> Iterator[str]:
    kinds = [(op, "f32") for op in ("add", "multiply", "maximum", "minimum")]
    kinds += [(op, "i1") for op in ("and", "or", "add", "multiply")]
    for op, element in kinds:
        whole, one = f"tensor<4x6x{element}>", f"tensor<{element}>"
        yield program(
            f"{whole}, {one}",
            f'%r = "stablehlo.reduce"(%0, %1) {_body(op, element)} '
            f"{{dimensions = array<i64: 1>}} : ({whole}, {one}) -> tensor<4x{element}>",
            f"tensor<4x{element}>",
        )
        start = {"add": "0", "multiply": "1"}.get(op)
        for edges in ("[[0, 0], [5, 0]]", "[[0, 0], [0, 5]]", "[[1, 1], [5, 0]]"):
            rows = 4 if edges.startswith("[[0") else 6
            result = f"tensor<{rows}x6x{element}>"
            init = "%s = stablehlo.abs %1 : tensor<f32>" if start is None else (
                f"%s = stablehlo.constant dense<{start}.0> : tensor<f32>"
            )  # fmt: skip
            if element == "f32":
                yield program(
                    f"{whole}, {one}",
                    f'{init} %r = "stablehlo.reduce_window"(%0, %s) {_body(op)} '
                    f"{{window_dimensions = array<i64: 1, 6>, "
                    f"padding = dense<{edges}> : tensor<2x2xi64>}} : "
                    f"({whole}, {one}) -> {result}",
                    result,
                )


def _convolutions() -> Iterator[str]:
    yield program(
        "tensor<2x8x4xf32>, tensor<3x4x6xf32>",
        "%r = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, f]x[0, i, o]->[f, b, 0],"
        " window = {pad = [[1, 1]], reverse = [true]} {batch_group_count = 1 : i64,"
        " feature_group_count = 1 : i64} :"
        " (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<6x2x8xf32>",
        "tensor<6x2x8xf32>",
    )
    yield program(
        "tensor<2x8x8x8x4xf32>, tensor<3x3x3x4x6xf32>",
        "%r = stablehlo.convolution(%0, %1)"
        " dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f],"
        " window = {lhs_dilate = [2, 1, 1]} {batch_group_count = 1 : i64,"
        " feature_group_count = 1 : i64} :"
        " (tensor<2x8x8x8x4xf32>, tensor<3x3x3x4x6xf32>) -> tensor<2x13x6x6x6xf32>",
        "tensor<2x13x6x6x6xf32>",
    )
    yield program(
        "tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>",
        "%r = stablehlo.convolution(%0, %1)"
        " dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],"
        " window = {pad = [[-1, 0], [0, 0]]} {batch_group_count = 2 : i64,"
        " feature_group_count = 1 : i64} :"
        " (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x5x6x6xf32>",
        "tensor<2x5x6x6xf32>",
    )


def _moves() -> Iterator[str]:
    yield program(
        "tensor<6x4xf32>",
        "%r = stablehlo.broadcast_in_dim %0, dims = [2, 1] : (tensor<6x4xf32>) ->"
        " tensor<3x4x6xf32>",
        "tensor<3x4x6xf32>",
    )
    yield program(
        F,
        f"""%c = stablehlo.constant dense<2.5> : {S}
        %r = stablehlo.broadcast_in_dim %c, dims = [] : ({S}) -> {F}""",
        F,
    )
    yield program(
        "tensor<6x4xf32>",
        """%k = stablehlo.constant dense<[3, 4, 6]> : tensor<3xi64>
        %r = stablehlo.dynamic_broadcast_in_dim %0, %k, dims = [2, 1] :
          (tensor<6x4xf32>, tensor<3xi64>) -> tensor<3x4x6xf32>""",
        "tensor<3x4x6xf32>",
    )
    for init, edge in (("dense<0.0>", 1), ("dense<0.0>", -1), ("computed", 1)):
        value = (
            f"%z = stablehlo.constant {init} : {S}"
            if init != "computed"
            else f"%z = stablehlo.abs %1 : {S}"
        )
        wide = f"tensor<4x{6 + 2 * edge}xf32>"
        yield program(
            f"{F}, {S}",
            f"{value} %r = stablehlo.pad %0, %z, low = [0, {edge}], high = [0, {edge}],"
            f" interior = [0, 0] : ({F}, {S}) -> {wide}",
            wide,
        )
    yield program(
        F,
        f"""%k = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
        %l = stablehlo.constant dense<[4, 5]> : tensor<2xi64>
        %s = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
        %r = stablehlo.real_dynamic_slice %0, %k, %l, %s :
          ({F}, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<4x2xf32>""",
        "tensor<4x2xf32>",
    )
    yield program(
        f"{F}, tensor<2x6xf32>, tensor<i32>",
        f"%r = stablehlo.dynamic_update_slice %0, %1, %2, %2 :"
        f" ({F}, tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> {F}",
        F,
    )
    yield program(
        f"{F}, tensor<i32>",
        f"%r = stablehlo.set_dimension_size %0, %1, dim = 1 : ({F}, tensor<i32>) -> {F}",
        F,
    )
    yield program(
        f"{F}, tensor<2x3xi32>",
        '%r = "stablehlo.torch_index_select"(%0, %1) {dim = 0 : i64, batch_dims = 0 : i64}'
        f" : ({F}, tensor<2x3xi32>) -> tensor<2x3x6xf32>",
        "tensor<2x3x6xf32>",
    )
    yield program(
        f"{F}, tensor<5x1xi32>",
        '%r = "stablehlo.gather"(%0, %1) {dimension_numbers = #stablehlo.gather<'
        "offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1],"
        " index_vector_dim = 1>, slice_sizes = array<i64: 4, 1>} :"
        f" ({F}, tensor<5x1xi32>) -> tensor<4x5xf32>",
        "tensor<4x5xf32>",
    )
    for op in ("subtract", "multiply", "maximum", "minimum", "add"):
        yield program(
            f"{F}, tensor<5x1xi64>, tensor<4x5xf32>",
            f'%r = "stablehlo.scatter"(%0, %1, %2) {_body(op)} '
            "{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0],"
            " inserted_window_dims = [1], scatter_dims_to_operand_dims = [1],"
            f" index_vector_dim = 1>, unique_indices = {str(op != 'add').lower()}}} :"
            f" ({F}, tensor<5x1xi64>, tensor<4x5xf32>) -> {F}",
            F,
        )

    yield program(
        f"{F}, tensor<3x2xi64>",
        '%r = "stablehlo.gather"(%0, %1) {dimension_numbers = #stablehlo.gather<'
        "collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>,"
        f" slice_sizes = array<i64: 1, 1>}} : ({F}, tensor<3x2xi64>) -> tensor<3xf32>",
        "tensor<3xf32>",
    )
    yield program(
        f"{F}, tensor<5x1xi32>, tensor<5x2x6xf32>",
        f'%r = "stablehlo.scatter"(%0, %1, %2) {_body("add")} '
        "{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2],"
        " scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} :"
        f" ({F}, tensor<5x1xi32>, tensor<5x2x6xf32>) -> {F}",
        F,
    )
    yield program(
        "tensor<2x3x4xf32>, tensor<5x2x4xf32>",
        "%r = stablehlo.dot_general %0, %1, batching_dims = [0] x [1],"
        " contracting_dims = [2] x [2] : (tensor<2x3x4xf32>, tensor<5x2x4xf32>)"
        " -> tensor<2x3x5xf32>",
        "tensor<2x3x5xf32>",
    )
    yield program(
        "tensor<2x3x4xf32>, tensor<4x2x3xf32>",
        "%r = stablehlo.dot_general %0, %1, contracting_dims = [1, 0] x [2, 1] :"
        " (tensor<2x3x4xf32>, tensor<4x2x3xf32>) -> tensor<4x4xf32>",
        "tensor<4x4xf32>",
    )
    yield program(
        "tensor<2x3x4xf32>",
        "%r = stablehlo.reverse %0, dims = [1, 2] : tensor<2x3x4xf32>",
        "tensor<2x3x4xf32>",
    )
    yield program(
        f"tensor<i1>, {F}", f"%r = stablehlo.select %0, %1, %1 : tensor<i1>, {F}", F
    )
    for rows in (4, 5):
        yield program(
            f"tensor<{rows}x6xui32>, tensor<ui32>",
            f'%r = "stablehlo.reduce"(%0, %1) {_body("xor", "ui32")} '
            f"{{dimensions = array<i64: 0>}} : (tensor<{rows}x6xui32>, tensor<ui32>)"
            " -> tensor<6xui32>",
            "tensor<6xui32>",
        )


def _sorts() -> Iterator[str]:
    for kind in ("FLOAT", "TOTALORDER"):
        yield program(
            F,
            f"""%r = "stablehlo.sort"(%0) ({{
              ^bb0(%p: {S}, %q: {S}):
                %c = stablehlo.compare LT, %p, %q, {kind} : ({S}, {S}) -> tensor<i1>
                stablehlo.return %c : tensor<i1>
            }}) {{dimension = 0 : i64, is_stable = true}} : ({F}) -> {F}""",
            F,
        )
    yield program(
        f"{F}, {F}",
        f"""%r, %s = "stablehlo.sort"(%0, %1) ({{
          ^bb0(%p: {S}, %q: {S}, %u: {S}, %v: {S}):
            %a = stablehlo.compare LT, %p, %q : ({S}, {S}) -> tensor<i1>
            %b = stablehlo.compare EQ, %p, %q : ({S}, {S}) -> tensor<i1>
            %c = stablehlo.compare LT, %u, %v : ({S}, {S}) -> tensor<i1>
            %d = stablehlo.and %b, %c : tensor<i1>
            %e = stablehlo.or %a, %d : tensor<i1>
            stablehlo.return %e : tensor<i1>
        }}) {{dimension = 0 : i64, is_stable = true}} : ({F}, {F}) -> ({F}, {F})""",
        F,
    )
    yield program(
        F,
        f"""%r = "stablehlo.sort"(%0) ({{
          ^bb0(%p: {S}, %q: {S}):
            %a = stablehlo.compare LT, %p, %q : ({S}, {S}) -> tensor<i1>
            %b = stablehlo.compare EQ, %p, %q : ({S}, {S}) -> tensor<i1>
            %c = stablehlo.xor %a, %b : tensor<i1>
            stablehlo.return %c : tensor<i1>
        }}) {{dimension = 0 : i64, is_stable = true}} : ({F}) -> {F}""",
        F,
    )
    comparator = f"""
    func.func @gt(%p: {S}, %q: {S}) -> tensor<i1> {{
      %c = stablehlo.compare GT, %p, %q : ({S}, {S}) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }}"""
    yield comparator + program(
        F,
        f"""%z = stablehlo.constant dense<0.0> : {S}
        %r = stablehlo.custom_call @PartialReduce(%0, %z) {{
            called_computations = [@gt]}} : ({F}, {S}) -> tensor<4x2xf32>""",
        "tensor<4x2xf32>",
    )


CASES: tuple[str, ...] = (
    *_comparisons(),
    *_constants(),
    *_reductions(),
    *_convolutions(),
    *_moves(),
    *_sorts(),
)
