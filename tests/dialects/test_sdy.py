"""The sdy dialect reads, prints, accepts and refuses what the C++ dialect does."""

from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region
from xdsl.parser import Parser
from xdsl.universe import Universe
from xdsl.utils.exceptions import ParseError, VerifyException

from tests.attack.bombs.deep import nested_regions
from tests.dialects.sdy_cases import ACCEPTED, MESH, func, sharded
from tests.dialects.sdy_refusals import REJECTED, STRICTER
from tests.differential.oracle import Oracle
from tests.printing import printed
from tests.work import calls
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.dialects._sdy import verify_ops
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding

X, Y = AxisRef("x"), AxisRef("y")


def parse(text: str, *, verify: bool = True) -> ModuleOp:
    context = Context(allow_unregistered=True)
    for name, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    if verify:
        module.verify()
    return module


# Text


@pytest.mark.parametrize("name", ACCEPTED)
def test_round_trip(oracle: Oracle, name: str):
    """Pretty and generic, from us and from C++, all mean what C++ reads."""
    text = ACCEPTED[name]
    pretty, generic = oracle.run(text), oracle.run(text, generic=True)
    for source in (text, pretty, generic):
        module = parse(source)
        assert oracle.run(printed(module)) == pretty
        assert oracle.run(printed(module, generic=True)) == pretty


def sdy_lines(text: str) -> list[str]:
    """The lines of ops of the dialect; xDSL has no `%0:2` for several results."""
    lines = (line.strip() for line in text.splitlines() if "sdy." in line)
    return [line for line in lines if ":2 =" not in line and "%0, %1" not in line]


@pytest.mark.parametrize(
    "name", [name for name in ACCEPTED if "foreign" not in ACCEPTED[name]]
)
def test_our_text_is_that_of_cpp(oracle: Oracle, name: str):
    """Not only equal after reading: the same letters, but for what xDSL itself prints."""
    cpp = oracle.run(ACCEPTED[name])
    assert sdy_lines(printed(parse(cpp))) == sdy_lines(cpp)


def test_a_whole_attribute_of_another_kind():
    with pytest.raises(ParseError, match=r"expected a #sdy\.mesh"):
        parse('sdy.mesh @m = #sdy<axis_ref "x">')


# Constraints


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(oracle: Oracle, name: str):
    """C++ refuses it too; our message names the constraint."""
    text, message = REJECTED[name]
    assert not oracle.accepts(text)
    with pytest.raises((ParseError, VerifyException)) as raised:
        parse(text)
    assert message in str(raised.value)


@pytest.mark.parametrize("name", STRICTER)
def test_rejected_by_the_documentation(name: str):
    text, message = STRICTER[name]
    with pytest.raises(VerifyException) as raised:
        parse(text)
    assert message in str(raised.value)


def test_attributes_are_checked_when_made():
    with pytest.raises(VerifyException, match="duplicate axis name"):
        sdy.MeshAttr(Mesh((("x", 2), ("x", 4))))
    with pytest.raises(VerifyException, match="count up from 0"):
        sdy.MeshAttr(Mesh((("x", 2),), (0, 1)))
    with pytest.raises(VerifyException, match="at least 1"):
        sdy.MeshAxisAttr(("x", 0))


def test_barrier_direction_out_of_range():
    text = func(
        '%0 = "sdy.propagation_barrier"(%a) <{allowed_direction = 9 : i32}> : '
        "(tensor<8x8xf32>) -> tensor<8x8xf32>"
    )
    with pytest.raises(VerifyException, match="unknown direction: 9"):
        parse(text)


def test_verify_shardings_names_op_and_place():
    module = parse(
        func("", sharded('<@mesh, [{"w"}, {}]>')).replace(
            "return\n}", 'return\n} loc("model.py":3:7)'
        ),
        verify=False,
    )
    with pytest.raises(
        VerifyException, match=r"model.py:3:7: 'func.func' op arg 0: dim"
    ):
        sdy.verify_shardings(module)


def test_verify_shardings_in_nested_modules():
    inner = func("", sharded('<@mesh, [{"w"}, {}]>'))
    module = parse(f"module {{\n{inner}}}", verify=False)
    with pytest.raises(VerifyException, match="unknown axis name"):
        sdy.verify_shardings(module)


def test_checking_shardings_is_linear():
    """Nothing that is the same for equal shardings is worked out for each of the ops."""

    def work(count: int) -> int:
        attribute = "{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{%s}, {}]>]>}"
        lines = [
            f'%{n} = "foreign.op"() {attribute % axis} : () -> tensor<8x8xf32>'
            for n, axis in enumerate(['"x", ?', '"y":(1)2'] * (count // 2))
        ]
        module = parse(func("\n".join(lines)), verify=False)
        return calls(lambda: sdy.verify_shardings(module))

    assert work(1200) < 4.2 * work(300)


# Accessors


def closed(*axes: AxisRef | None) -> TensorSharding:
    return TensorSharding.closed("mesh", [(axis,) if axis else () for axis in axes])


def main_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp))


