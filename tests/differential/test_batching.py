"""`sdy-explicit-gather-scatter-batching` against C++ and by numbers, at random.

Where C++ takes for counting what does not count, ours leaves the op as it is.
"""

import random
from functools import partial

import pytest

from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.equal_text import run_ours
from tests.differential.oracle import Oracle
from tests.differential.partitioning import arguments_of, assert_same
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import parse_program

NAME = "sdy-explicit-gather-scatter-batching"


def column(rng: random.Random, rows: int, name: str) -> list[str]:
    """Ops that make `%name`, of shape rows x 1: mostly numbers of rows, or nearly."""
    kind = f"tensor<{rows}x1xi32>"
    low, high = rng.choice(((0, rows - 1), (0, 1), (-1, rows + 3)))
    bounds = [
        f"%low{name} = stablehlo.constant dense<{low}> : tensor<i32>",
        f"%high{name} = stablehlo.constant dense<{high}> : tensor<i32>",
        f"%sure{name} = stablehlo.broadcast_in_dim %low{name}, dims = [] : (tensor<i32>) -> {kind}",
    ]
    count = f"%i{name} = stablehlo.iota dim = 0 : {kind}"
    match rng.randrange(8):
        case 0:
            return [f"%{name} = stablehlo.iota dim = {rng.choice((0, 0, 1))} : {kind}"]
        case 1:
            flat = f"tensor<{rows}xi32>"
            return [
                f"%i{name} = stablehlo.iota dim = 0 : {flat}",
                f"%{name} = stablehlo.reshape %i{name} : ({flat}) -> {kind}",
            ]
        case 2:
            shape = rng.choice((f"{rows}", "1"))
            flat = f"tensor<{shape}xi32>"
            return [
                f"%i{name} = stablehlo.iota dim = 0 : {flat}",
                f"%{name} = stablehlo.broadcast_in_dim %i{name}, dims = [0] : ({flat}) -> {kind}",
            ]
        case 3:
            flat = f"tensor<1x{rows}xi32>"
            return [
                f"%i{name} = stablehlo.iota dim = {rng.randrange(2)} : {flat}",
                f"%{name} = stablehlo.reshape %i{name} : ({flat}) -> {kind}",
            ]
        case 4:
            return [
                *bounds,
                count,
                f"%{name} = stablehlo.clamp %low{name}, %i{name}, %high{name} : (tensor<i32>, {kind}, tensor<i32>) -> {kind}",
            ]
        case 5 | 6 as which:
            way = rng.choice(("LT", "GE"))
            ends = (f"%sure{name}", f"%i{name}")
            yes, no = ends if which == 5 else ends[::-1]
            pred = f"tensor<{rows}x1xi1>"
            return [
                *bounds,
                count,
                f"%p{name} = stablehlo.compare {way}, %i{name}, %sure{name} : ({kind}, {kind}) -> {pred}",
                f"%{name} = stablehlo.select %p{name}, {yes}, {no} : {pred}, {kind}",
            ]
        case _:
            return [f"%{name} = stablehlo.add %a, %a : {kind}"]


