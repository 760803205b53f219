"""Our sharding rules are those that C++ Shardy prints, op by op."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, reject, settings, strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.universe import Universe

from tests.differential.oracle import Oracle, OracleRejected
from tests.rules.cases import all_cases, dot_numbers, dot_result
from tests.rules.op_text import binary, call, tensor
from ttxdsl.dialects.sdy import OpShardingRuleAttr
from ttxdsl.rules import sharding_rule
from ttxdsl.rules.registry import RULES
from ttxdsl.transforms.shardy.exporting.sdy_drop_sharding_rules import (
    DropShardingRulesPass,
)
from ttxdsl.transforms.shardy.propagation.sdy_populate_op_sharding_rules import (
    PopulateOpShardingRulesPass,
)
from ttxdsl.transforms.stages.supply_sharding_rules import SupplyShardingRulesPass

Rules = list[tuple[str, str | None]]


@pytest.fixture(scope="module")
def context() -> Context:
    context = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, factory)
    return context


def parse(context: Context, text: str) -> ModuleOp:
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def rules_in(module: ModuleOp) -> Rules:
    """The rule shown on every op, in the order of the program."""
    found: Rules = []
    for op in module.walk():
        rule = op.attributes.get("sdy.sharding_rule")
        assert rule is None or isinstance(rule, OpShardingRuleAttr)
        found.append((op.name, str(rule.data) if rule else None))
    return found


def ours(context: Context, text: str, conservative: bool) -> Rules:
    module = parse(context, text)
    PopulateOpShardingRulesPass(conservative).apply(context, module)
    module.verify()
    return rules_in(module)


def theirs(context: Context, oracle: Oracle, text: str, conservative: bool) -> Rules:
    option = str(conservative).lower()
    answer = oracle.run(
        text,
        f"func.func(sdy-populate-op-sharding-rules{{conservative-propagation={option}}})",
        generic=True,
    )
    return rules_in(parse(context, answer))


CASES = dict(all_cases())


WITHOUT_RULE = re.compile(
    r"other-.*reshard|uses-.*custom_call|custom_call-\d+-custom_call-Sharding|"
    r"custom_call-.*(callback|sdy_testonly|unknown|tpu_custom_call|xla.debug.Log)|"
    r"custom_call-.*-(AllocateBuffer|TopK|ragged_all_to_all)$|"
    r"custom_call-.*(_ffi|_lu_pivots_to_permutation|LuDecomposition)$|"
    r".*reshape-\((0,4|2,0)\)"
)


@pytest.mark.parametrize("name", CASES)
def test_equal_to_shardy(context: Context, oracle: Oracle, name: str) -> None:
    text = CASES[name]
    for conservative in (False, True):
        expected = theirs(context, oracle, text, conservative)
        assert ours(context, text, conservative) == expected
    # equality would say little if both sides had no rule
    last = parse(context, text).body.block.last_op
    assert isinstance(last, FuncOp)
    *_, op, _ = last.body.block.ops
    unknown = type(op) not in RULES if name.startswith("uses-") else False
    assert (sharding_rule(op) is None) == (unknown or bool(WITHOUT_RULE.match(name)))


def test_enough_cases() -> None:
    assert len(CASES) >= 400


@st.composite
def grouped(draw: st.DrawFn, factors: list[int]) -> tuple[int, ...]:
    """A shape whose dimensions are products of these factors, in some order."""
    shape = [1] if factors else []
    for factor in draw(st.permutations(factors)):
        if draw(st.booleans()):
            shape.append(1)
        shape[-1] *= factor
    for _ in range(draw(st.integers(0, 2))):
        shape.insert(draw(st.integers(0, len(shape))), 1)
    return tuple(shape)


@st.composite
def reshapes(draw: st.DrawFn) -> str:
    factors = draw(st.lists(st.sampled_from((2, 2, 3, 3, 4, 5, 7)), max_size=8))
    before, after = (tensor(*draw(grouped(factors))) for _ in range(2))
    return call("stablehlo.reshape", [before], [after])


SIZES = st.sampled_from((1, 2, 3, 4, 6, 8))


@st.composite
def dots(draw: st.DrawFn) -> str:
    shared = draw(st.lists(SIZES, max_size=4))
    batch = draw(st.integers(0, len(shared)))
    sides: list[tuple[tuple[int, ...], list[int]]] = []
    for _ in range(2):
        sizes = [*shared, *draw(st.lists(SIZES, max_size=3))]
        order = draw(st.permutations(range(len(sizes))))
        shape = tuple(sizes[dim] for dim in order)
        sides.append((shape, [order.index(dim) for dim in range(len(shared))]))
    (lhs, left), (rhs, right) = sides
    numbers = (
        tuple(left[:batch]),
        tuple(right[:batch]),
        tuple(left[batch:]),
        tuple(right[batch:]),
    )
    return call(
        "stablehlo.dot_general",
        [tensor(*lhs), tensor(*rhs)],
        [tensor(*dot_result(lhs, rhs, numbers))],
        dot_numbers(numbers),
    )


@st.composite
def convolutions(draw: st.DrawFn) -> str:
    groups = draw(st.sampled_from((1, 1, 2, 3)))
    by_batch = draw(st.booleans())
    batch = draw(SIZES) * (groups if by_batch else 1)
    inputs, outputs = draw(SIZES), draw(SIZES) * groups
    space = draw(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=3))
    labels = [str(dim) for dim in range(len(space))]
    lhs = {"b": batch, "f": inputs * (1 if by_batch else groups)}
    rhs = {"i": inputs, "o": outputs}
    result = {"b": batch // groups if by_batch else batch, "f": outputs}
    for label, (windows, window) in zip(labels, space, strict=True):
        lhs |= {label: windows + window - 1}
        rhs |= {label: window}
        result |= {label: windows}
    orders = [draw(st.permutations(tuple(sizes))) for sizes in (lhs, rhs, result)]
    left, right, out = (f"[{','.join(order)}]" for order in orders)
    kinds = [
        tensor(*(sizes[label] for label in order))
        for sizes, order in zip((lhs, rhs, result), orders, strict=True)
    ]
    return call(
        "stablehlo.convolution",
        kinds[:2],
        kinds[2:],
        f"dimension_numbers = #stablehlo.conv<{left}x{right}->{out}>, "
        f"batch_group_count = {groups if by_batch else 1} : i64, "
        f"feature_group_count = {1 if by_batch else groups} : i64",
    )


@st.composite
def indexed(draw: st.DrawFn) -> str:
    """A gather, or a scatter of the same windows."""
    input = draw(st.lists(SIZES, min_size=1, max_size=4))
    roles = [draw(st.sampled_from(("batch", "drop", "keep", "keep"))) for _ in input]
    batching = draw(st.permutations([d for d, r in enumerate(roles) if r == "batch"]))
    dropped = [dim for dim, role in enumerate(roles) if role == "drop"]
    kept = [dim for dim, role in enumerate(roles) if role == "keep"]
    indexable = [dim for dim, role in enumerate(roles) if role != "batch"]
    indexed_dims = draw(st.permutations(indexable))[: draw(st.integers(0, 2))]
    sizes = [
        draw(st.integers(1, size)) if role == "keep" and draw(st.booleans())
        else size if role == "keep" else 1
        for size, role in zip(input, roles, strict=True)
    ]  # fmt: skip

    counting = [input[dim] for dim in batching] + draw(st.lists(SIZES, max_size=2))
    order = draw(st.permutations(range(len(counting))))
    counts = [counting[dim] for dim in order]
    partners = [order.index(dim) for dim in range(len(batching))]
    vector = draw(st.integers(0, len(counts)))
    if len(indexed_dims) == 1 and draw(st.booleans()):
        vector, indices = len(counts), counts
    else:
        indices = [*counts[:vector], len(indexed_dims), *counts[vector:]]
        partners = [dim if dim < vector else dim + 1 for dim in partners]
    if not indexed_dims:
        vector, indices, partners = len(counts), [*counts, 0], partners
        partners = [order.index(dim) for dim in range(len(batching))]

    rank = len(counts) + len(kept)
    windows = sorted(draw(st.permutations(range(rank)))[: len(kept)])
    rest = iter(counts)
    inside = iter(sizes[dim] for dim in kept)
    slices = [next(inside) if dim in windows else next(rest) for dim in range(rank)]

    if draw(st.booleans()):
        numbers = (
            f"offset_dims = {windows}, collapsed_slice_dims = {dropped}, "
            f"operand_batching_dims = {list(batching)}, "
            f"start_indices_batching_dims = {partners}, "
            f"start_index_map = {list(indexed_dims)}, index_vector_dim = {vector}"
        )
        return call(
            "stablehlo.gather",
            [tensor(*input), tensor(*indices, of="i32")],
            [tensor(*slices)],
            f"dimension_numbers = #stablehlo.gather<{numbers}>, "
            f"slice_sizes = array<i64: {', '.join(map(str, sizes))}>",
        )
    numbers = (
        f"update_window_dims = {windows}, inserted_window_dims = {dropped}, "
        f"input_batching_dims = {list(batching)}, "
        f"scatter_indices_batching_dims = {partners}, "
        f"scatter_dims_to_operand_dims = {list(indexed_dims)}, "
        f"index_vector_dim = {vector}"
    )
    return call(
        "stablehlo.scatter",
        [tensor(*input), tensor(*indices, of="i32"), tensor(*slices)],
        [tensor(*input)],
        f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>",
        binary(draw(st.sampled_from(("add", "subtract"))), "f32", "f32"),
    )


@pytest.mark.parametrize(
    "programs", (reshapes(), dots(), convolutions(), indexed()), ids=str
)
def test_random_ops_equal_to_shardy(
    context: Context, oracle: Oracle, programs: st.SearchStrategy[str]
) -> None:
    seen = 0

    @settings(max_examples=30, database=None)
    @given(programs, st.booleans())
    def check(text: str, conservative: bool) -> None:
        nonlocal seen
        try:
            expected = theirs(context, oracle, text, conservative)
        except OracleRejected as error:
            if "sharding_rule" in str(error):
                raise
            reject()
        assert ours(context, text, conservative) == expected
        seen += 1

    check()
    assert seen >= 20


def test_drop_leaves_what_shardy_leaves(context: Context, oracle: Oracle) -> None:
    text = "".join(
        CASES[name].replace("@main", f"@f{index}")
        for index, name in enumerate(CASES)
        if "own-rule" in name or "elementwise-0-" in name
    )
    populate, drop = "sdy-populate-op-sharding-rules", "sdy-drop-sharding-rules"
    expected = rules_in(
        parse(context, oracle.run(text, f"func.func({populate},{drop})", generic=True))
    )
    module = parse(context, text)
    PopulateOpShardingRulesPass().apply(context, module)
    DropShardingRulesPass().apply(context, module)
    assert rules_in(module) == expected
    assert any(rule for _, rule in expected)


def test_differs_from_shardy_where_it_is_wrong(
    context: Context, oracle: Oracle
) -> None:
    """Two faults of C++: each lets a sharding pass where values would be wrong.

    A sort dimension may be negative, counted from the last; and a window of one element
    over a dilated operand does not answer with one result an element.
    """
    less = (
        "^bb0(%a: tensor<f32>, %b: tensor<f32>): "
        '%c = "stablehlo.compare"(%a, %b) <{comparison_direction = '
        "#stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> "
        'tensor<i1> "stablehlo.return"(%c) : (tensor<i1>) -> ()'
    )
    kind = tensor(4, 8)
    sort = call("stablehlo.sort", [kind], [kind], "dimension = -1 : i64", less)
    window = call(
        "stablehlo.reduce_window",
        [kind, tensor()],
        [tensor(4, 15)],
        "window_dimensions = array<i64: 1, 1>, base_dilations = array<i64: 1, 2>",
        binary("add", "f32", "f32"),
    )
    for text, name, shardys, right in (
        (sort, "sort", "([i, j])->([i, j]) {i=4, j=8}", " need_replication={j}"),
        (
            window,
            "reduce_window",
            "([i, j], [])->([i, j]) {i=4, j=15}",
            " permutation={j}",
        ),
    ):
        entry = (f"stablehlo.{name}", shardys)
        assert entry in theirs(context, oracle, text, False)
        assert (entry[0], shardys + right) in ours(context, text, False)


def test_supplied_rules_are_honoured_by_shardy(
    context: Context, oracle: Oracle
) -> None:
    """C++ propagation passes an op that it knows nothing of, and keeps its rule."""
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(
        %x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
    ) -> tensor<4x8xf32> {
      %0 = "chlo.square"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    """
    propagate = "sdy-aggressive-propagate"
    assert "per_value" not in oracle.run(text, propagate)

    module = parse(context, text)
    SupplyShardingRulesPass().apply(context, module)
    answer = oracle.run(str(module), propagate)
    assert '#sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>' in answer
    assert "custom>" in answer
    assert rules_in(parse(context, answer)) == rules_in(module)