def ops_of(module: ModuleOp) -> list[Operation]:
    return list(main_of(module).body.block.ops)


def test_meshes_in_scope():
    module = parse(ACCEPTED["sharding_1"])
    mesh = Mesh((("x", 2), ("y", 4), ("z", 6)))
    op = ops_of(module)[0]
    assert sdy.mesh_table(module) == {"mesh": mesh}
    assert sdy.get_mesh(op, closed(X, None)) == mesh
    assert sdy.get_mesh(op.results[0], "mesh") == mesh
    inlined = Mesh((("a", 2),))
    assert sdy.get_mesh(op, TensorSharding(inlined, ())) == inlined
    assert sdy.find_mesh(op, "other") is None
    with pytest.raises(CompileError, match=r"unknown mesh: @other(.|\n)*hint: declare"):
        sdy.get_mesh(op, "other")


# Builders


def test_builders(oracle: Oracle):
    type = TensorType(f32, [8, 8])
    block = Block(arg_types=[type])
    tensor = block.args[0]
    split, whole = closed(X, None), closed(None, None)
    inner = Block(arg_types=[TensorType(f32, [4, 8])])
    inner.add_op(sdy.ReturnOp(inner.args[0]))
    named = Block(arg_types=[type])
    named.add_op(sdy.ReturnOp(named.args[0]))
    reshard = sdy.ReshardOp(tensor, split)
    reduced = sdy.AllReduceOp(reshard, [Y], split)
    unreduced = sdy.ReplicatedToUnreducedOp(reshard, [Y], split.with_unreduced((Y,)))
    ops: list[Operation] = [
        reshard,
        sdy.ShardingConstraintOp(tensor, sdy.TensorShardingAttr(split)),
        sdy.ShardingGroupOp(tensor, 3),
        sdy.PropagationBarrierOp(tensor, sdy.PropagationDirection.BACKWARD),
        sdy.AllGatherOp(reshard, [[X], []], whole),
        sdy.AllSliceOp(reshard, [[], [Y]], closed(X, Y)),
        sdy.AllToAllOp(reshard, [sdy.AllToAllParam((X,), 0, 1)], closed(None, X)),
        sdy.CollectivePermuteOp(reshard, closed(AxisRef("y", 1, 2), None)),
        reduced,
        sdy.ReduceScatterOp(
            reduced, [[Y], []], TensorSharding.closed("mesh", [(X, Y), ()])
        ),
        sdy.ShardedToUnreducedOp(reshard, [[X], []], whole.with_unreduced((X,))),
        unreduced,
        sdy.ManualComputationOp(
            [tensor], [split], [split], ["x"], Region(inner), [type]
        ),
        sdy.NamedComputationOp("f", [tensor], Region(named), [type], [split], None),
    ]
    mesh = sdy.MeshOp("mesh", Mesh((("x", 2), ("y", 4))))
    block.add_ops(ops)
    outer = FuncOp("main", ((type,), ()), Region(block))
    block.add_op(test.TestOp())
    module = ModuleOp([mesh, outer])
    text = printed(module).replace('"test.op"() : () -> ()', "return")
    assert oracle.run(printed(parse(text))) == oracle.run(text)
    for op in ops:
        assert text.count(op.name) >= 1


def test_what_is_around_an_op_takes_one_call_a_level() -> None:
    """A region may be a thousand deep, and each of its ops asks."""
    module = parse(nested_regions("manual computation", 200))
    *_, innermost = (
        op for op in module.walk() if isinstance(op, sdy.ManualComputationOp)
    )
    assert sdy.enclosing_module(innermost) is module
    assert calls(lambda: sdy.enclosing_module(innermost)) < 220
    assert calls(lambda: sdy.bound_axes(innermost)) < 650


def test_values_that_are_alike_are_verified_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count = 50
    names = ", ".join(["%a"] * count)
    args = ", ".join(f"%b{at}: tensor<8xf32>" for at in range(count))
    types = ", ".join(["tensor<8xf32>"] * count)
    shardings = ", ".join(["<@mesh, [{}]>"] * count)
    returned = ", ".join(f"%b{at}" for at in range(count))
    module = parse(
        MESH + f"func.func @main(%a: tensor<8xf32>) {{\n  %r:{count} = "
        f"sdy.manual_computation({names}) in_shardings=[{shardings}] "
        f"out_shardings=[{shardings}] manual_axes={{}} ({args}) {{\n"
        f"    sdy.return {returned} : {types}\n  }} : ({types}) -> ({types})\n  return\n}}"
    )
    verified: list[object] = []
    verify = verify_ops.verify_sharding

    def counted(*args: Any) -> None:
        verified.append(args)
        verify(*args)

    monkeypatch.setattr(verify_ops, "verify_sharding", counted)
    module.verify()
    assert 0 < len(verified) < count
