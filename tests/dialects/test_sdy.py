"""The sdy dialect reads, prints, accepts and refuses what the C++ dialect does."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.universe import Universe
from xdsl.utils.exceptions import ParseError, VerifyException

from tests.attack.bombs.deep import nested_regions
from tests.dialects.sdy_cases import (
    ACCEPTED,
    MESH,
    SHARDINGS,
    constraint,
    func,
    per_value,
    sharded,
)
from tests.dialects.sdy_refusals import REJECTED, STRICTER
from tests.differential.oracle import Oracle
from tests.work import calls
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.dialects._sdy import verify_ops
from ttxdsl.loading.program import parse_program
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.spec import DimSharding, TensorSharding

X, Y = AxisRef("x"), AxisRef("y")


def parse(text: str, *, verify: bool = True) -> ModuleOp:
    context = Context(allow_unregistered=True)
    for name, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    if verify:
        module.verify()
    return module


def printed(op: Operation, *, generic: bool = False) -> str:
    stream = StringIO()
    Printer(stream=stream, print_generic_format=generic).print_op(op)
    return stream.getvalue()


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


def test_alias_in_stripped_shardings(oracle: Oracle):
    text = '#s = #sdy.sharding<@mesh, [{"x"}, {}]>\n' + ACCEPTED["manual"].replace(
        'in_shardings=[<@mesh, [{"x"}, {}]>]', "in_shardings=[#s]"
    )
    assert oracle.run(printed(parse(text))) == oracle.run(text)


def test_alias_may_change_its_meaning():
    """What an alias stands for is not remembered from one module to the next."""
    for axis in ("x", "y"):
        whole = f'#s = #sdy.sharding<@mesh, [{{"{axis}"}}, {{}}]>\n' + per_value("#s")
        part = f'#d = #sdy<dimension_sharding {{"{axis}"}}>\n'
        for text in (whole, part + per_value("<@mesh, [#d, {}]>")):
            op = ops_of(parse(text))[0]
            assert sdy.get_sharding(op.results[0]) == closed(AxisRef(axis), None)


def test_a_whole_attribute_of_another_kind():
    with pytest.raises(ParseError, match=r"expected a #sdy\.mesh"):
        parse('sdy.mesh @m = #sdy<axis_ref "x">')


def test_same_spelling_is_read_once():
    text = constraint('<@mesh, [{"x"}, {"y":(1)2, ?}p3]>')
    first, second = (
        next(o for o in parse(text).walk() if isinstance(o, sdy.ShardingConstraintOp))
        for _ in range(2)
    )
    assert first.sharding.data is second.sharding.data


def test_spelling_with_comment_and_brackets_in_a_name():
    mesh = 'sdy.mesh @mesh = <["a>b<"=2, "c"=2]>\n'
    text = '<@mesh, // "> ]\n [{"a>b<"}, {"c"}]>'
    for _ in range(2):
        module = parse(constraint(text, mesh=mesh))
        op = next(o for o in module.walk() if isinstance(o, sdy.ShardingConstraintOp))
        assert str(op.sharding.data) == '<@mesh, [{"a>b<"}, {"c"}]>'


@pytest.mark.parametrize("text", [text for text in SHARDINGS if text[0] == "<"])
def test_sharding_prints_as_its_value(text: str):
    """An attribute's text is its value's text, with no second printer in between."""
    module = parse(constraint(text))
    op = next(o for o in module.walk() if isinstance(o, sdy.ShardingConstraintOp))
    assert str(op.sharding) == f"#sdy.sharding{op.sharding.data}"


OPAQUE = [
    '#sdy<mesh_axis"x"=2>',
    "#sdy<sub_axis_info(1)2>",
    '#sdy<axis_ref"x":(1)2>',
    '#sdy<axis_ref_list{"x", "y"}>',
    '#sdy<list_of_axis_ref_lists[{"x"}, {}]>',
    '#sdy<manual_axes{"x"}>',
    '#sdy<dimension_sharding{"x", ?}p1>',
    "#sdy<tensor_mapping[i, jk]>",
    '#sdy<all_to_all_param{"x"}: 0->2>',
    '#sdy<all_to_all_param_list[{"x"}: 0->2]>',
    '#sdy<axis_to_propagation_details{"x" = operand-0 -> [result-0]}>',
    '#sdy<propagation_one_step{step-0 = [{"x" = operand-0 -> [result-0]}]}>',
]


@pytest.mark.parametrize("text", OPAQUE)
def test_attributes_alone(oracle: Oracle, text: str):
    """Attributes that are parts of others, written by themselves."""
    module = f"module attributes {{test.a = {text}}} {{\n}}\n"
    assert printed(parse(module)).strip().removeprefix("builtin.") == module.strip()
    assert oracle.run(printed(parse(module))) == oracle.run(module)


@pytest.mark.parametrize(
    "text", ["#sdy<dim_mapping ij>", "#sdy<edge_value_ref operand-0>"]
)
def test_attributes_that_cpp_cannot_read_alone(text: str):
    """Their names would run into their bodies; we leave a space and can read it."""
    module = f"module attributes {{test.a = {text}}} {{\n}}"
    assert printed(parse(module)).strip().removeprefix("builtin.") == module


def test_null_mapping_prints_as_star():
    attribute = sdy.OpShardingRuleAttr(OpShardingRule((2,), (((0,), ()),), (((0,),),)))
    assert str(attribute) == "#sdy.op_sharding_rule<([i, *])->([i]) {i=2}>"


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


def test_ops_without_a_module_are_left_alone():
    """Nobody knows their meshes."""
    block = Block(arg_types=[TensorType(f32, [8])])
    sharding = TensorSharding("unknown", (DimSharding((X,)),))
    sdy.ReshardOp(block.args[0], sharding).verify()


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

    assert work(4000) < 4.2 * work(1000)


# Accessors


def open_dims(*axes: AxisRef | None) -> TensorSharding:
    dims = (DimSharding((axis,) if axis else (), closed=False) for axis in axes)
    return TensorSharding("mesh", tuple(dims))


def closed(*axes: AxisRef | None) -> TensorSharding:
    return TensorSharding.closed("mesh", [(axis,) if axis else () for axis in axes])


def main_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp))


def ops_of(module: ModuleOp) -> list[Operation]:
    return list(main_of(module).body.block.ops)


def test_function_shardings():
    module = parse(
        MESH + f"func.func @main({sharded('<@mesh, [{}, {}]>')}, %b: tensor<8xf32> "
        '{other = "kept"}) -> (tensor<8xf32>, tensor<f32>) {\n'
        '  %0:2 = "foreign.op"() : () -> (tensor<8xf32>, tensor<f32>)\n'
        "  return %0#0, %0#1 : tensor<8xf32>, tensor<f32>\n}"
    )
    func_op = main_of(module)
    a, b = func_op.body.block.args
    assert sdy.get_sharding(a) == closed(None, None)
    assert sdy.get_sharding(b) is None
    sdy.set_sharding(b, closed(X))
    assert sdy.get_func_argument_sharding(func_op, 1) == closed(X)
    assert sdy.get_func_result_sharding(func_op, 1) is None
    sdy.set_func_result_sharding(func_op, 0, closed(Y))
    assert sdy.get_func_result_sharding(func_op, 0) == closed(Y)
    module.verify()
    assert 'other = "kept", sdy.sharding' in printed(module)
    sdy.set_func_shardings(func_op, [None, None], [None, None])
    assert "sdy.sharding" not in printed(module)
    assert 'other = "kept"' in printed(module)
    assert func_op.res_attrs is None


def test_op_shardings():
    module = parse(
        func('%0:2 = "foreign.op"() : () -> (tensor<8x8xf32>, !stablehlo.token)')
    )
    first, second = ops_of(module)[0].results
    assert sdy.get_sharding(first) is None
    sdy.set_sharding(first, closed(X, None))
    assert sdy.get_sharding(first) == closed(X, None)
    # what had none is fully open, of rank 0 for what has no shape
    assert sdy.get_sharding(second) == TensorSharding("mesh", ())
    module.verify()


@pytest.mark.parametrize(
    "name",
    ["sharding_1", "reshard", "all_gather", "all_reduce", "replicated_to_unreduced"],
)
def test_shardings_in_properties(name: str):
    module = parse(ACCEPTED[name])
    value = ops_of(module)[0].results[0]
    assert sdy.get_sharding(value) is not None
    sdy.set_sharding(value, closed(X, None))
    assert sdy.get_sharding(value) == closed(X, None)
    assert "sdy.sharding" not in ops_of(module)[0].attributes


def test_manual_computation_shardings():
    op = ops_of(parse(ACCEPTED["manual_free"]))[0]
    assert isinstance(op, sdy.ManualComputationOp)
    argument = op.body.block.args[0]
    # inside, only free axes
    assert sdy.get_sharding(argument) == open_dims(Y, None)
    sdy.set_sharding(argument, closed(None, Y))
    outer = TensorSharding("mesh", (DimSharding((X,)), DimSharding((Y,))))
    assert op.in_shardings.data == (outer,)
    assert sdy.get_sharding(argument) == closed(None, Y)
    sdy.set_sharding(op.results[0], closed(X, None))
    assert op.out_shardings.data == (closed(X, None),)
    assert sdy.get_sharding(op.results[0]) == closed(X, None)


def test_named_computation_shardings():
    op = ops_of(parse(ACCEPTED["named"]))[0]
    assert isinstance(op, sdy.NamedComputationOp)
    argument = op.body.block.args[0]
    assert sdy.get_sharding(argument) is None
    assert sdy.get_sharding(op.results[0]) is None
    sdy.set_sharding(argument, closed(X, None))
    sdy.set_sharding(op.results[0], closed(None, X))
    assert op.in_shardings is not None and op.in_shardings.data == (closed(X, None),)
    assert sdy.get_sharding(argument) == closed(X, None)
    assert sdy.get_sharding(op.results[0]) == closed(None, X)


WHILE = func(
    """%0:2 = stablehlo.while(%i = %a, %j = %n) : tensor<8x8xf32>, tensor<i32> cond {
    %c = stablehlo.compare LT, %j, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    stablehlo.return %i, %j : tensor<8x8xf32>, tensor<i32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<8x8xf32>
  %2 = stablehlo.abs %0#1 : tensor<i32>""",
    "%a: tensor<8x8xf32>, %n: tensor<i32>",
)


