"""The walks over a module are xDSL's, and need no recursion."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

from ttxdsl.dialects.sdy import CollectiveOp
from ttxdsl.ir.traversal import (
    all_ops,
    all_ops_inside_out,
    ops_of_type,
    ops_of_type_inside_out,
)
from ttxdsl.loading.program import read_program

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.mlir"))


def nested() -> ModuleOp:
    """Ops with several regions, regions with several blocks, and empty ones."""

    def op(*regions: Region) -> Operation:
        return test.TestOp(regions=regions)

    inner = op(Region([Block([op(), op()]), Block([op(Region())])]), Region([Block()]))
    return ModuleOp([op(), inner, op(Region([Block([op(Region([Block([op()])]))])]))])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_order_of_examples(path: Path):
    module = read_program(path)
    assert all_ops(module) == list(module.walk())
    assert all_ops_inside_out(module) == list(module.walk(region_first=True))


def test_order_of_regions_and_blocks():
    module = nested()
    assert all_ops(module) == list(module.walk())
    assert all_ops_inside_out(module) == list(module.walk(region_first=True))
    # from inside: nothing behind the root
    root = list(module.ops)[1]
    assert all_ops(root) == list(root.walk())
    assert all_ops_inside_out(root) == list(root.walk(region_first=True))


def test_ops_of_a_type():
    """In the walk's order; several classes; the root; classes derived from them."""

    class Derived(test.TestOp):
        pass

    leaf, derived = test.TestTermOp(), Derived.create()
    root = test.TestOp(regions=[Region([Block([derived, test.TestOp(), leaf])])])
    for classes in (
        (test.TestOp,),
        (Derived,),
        (test.TestTermOp, Derived),
        (CollectiveOp,),
    ):
        assert ops_of_type(root, *classes) == [
            op for op in root.walk() if isinstance(op, classes)
        ]
        assert ops_of_type_inside_out(root, *classes) == [
            op for op in root.walk(region_first=True) if isinstance(op, classes)
        ]
    assert ops_of_type(root, test.TestOp)[0] is root
    assert ops_of_type_inside_out(root, test.TestOp)[-1] is root
    assert ops_of_type(root, CollectiveOp) == []


def test_depth_does_not_matter():
    op: Operation = test.TestOp()
    depth = 30_000
    for _ in range(depth):
        op = test.TestOp(regions=[Region([Block([op])])])
    assert len(all_ops(op)) == len(all_ops_inside_out(op)) == depth + 1
