"""Programs that break a constraint of the sdy dialect, and what is said of each."""

from tests.dialects.sdy_cases import (
    ACCEPTED,
    MESH,
    T,
    collective,
    constraint,
    edges,
    func,
    per_value,
    rule,
    sharded,
)
from tests.dialects.sdy_op_refusals import OPS

NAMED = [
    ("mesh", '<["x"=2, "y"=4, "z"=6]>', "mesh"),
    ("mesh", '"x"=2', "mesh_axis"),
    ("sharding_3", '{"y":(1)2}', "dimension_sharding"),
    ("sharding_3", "(1)2", "sub_axis_info"),
    ("sharding_7", '"x"', "axis_ref"),
    ("data_flow_edge", '<@mesh, [{"x"}, {}]>', "sharding"),
    ("manual", '<@mesh, [{"x"}, {}]>', "sharding"),
    ("manual", '{"x"}| (', "manual_axes"),
    ("named_sharded", '<@mesh, [{"x"}, {?}]>', "sharding"),
    ("all_slice", '[{"y"}, {"z"}]', "list_of_axis_ref_lists"),
    ("all_slice", '{"y"}', "axis_ref_list"),
    ("all_slice", '"y"', "axis_ref"),
    ("all_reduce", '{"y", "z":(1)2}', "axis_ref_list"),
    ("all_to_all", '[{"x"}: 0->1]', "all_to_all_param_list"),
    ("all_to_all", '{"x"}: 0->1', "all_to_all_param"),
    ("rule_0", "[i, j]", "tensor_mapping"),
    ("rule_0", "i|, j])->", "dim_mapping"),
    ("edges", '{step-0 = [{"x" = operand-0 -> [result-0, operand-1]}]}', "propagation_one_step"),
    ("edges", '{"x" = operand-0 -> [result-0, operand-1]}', "axis_to_propagation_details"),
    ("edges", "operand-0", "edge_value_ref"),
]  # fmt: skip
"""Cases, a text behind their mesh without its name (and what follows), its name."""


def named(case: str, text: str, kind: str) -> str:
    """A case whose text has its name where it is mostly left out."""
    text, _, behind = text.partition("|")
    module = ACCEPTED[case]
    start = module.find(f"{text}{behind}", len(MESH) if MESH in module[:-1] else 0)
    assert start >= 0, case
    return f"{module[:start]}#sdy<{kind} {text}>{module[start + len(text) :]}"


ACCEPTED |= {
    f"whole_{kind}_{number}": named(case, text, kind)
    for number, (case, text, kind) in enumerate(NAMED)
}

