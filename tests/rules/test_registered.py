"""Rules as text: what it may say, and how disagreement with shapes is told."""

import pytest

from ttxdsl.rules.builder import Shape, Shapes
from ttxdsl.rules.registered import RuleText

Tensors = tuple[Shape, ...]


def match(text: str, operands: Tensors, results: Tensors) -> str:
    return str(RuleText.parse(text).match(Shapes(operands, results)))


@pytest.mark.parametrize(
    ("text", "operands", "results", "rule"),
    [
        (
            "([i, k], [k, j])->([i, j]) reduction={k}",
            ((4, 8), (8, 16)),
            ((4, 16),),
            "([i, k], [k, j])->([i, j]) {i=4, j=16, k=8} reduction={k}",
        ),
        # `...` has as many dimensions as are left, none included; its factors are first
        (
            "([..., i, k], [k, j])->([..., i, j]) reduction={k}",
            ((2, 3, 4, 8), (8, 16)),
            ((2, 3, 4, 16),),
            "([i, j, k, m], [m, l])->([i, j, k, l]) "
            "{i=2, j=3, k=4, l=16, m=8} reduction={m}",
        ),
        ("([...])->([...])", ((),), ((),), "([])->([])"),
        ("([i, ...])->([..., i])", ((4, 8),), ((8, 4),), "([j, i])->([i, j]) {i=8, j=4}"),
        # sizes that shapes cannot tell are given, and then tell others
        (
            "([ij])->([i, j])",
            ((32,),),
            ((4, 8),),
            "([ij])->([i, j]) {i=4, j=8}",
        ),
        (
            "([ij])->([ij]) {j=2}",
            ((32,),),
            ((32,),),
            "([ij])->([ij]) {i=16, j=2}",
        ),
        # any letters, numbered in alphabetical order
        ("([b, z_2], [a])->([b, a, z_2])", ((2, 3), (4,)), ((2, 4, 3),),
         "([j, k], [i])->([j, i, k]) {i=4, j=2, k=3}"),
        # a dimension of nobody
        (
            "([i, *])->([i, *])",
            ((4, 8),),
            ((4, 3),),
            "([i, j])->([i, k]) {i=4, j=1, k=1}",
        ),
        # sizes may differ where data is exchanged anyway
        (
            "([i, j])->([i, j]) permutation={j}",
            ((4, 8),),
            ((4, 6),),
            "([i, j])->([i, j]) {i=4, j=8} permutation={j}",
        ),
        (
            "([i, j])->([i, j]) need_replication={j} blocked_propagation={j}",
            ((4, 8),),
            ((4, 6),),
            "([i, j])->([i, j]) {i=4, j=8} need_replication={j} blocked_propagation={j}",
        ),
        # factors of size 1 are no part of compound dimensions
        (
            "([ij])->([i, j])",
            ((8,),),
            ((1, 8),),
            "([j])->([i, j]) {i=1, j=8}",
        ),
        ("([ij])->([ij]) {i=1}", ((8,),), ((8,),), "([i])->([i]) {i=8}"),
        ("([], [i])->([i])", ((), (8,)), ((8,),), "([], [i])->([i]) {i=8}"),
    ],
)  # fmt: skip
def test_rule(text: str, operands: Tensors, results: Tensors, rule: str):
    assert match(text, operands, results) == rule


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[i]->[i]", "malformed sharding rule"),
        ("([i])->([i]) {i}", "expected a size such as i=8, got 'i'"),
        ("([i])->([i]) {i=x}", "expected a size"),
        ("([i])->([i]) reduction={k}", "factor k is in no operand and no result"),
        ("([i])->([i]) {k=2}", "factor k is in no operand and no result"),
        ("([i])->([i]) broken={i}", "unexpected 'broken'"),
        ("([i])->([i]) permutation={i} permutation={i}", "unexpected 'permutation'"),
        ("([..., ...])->([i])", "stands twice"),
        ("([i,])->([i])", "expected factors such as i or ij, got ''"),
        ("([i 2])->([i])", "expected factors such as i or ij, got 'i 2'"),
        ("([i])->([i]) reduction={ij}", "expected a factor such as i or z_1"),
        ("([i][j])->([i])", "malformed"),
    ],
)
def test_malformed_text(text: str, message: str):
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        RuleText.parse(text)


@pytest.mark.parametrize(
    ("text", "operands", "results", "message"),
    [
        (
            "([i, k], [k, j])->([i, j]) reduction={k}",
            ((4, 8), (9, 16)),
            ((4, 16),),
            "operand 1 dimension 0 has size 9, but its factors are "
            r"k=8 \(from operand 0 dimension 1\)",
        ),
        (
            "([ij])->([i, j])",
            ((30,),),
            ((4, 8),),
            "operand 0 dimension 0 has size 30, but its factors are i=4 .*, j=8",
        ),
        (
            "([ij])->([ij]) {j=3}",
            ((32,),),
            ((32,),),
            r"has size 32, but its factors are j=3 \(from the rule\)",
        ),
        (
            "([ij])->([ij])",
            ((32,),),
            ((32,),),
            "nothing tells the size of factor i in operand 0 dimension 0",
        ),
        (
            "([i])->([i])",
            ((4,), (4,)),
            ((4,),),
            "has 2 operands, but the rule is for 1",
        ),
        ("([i])->([i])", ((4,),), (), "has 0 results, but the rule is for 1"),
        ("([i])->([i])", ((4, 8),), ((4,),), "operand 0 has rank 2, but .* 1 dim"),
        ("([i, j, ...])->([i])", ((4,),), ((4,),), "gives it at least 2 dimensions"),
        (
            "([...], [...])->([...])",
            ((2, 3), (3,)),
            ((2, 3),),
            r"operand 1 dimension 0 has size 3, but .* '...'\[0\]=2",
        ),
        ("([i])->([i]) reduction={i}", ((4,),), ((4,),), "cannot be in result"),
        ("([i, i])->([i])", ((4, 4),), ((4,),), "cannot reuse factors"),
        (
            "([i])->([i]) need_replication={i} permutation={i}",
            ((4,),),
            ((4,),),
            "a factor can only be in one of",
        ),
    ],
)
def test_text_does_not_fit(
    text: str, operands: Tensors, results: Tensors, message: str
):
    with pytest.raises(ValueError, match=message):
        match(text, operands, results)