def test_data_flow_edge_shardings():
    module = parse(WHILE)
    loop, edge = ops_of(module)[:2]
    assert isinstance(edge, sdy.DataFlowEdgeOp)
    arguments = [loop.regions[n].block.args[0] for n in range(2)]
    targets = [*arguments, loop.results[0]]
    for target in targets:
        assert sdy.edge_owner(target) is loop.results[0]
        assert sdy.find_data_flow_edge(target) is edge
        assert sdy.shardable_value(target) is edge.result
        assert sdy.get_sharding(target) is None
    sdy.set_sharding(targets[0], closed(X, None))
    assert all(sdy.get_sharding(target) == closed(X, None) for target in targets)
    assert edge.sharding is not None and edge.sharding.data == closed(X, None)
    # the other edge has no op of its own: the result holds the sharding
    counter = loop.regions[1].block.args[1]
    assert sdy.find_data_flow_edge(counter) is None
    sdy.set_sharding(counter, TensorSharding("mesh", ()))
    assert sdy.get_sharding(loop.results[1]) == TensorSharding("mesh", ())


def test_arguments_that_nothing_can_shard():
    """The scalars in the body of a reduction."""
    block = Block(arg_types=[TensorType(f32, [])])
    op = test.TestOp(regions=[Region(block)])
    assert sdy.shardable_value(block.args[0]) is None
    assert sdy.get_sharding(block.args[0]) is None
    sdy.set_sharding(block.args[0], TensorSharding("mesh", ()))
    assert not op.attributes


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


def test_transform_shardings_reaches_all():
    module = parse(ACCEPTED["manual_two"])
    seen: list[TensorSharding] = []

    def change(sharding: TensorSharding) -> TensorSharding:
        seen.append(sharding)
        return sharding.with_mesh("renamed")

    sdy.transform_shardings(module, change)
    assert len(seen) == len(set(seen)), "each distinct sharding is changed once"
    assert "<@mesh" not in printed(module)
    assert printed(module).count("<@renamed") == 4


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


def test_shardings_that_stay_keep_their_attributes() -> None:
    """Stages write all shardings of functions of thousands of arguments."""
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(
        %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
        %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
        %c: tensor<8xf32>
    ) { return }
    """
    function = next(op for op in parse_program(text).walk() if isinstance(op, FuncOp))
    assert function.arg_attrs is not None
    before = function.arg_attrs.data
    kept = sdy.get_func_argument_sharding(function, 0)
    assert kept is not None
    whole = TensorSharding.fully_open("mesh", 1)
    sdy.set_func_shardings(function, arguments=[kept, whole, whole])
    after = function.arg_attrs.data
    assert after[0] is before[0]
    assert after[1].data["sdy.sharding"] is after[2].data["sdy.sharding"]