REJECTED: dict[str, tuple[str, str]] = {
    # meshes
    "axis_size": ('sdy.mesh @m = <["x"=0]>', "axis size must be at least 1"),
    "axis_twice": ('sdy.mesh @m = <["x"=2, "x"=2]>', 'duplicate axis name: "x"'),
    "axis_twice_in_a_sharding": (
        constraint('<mesh<["x"=2, "x"=2]>, [{}, {}]>'),
        'duplicate axis name: "x"',
    ),
    "device_negative": (
        'sdy.mesh @m = <["x"=2], device_ids=[-1, 0]>',
        "device id must be non-negative, got: -1",
    ),
    "devices_without_axes": (
        "sdy.mesh @m = <[], device_ids=[0, 1]>",
        "a mesh without axes has at most one device id",
    ),
    "devices_count": (
        'sdy.mesh @m = <["x"=2, "y"=2], device_ids=[1, 0]>',
        "the product of the axis sizes must equal the number of device ids: 4 != 2",
    ),
    "devices_missing": (
        'sdy.mesh @m = <["x"=2], device_ids=[0, 2]>',
        "sorted device ids must be 0 to 1",
    ),
    "devices_empty": ('sdy.mesh @m = <["x"=2], device_ids=[]>', "integer"),
    "mesh_twice": (MESH + MESH, 'Redefinition of symbol "mesh"'),
    "mesh_in_function": (func('sdy.mesh @inner = <["x"=2]>'), "builtin.module"),
    # axes
    "mesh_unknown": (constraint("<@other, [{}, {}]>"), "unknown mesh: @other"),
    "mesh_is_function": (constraint("<@main, [{}, {}]>"), "unknown mesh: @main"),
    "axis_unknown": (
        constraint('<@mesh, [{}, {"w"}]>'),
        'dim 1: unknown axis name: "w"; the mesh is <["x"=2, "y"=4, "z"=6]>',
    ),
    "axis_unknown_replicated": (
        constraint('<mesh<["x"=2]>, [{}, {}], replicated={"y"}>'),
        'replicated axes: unknown axis name: "y"',
    ),
    "axis_duplicate": (
        constraint('<@mesh, [{"x"}, {"x"}]>'),
        'duplicate axis ref: "x"',
    ),
    "axis_duplicate_replicated": (
        constraint('<@mesh, [{"x"}, {}], replicated={"x"}>'),
        'duplicate axis ref: "x"',
    ),
    "axis_duplicate_unreduced": (
        constraint('<@mesh, [{}, {}], replicated={"x"}, unreduced={"x"}>'),
        'duplicate axis ref: "x"',
    ),
    "sub_axes_merge": (
        constraint('<@mesh, [{"y":(1)2, "y":(2)2}, {}]>'),
        'dim 0: two consecutive sub-axes can be merged: "y":(1)2, "y":(2)2',
    ),
    "sub_axis_and_axis": (
        constraint('<@mesh, [{"y"}, {"y":(1)2}]>'),
        'both sub-axis and full-axis are used for axis name: "y"',
    ),
    "sub_axis_pre_size": (
        constraint('<@mesh, [{"y":(0)2}, {}]>'),
        'sub-axis pre-size must be at least 1: "y":(0)2',
    ),
    "sub_axis_size": (
        constraint('<@mesh, [{"y":(1)1}, {}]>'),
        'sub-axis sizes must be greater than 1: "y":(1)1',
    ),
    "sub_axis_divides": (
        constraint('<@mesh, [{}, {"z":(2)2}]>'),
        "sub-axis next pre-size 4 doesn't divide the size of the full axis 6",
    ),
    "sub_axis_full": (
        constraint('<@mesh, [{"y":(1)4}, {}]>'),
        'sub-axis size is equal to the full axis size: "y":(1)4',
    ),
    "sub_axes_overlap": (
        constraint('<@mesh, [{"z":(1)3}, {"z":(1)2}]>'),
        'overlapping sub-axes: "z":(1)2, "z":(1)3',
    ),
    # shardings
    "rank": (constraint("<@mesh, [{}]>"), "sharding doesn't match tensor rank: 1 != 2"),
    "unranked": (
        constraint("<@mesh, []>", "tensor<*xf32>"),
        "only ranked tensors can have a sharding",
    ),
    "not_shaped": (
        constraint('<@mesh, [{"x"}]>', "i32"),
        "a value of type i32 can only have a sharding with rank 0",
    ),
    "not_shaped_replicated": (
        constraint('<@mesh, [], replicated={"x"}>', "i32"),
        "no replicated or unreduced axes",
    ),
    "tuple": (
        constraint('<@mesh, [{"x"}]>', "tuple<tensor<8xf32>, i32>"),
        "tuple of size 1",
    ),
    "maximal_rank": (
        constraint("<mesh<[], device_ids=[0]>, [{}, {}]>"),
        "a maximal mesh can only have a sharding with rank 0",
    ),
    "replicated_order": (
        constraint('<@mesh, [{}, {}], replicated={"y", "x"}>'),
        'replicated axes are not ordered w.r.t. mesh <["x"=2, "y"=4, "z"=6]>',
    ),
    "unreduced_order": (
        constraint('<@mesh, [{}, {}], unreduced={"y":(2)2, "y":(1)2}>'),
        "unreduced axes are not ordered w.r.t. mesh",
    ),
    "priority_of_nothing": (
        constraint("<@mesh, [{}, {}p1]>"),
        "dim 1 is empty and closed but has a priority",
    ),
    "priority_zeros": (constraint('<@mesh, [{"x"}p01, {}]>'), "without leading zeros"),
    "priority_letter": (constraint('<@mesh, [{"x"}q1, {}]>'), "got 'q1'"),
    "priority_overflow": (
        constraint('<@mesh, [{"x"}p9223372036854775808, {}]>'),
        "below 2^63",
    ),
    "open_not_last": (constraint('<@mesh, [{?, "x"}, {}]>'), "Expected '}'"),
    "axes_comma": (constraint('<@mesh, [{"x",}, {}]>'), "string literal expected"),
    "replicated_empty": (constraint("<@mesh, [{}, {}], replicated={}>"), "string"),
    "replicated_twice": (
        constraint('<@mesh, [{}, {}], replicated={"x"}, replicated={"y"}>'),
        "Expected one of 'unreduced'",
    ),
    "argument_type": (
        func("", f"%a: {T} {{sdy.sharding = #sdy.sharding_per_value<[]>}}"),
        "'func.func' op arg 0: should have a sharding attribute of type #sdy.sharding",
    ),
    "argument": (
        func("", sharded('<@mesh, [{"w"}, {}]>')),
        "'func.func' op arg 0: dim 0: unknown axis name",
    ),
    "function_result": (
        MESH + "func.func private @f() -> (i32, tensor<8xf32> "
        '{sdy.sharding = #sdy.sharding<@mesh, [{"x", "x"}]>})',
        "'func.func' op result 1: duplicate axis ref",
    ),
    "per_value_type": (
        func(f'%0 = "foreign.op"() {{sdy.sharding = 1 : i32}} : () -> {T}'),
        "should have a sharding attribute of type #sdy.sharding_per_value",
    ),
    "per_value_count": (
        per_value("<@mesh, [{}, {}]>, <@mesh, [{}, {}]>"),
        "2 shardings vs 1 values",
    ),
    "per_value_sharding": (
        per_value('<@mesh, [{}, {}]>, <@mesh, [{"x"}]>', f"({T}, {T})", "%0:2 = "),
        "'foreign.op' op result 1: sharding doesn't match tensor rank: 1 != 2",
    ),
    "per_value_none": (per_value("<@mesh, [{}]>", "()", ""), "an op without results"),
    "per_value_none_unknown": (
        per_value("<@other, []>", "()", ""),
        "unknown mesh: @other",
    ),
    "per_value_no_mesh": (
        per_value("<@other, [{}, {}]>").removeprefix(MESH),
        "unknown mesh: @other",
    ),
    # rules
    "rule_type": (
        func(f'%0 = "foreign.op"(%a) {{sdy.sharding_rule = 1}} : ({T}) -> {T}'),
        "sdy.sharding_rule should be a #sdy.op_sharding_rule",
    ),
    "rule_operands": (
        rule("([i, j], [i, j])->([i, j]) {i=2, j=8}"),
        "number of operands and mappings must match: 1 != 2",
    ),
    "rule_results": (
        rule("([i, j])->([i, j], [i, j]) {i=2, j=8}"),
        "number of results and mappings must match: 1 != 2",
    ),
    "rule_no_operands": (
        'func.func @f() {\n  %0 = "foreign.op"() {sdy.sharding_rule = '
        "#sdy.op_sharding_rule<()->([i]) {i=2}>} : () -> tensor<2xf32>\n  return\n}",
        "",
    ),
    "rule_rank": (rule("([i])->([i]) {i=2}"), "mapping rank must match: 1 != 2"),
    "rule_dynamic": (
        rule("([i, j])->([i, j]) {i=2, j=8}", ("?x8", "2x8")),
        "static shape",
    ),
    "rule_no_factor": (
        rule("([i, ])->([i, j]) {i=2, j=8}"),
        "dim mapping must have at least one factor",
    ),
    "rule_null": (
        rule("([i, *])->([i, j]) {i=2, j=8}"),
        "dim mapping must have at least one factor",
    ),
    "rule_factor_range": (
        rule("([i, k])->([i, j]) {i=2, j=8}"),
        "expecting factor indices to be within",
    ),
    "rule_factor_reused": (
        rule("([i, i])->([i, i]) {i=2}"),
        "cannot reuse factors for the same tensor value",
    ),
    "rule_factor_one": (
        rule("([i, jk])->([i, j]) {i=2, j=8, k=1}"),
        "factor of size 1 if there are multiple factors",
    ),
    "rule_unused": (
        rule("([i, j])->([i, j]) {i=2, j=8, k=2}"),
        "has factor k=2 that isn't used",
    ),
    "rule_group_order": (
        rule("([i, j])->([i, j]) {i=2, j=8} need_replication={j, i}"),
        "indices of special factors must be sorted",
    ),
    "rule_group_twice": (
        rule("([i, j])->([i, j]) {i=2, j=8} permutation={j, j}"),
        "indices of special factors must be unique",
    ),
    "rule_group_range": (
        rule("([i, j])->([i, j]) {i=2, j=8} blocked_propagation={z}"),
        "index must be less than 2, got: 17",
    ),
    "rule_two_groups": (
        rule("([i, j])->([i, j]) {i=2, j=8} need_replication={i} permutation={i}"),
        "a factor can only be in one of the reduction, need replication, or",
    ),
    "rule_reduction": (
        rule("([i, j])->([i, j]) {i=2, j=8} reduction={i}"),
        "reduction factor cannot be in result mappings",
    ),
    "rule_size_order": (rule("([i, j])->([i, j]) {j=2, i=8}"), "expected 'i', got 'j'"),
    "rule_symbol": (rule("([a, j])->([i, j]) {i=2, j=8}"), "from 'i' to 'z'"),
    "rule_symbol_number": (rule("([z_, j])->([i, j]) {i=2, j=8}"), "integer after"),
    "rule_symbol_zero": (rule("([z_01, j])->([i, j]) {i=2, j=8}"), "leading zeros"),
    "rule_group_name_order": (
        rule("([i, j])->([i, j]) {i=2, j=8} permutation={i} reduction={j}"),
        "'>' expected",
    ),
    "rule_custom": (rule("([i, j])->([i, j]) {i=2, j=8}, other"), "Expected 'custom'"),
    # propagation edges
    "edges_type": (
        per_value("<@mesh, [{}, {}]>").replace(
            "{sdy.sharding", "{sdy.propagation_edges = 1, sdy.sharding"
        ),
        "sdy.propagation_edges should be a #sdy.propagation_edges",
    ),
    "edges_negative": (
        edges('{step--1 = [{"x" = operand-0 -> [result-0]}]}'),
        "negative step index: -1",
    ),
    "edges_step_twice": (
        edges(", ".join(['{step-1 = [{"x" = operand-0 -> [result-0]}]}'] * 2)),
        "duplicate step index: 1",
    ),
    "edges_source": (
        edges('{step-0 = [{"x" = operand-0 -> [operand-0]}]}'),
        'the source of axis "x" in step 0 is also a target',
    ),
    "edges_target_twice": (
        edges('{step-0 = [{"x" = operand-0 -> [result-0, result-0]}]}'),
        'axis "x" has duplicate targets in step 0',
    ),
    "edges_axis": (
        edges('{step-0 = [{"w" = operand-0 -> [result-0]}]}'),
        'unknown axis name: "w"',
    ),
    "edges_operand": (
        edges('{step-0 = [{"x" = result-0 -> [operand-2]}]}'),
        "operand index in range [0, 2), got: 2",
    ),
    "edges_result": (
        edges('{step-0 = [{"x" = result-1 -> [result-0]}]}'),
        "result index in range [0, 1), got: 1",
    ),
    "edges_unsharded": (
        func(
            '%0 = "foreign.op"(%a) {sdy.propagation_edges = #sdy.propagation_edges<['
            f'{{step-0 = [{{"x" = operand-0 -> [result-0]}}]}}]>}} : ({T}) -> {T}'
        ),
        "expected propagation edges to reference a sharding",
    ),
    "edges_two_meshes": (
        func(
            '%0 = "foreign.op"(%a) {sdy.propagation_edges = #sdy.propagation_edges<['
            '{step-0 = [{"x" = operand-0 -> [result-0]}]}]>, sdy.sharding = '
            f"#sdy.sharding_per_value<[<@mesh, [{{}}, {{}}]>]>}} : ({T}) -> {T}",
            sharded('<mesh<["x"=2]>, [{"x"}, {}]>'),
        ),
        "expected a common mesh for propagation edges",
    ),
    "edge_list": (
        func(
            "sdy.sharding_group %a group_id=0 {sdy.result_propagation_edges = [1]} "
            f": {T}"
        ),
        "sdy.result_propagation_edges should be an array of #sdy.propagation_edges",
    ),
    **OPS,
}
"""For each constraint a module that breaks it, and what our message says of it."""

STRICTER: dict[str, tuple[str, str]] = {
    "reduce_sub_axis": (
        collective('sdy.all_reduce {"y":(1)3} %a out_sharding=<@mesh, [{"x"}, {}]>'),
        "sub-axis next pre-size 3 doesn't divide the size of the full axis 4",
    ),
    "reduce_overlap": (
        collective(
            'sdy.all_reduce {"z":(1)2, "z":(1)3} %a out_sharding=<@mesh, [{"x"}, {}]>'
        ),
        "overlapping sub-axes",
    ),
}
"""Constraints of the documentation that the C++ verifier forgets."""
