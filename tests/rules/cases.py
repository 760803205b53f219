"""Functions of one op each, or of the few that an op's rule depends on."""

from collections.abc import Iterator
from itertools import count

from tests.catalogue.uses import NOT_FOR_JAXLIB, USES
from tests.rules.movement_cases import data_movement
from tests.rules.op_text import (
    Shape,
    array_text,
    binary,
    call,
    function,
    list_text,
    tensor,
)
from tests.rules.window_cases import gather_scatter, windowed

SHAPES: tuple[Shape, ...] = ((), (8,), (1, 6), (4, 8, 3))


def elementwise() -> Iterator[tuple[str, str]]:
    """The forms of elementwise ops; each op has one of them in the catalogue."""
    for shape in SHAPES:
        real, boolean, scalar = tensor(*shape), tensor(*shape, of="i1"), tensor()
        for name, operands, result in (
            ("add", [real, real], real),
            ("clamp", [real, real, real], real),
            ("clamp", [scalar, real, scalar], real),
            ("select", [boolean, real, real], real),
            ("select", [tensor(of="i1"), real, real], real),
        ):
            yield (
                f"{name}-{shape}-{operands[0]}",
                call(f"stablehlo.{name}", operands, [result]),
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
        f"{side}_{name}_dimensions = {list_text(dims)}"
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
                    f"dimensions = {array_text(dims)}",
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
                f"sdy.{name}", [tensor(4, 8)], [tensor(4, 8)], f"sharding = {sharding}"
            ),
        )


def uses() -> Iterator[tuple[str, str]]:
    for name, use in USES.items():
        if use.name not in NOT_FOR_JAXLIB:
            yield name, use.text()


FAMILIES = {
    family.__name__: family
    for family in (
        collective,
        contraction,
        custom_call,
        data_movement,
        elementwise,
        gather_scatter,
        other,
        reduction,
        uses,
        windowed,
    )
}


def all_cases() -> Iterator[tuple[str, str]]:
    """Every function, with its family and a number as part of a unique name."""
    for family, cases in FAMILIES.items():
        numbers = count()
        for name, text in cases():
            yield f"{family}-{next(numbers)}-{name}".replace(" ", ""), text
