import pytest

from ttxdsl.sharding.factors import OpShardingRule, parse_dim_mapping, parse_rule

DOT = OpShardingRule(
    factor_sizes=(8, 16, 4),
    operands=(((0,), (2,)), ((2,), (1,))),
    results=(((0,), (1,)),),
    reduction=(2,),
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "expecting symbol from 'i' to 'z'. Received: 'a'"),
        ("i_1", "expecting symbol from 'i' to 'z'. Received: '_'"),
        ("z_", "expecting integer after 'z_'. Received: 'z_'"),
        ("z_0", "expecting positive integer without leading zeros. Received: '0'"),
    ],
)
def test_wrong_symbols(text: str, message: str) -> None:
    with pytest.raises(ValueError) as error:
        parse_dim_mapping(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction={k}",
        "([], [])->([])",
        "([i, j])->([ij]) {i=2, j=4}",
        "([i, j, k, l])->([i, k, l]) {i=2, j=3, k=5, l=7} reduction={j} "
        "need_replication={i, l} permutation={k} blocked_propagation={l}",
        "([i, j])->([i, j], [j, i]) {i=16, j=32}, custom",
    ],
)
def test_text_round_trips(text: str) -> None:
    assert str(parse_rule(text)) == text


def test_parse_is_free_in_spaces() -> None:
    assert parse_rule("([i,k],[k,j])->([i,j]) {i=8,j=16,k=4} reduction={k}") == DOT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("([i])->([i]) {i=2},", "malformed sharding rule"),
        ("([i])->([i]) {i=2} reduce={i}", "malformed sharding rule"),
        (
            "([i j])->([i]) {i=2, j=2}",
            "expecting symbol from 'i' to 'z'. Received: ' '",
        ),
        ("([j])->([j]) {j=2}", "expecting factor indices to be ordered like an iota"),
        ("([i])->([i]) {i=x}", "expected a size after 'i='"),
        ("([i])->([i]) {ij=2}", "expecting single factor symbol: ij"),
        ("([i])->([i])", "has no factor sizes"),
    ],
)
def test_wrong_text(text: str, message: str) -> None:
    with pytest.raises(ValueError) as error:
        parse_rule(text)
    assert message in str(error.value)


def test_sizes_from_shapes() -> None:
    text = "([i, k], [k, j])->([i, j]) reduction={k}"
    assert parse_rule(text, [(8, 4), (4, 16), (8, 16)]) == DOT
    reshape = parse_rule("([ij])->([i, j])", [(8,), (2, 4)])
    assert reshape.factor_sizes == (2, 4)
    with pytest.raises(ValueError, match="do not determine the size of factor i"):
        parse_rule("([ij])->([ij])", [(8,), (8,)])
    with pytest.raises(
        ValueError, match="dimension ij of size 7 is not a multiple of 2"
    ):
        parse_rule("([ij])->([i])", [(7,), (2,)])


def test_factor_kinds() -> None:
    assert DOT.is_pass_through(0) and not DOT.is_pass_through(2)
    assert not DOT.is_batching(0) and not DOT.is_in_all_tensors(2)
    batched = parse_rule(
        "([b, i], [])->([b, i])".replace("b", "j"), [(2, 3), (), (2, 3)]
    )
    assert batched.is_batching(0) and batched.is_batching(1)
    assert not DOT.has_compound_dims
    assert parse_rule("([ij])->([i, j]) {i=2, j=4}").has_compound_dims


@pytest.mark.parametrize(
    ("rule", "operands", "results", "message"),
    [
        (
            "([i])->([i]) {i=2}",
            [(2,), (2,)],
            [(2,)],
            "number of operands and mappings must match: 2 != 1",
        ),
        ("()->([i]) {i=2}", [], [(2,)], "number of operands mappings cannot be 0"),
        ("([i])->() {i=2}", [(2,)], [], "number of results mappings cannot be 0"),
        (
            "([i])->([i]) {i=2}",
            [(2, 2)],
            [(2,)],
            "operand - mapping rank must match: 1 != 2",
        ),
        ("([*])->([i]) {i=2}", [(2,)], [(2,)], "must have at least one factor"),
        ("([j])->([i]) {i=2}", [(2,)], [(2,)], "received: 1, num_factors: 1"),
        ("([i, i])->([i]) {i=2}", [(2, 2)], [(2,)], "cannot reuse factors"),
        ("([ij])->([ij]) {i=2, j=1}", [(2,)], [(2,)], "factor of size 1"),
        ("([i])->([i]) {i=2, j=3}", [(2,)], [(2,)], "has factor j=3 that isn't used"),
        (
            "([i, j], [i])->([i]) {i=2, j=3} reduction={j, i}",
            [(2, 3), (2,)],
            [(2,)],
            "must be sorted",
        ),
        ("([i])->([i]) {i=2} permutation={i, i}", [(2,)], [(2,)], "must be unique"),
        (
            "([i])->([i]) {i=2} need_replication={j}",
            [(2,)],
            [(2,)],
            "index must be less than 1, got: 1",
        ),
        (
            "([i])->([i]) {i=2} need_replication={i} permutation={i}",
            [(2,)],
            [(2,)],
            "only be in one of",
        ),
        (
            "([i])->([i]) {i=2} reduction={i}",
            [(2,)],
            [(2,)],
            "reduction factor cannot be in result mappings",
        ),
        (
            "([i], [i])->([i]) {i=2}",
            [(2,), (-1,)],
            [(2,)],
            "operand 1 - expected a tensor",
        ),
    ],
)
def test_check_names_the_constraint(
    rule: str,
    operands: list[tuple[int, ...]],
    results: list[tuple[int, ...]],
    message: str,
) -> None:
    with pytest.raises(ValueError) as error:
        parse_rule(rule).check(operands, results)
    assert message in str(error.value)