def batching_program(seed: int) -> str:
    """A gather or scatter at indices of which one may count through the operand."""
    rng = random.Random(f"batching {seed}")
    rows = rng.choice((2, 3, 4))
    rank = rng.randint(1, 3)
    shape = [rng.choice((rows, rows, 4)), *(rng.choice((2, 3)) for _ in range(rank))]
    length = rng.randint(1, len(shape))
    positions = rng.sample(range(len(shape)), length)
    lines: list[str] = []
    if rng.random() < 0.85:
        names = [f"c{entry}" for entry in range(length)]
        for entry, name in enumerate(names):
            counts = positions[entry] == 0 or rng.random() < 0.2
            own = column(rng, rows, name) if counts else []
            lines += own or [f"%{name} = stablehlo.add %a, %b : tensor<{rows}x1xi32>"]
        kinds = ", ".join(f"tensor<{rows}x1xi32>" for _ in names)
        vectors = ", ".join(f"%{name}" for name in names)
        lines.append(
            f"%indices = stablehlo.concatenate {vectors}, dim = 1 : ({kinds}) -> tensor<{rows}x{length}xi32>"
        )
    else:
        lines.append(f"%indices = stablehlo.iota dim = 0 : tensor<{rows}x{length}xi32>")
    dropped = [dim for dim in range(len(shape)) if rng.random() < 0.85]
    kept = [dim for dim in range(len(shape)) if dim not in dropped]
    sizes = [
        1 if dim in dropped else rng.randint(1, shape[dim]) for dim in range(len(shape))
    ]
    window = [sizes[dim] for dim in kept]
    offset = list(range(1, 1 + len(window)))
    operand = "tensor<" + "x".join(map(str, shape)) + "xi32>"
    slices = "tensor<" + "x".join(map(str, (rows, *window))) + "xi32>"
    indices = f"tensor<{rows}x{length}xi32>"
    extra = rng.choice(("", " {mhlo.x = 1 : i32}"))
    if rng.random() < 0.5:
        result = slices
        op = (
            f'"stablehlo.gather"(%x, %indices) <{{dimension_numbers = #stablehlo.gather<'
            f"offset_dims = {offset}, collapsed_slice_dims = {dropped}, "
            f"start_index_map = {positions}, index_vector_dim = 1>, "
            f"slice_sizes = array<i64: {', '.join(map(str, sizes))}>}}>{extra} "
            f": ({operand}, {indices}) -> {slices}"
        )
    else:
        result = operand
        op = (
            '"stablehlo.scatter"(%x, %indices, %u) <{scatter_dimension_numbers = '
            f"#stablehlo.scatter<update_window_dims = {offset}, "
            f"inserted_window_dims = {dropped}, "
            f"scatter_dims_to_operand_dims = {positions}, index_vector_dim = 1>}}> ({{\n"
            "^bb0(%p: tensor<i32>, %q: tensor<i32>):\n"
            "  %s = stablehlo.add %p, %q : tensor<i32>\n"
            f"  stablehlo.return %s : tensor<i32>\n}}){extra} "
            f": ({operand}, {indices}, {slices}) -> {operand}"
        )
    arguments = ", ".join(
        (
            f"%x: {operand}",
            f"%u: {slices}",
            *(f"%{name}: tensor<{rows}x1xi32>" for name in "ab"),
        )
    )
    body = "\n    ".join([*lines, f"%r = {op}", f"return %r : {result}"])
    return f"func.func @main({arguments}) -> {result} {{\n    {body}\n}}"


def check_batching(oracle: Oracle, seed: int) -> list[Outcome]:
    """The same text as C++, or as before; and the same numbers as before."""
    text = oracle.run(batching_program(seed))
    ours = run_ours(text, NAME)
    (theirs,) = oracle.run_all([(text, f"func.func({NAME})")])
    before, after = parse_program(text), parse_program(ours)
    arguments = arguments_of(before, seed, tagged=False)
    for found, wanted in zip(
        run_module(after, arguments), run_module(before, arguments), strict=True
    ):
        assert_same(found, wanted)
    if oracle.run(ours) == theirs:
        changed = "batching_dims" in ours
        return [(NAME, "equal" if changed else "equal, nothing to do")]
    assert "batching_dims" not in ours
    assert theirs is None or "batching_dims" in theirs
    return [(NAME, "C++ takes what does not count" if theirs else "C++ fails")]


def test_random_batching(oracle: Oracle) -> None:
    outcomes = {one for seed in range(30) for one in check_batching(oracle, seed)}
    assert (NAME, "equal") in outcomes
    assert (NAME, "C++ takes what does not count") in outcomes


@pytest.mark.fuzz
def test_many_random_batchings() -> None:
    run_campaign("batching", partial(asking, Oracle, check_batching))
