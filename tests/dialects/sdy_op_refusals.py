"""Ops of the sdy dialect that break a constraint, and the error of each."""

from tests.dialects.sdy_cases import ACCEPTED, MESH, T, collective, func, manual

OPS: dict[str, tuple[str, str]] = {
    # ops of propagation
    "barrier_both": (
        func(f"%0 = sdy.propagation_barrier %a allowed_direction=BOTH : {T}"),
        "cannot specify `BOTH` as the direction",
    ),
    "barrier_type": (
        func(
            "%0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<*xf32>",
            "%a: tensor<*xf32>",
        ),
        "tensor<*xf32>",
    ),
    "group_type": (func("sdy.sharding_group %a group_id=0 : i32", "%a: i32"), "i32"),
    "edge_dynamic": (
        func("%0 = sdy.data_flow_edge %a : tensor<?xf32>", "%a: tensor<?xf32>"),
        "expected a static-shaped result, got tensor<?xf32>",
    ),
    "edge_users": (
        func(f"%0 = sdy.data_flow_edge %a : {T}\n  %1 = stablehlo.abs %a : {T}"),
        "expected input of sdy.data_flow_edge to have a single user",
    ),
    "edge_of_sdy": (
        func(
            f"%0 = sdy.reshard %a <@mesh, [{{}}, {{}}]> : {T}\n"
            f"  %1 = sdy.data_flow_edge %0 : {T}"
        ),
        "other than a computation, got sdy.reshard",
    ),
    "edge_sharding": (
        func(f'%0 = sdy.data_flow_edge %a sharding=<@mesh, [{{"x"}}]> : {T}'),
        "sharding doesn't match tensor rank",
    ),
    "func_edge_users": (
        func(f"%0 = sdy.func_data_flow_edge %a : {T}\n  %1 = stablehlo.abs %a : {T}"),
        "expected input of sdy.func_data_flow_edge to have a single user",
    ),
    "func_edge_of_op": (
        func(f"%0 = stablehlo.abs %a : {T}\n  %1 = sdy.func_data_flow_edge %0 : {T}"),
        "expected operand to be a result of a call op",
    ),
    "func_edge_of_block": (
        manual(
            "in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] "
            "manual_axes={}",
            T,
            "%1",
        ).replace(
            "    sdy.return", f"    %1 = sdy.func_data_flow_edge %b : {T}\n sdy.return"
        ),
        "expected operand to be a block argument of a func op",
    ),
    "func_edge_dynamic": (
        func("%0 = sdy.func_data_flow_edge %a : tensor<?xf32>", "%a: tensor<?xf32>"),
        "expected a static-shaped result",
    ),
    # manual computations
    "manual_shardings": (
        manual("in_shardings=[] out_shardings=[<@mesh, [{}, {}]>] manual_axes={}", T),
        "operand shardings don't match number of values: 0 shardings vs 1 values",
    ),
    "manual_sharding": (
        manual(
            'in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"w"}, {}]>] '
            "manual_axes={}",
            T,
        ),
        'result: dim 0: unknown axis name: "w"',
    ),
    "manual_arguments": (
        func(
            "%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}]>] "
            f"out_shardings=[<@mesh, [{{}}, {{}}]>] manual_axes={{}} () {{\n"
            f"    %1 = sdy.constant dense<1.0> : {T}\n    sdy.return %1 : {T}\n"
            f"  }} : ({T}) -> {T}"
        ),
        "number of op operands and region operands must match",
    ),
    "manual_results": (
        func(
            "%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}]>] "
            f"out_shardings=[<@mesh, [{{}}, {{}}]>] manual_axes={{}} (%b: {T}) {{\n"
            f"    sdy.return\n  }} : ({T}) -> {T}"
        ),
        "number of op results and region results must match",
    ),
    "manual_free_first": (
        manual(
            'in_shardings=[<@mesh, [{"y", "x"}, {}]>] '
            'out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"}'
        ),
        'in dim 0, manual axis "x" comes after free axis "y"',
    ),
    "manual_padding": (
        manual(
            'in_shardings=[<@mesh, [{"z"}, {}]>] out_shardings=[<@mesh, [{"z"}, {}]>] '
            'manual_axes={"z"}',
            "tensor<2x8xf32>",
        ),
        'dim 0 of size 8 is not divisible by the manual axes {"z"} of size 6',
    ),
    "manual_local_operand": (
        manual(
            'in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] '
            'manual_axes={"x"}',
            T,
        ),
        "operand 0: global shape, sharding and local shape must match: expected local "
        "type tensor<4x8xf32>",
    ),
    "manual_local_result": (
        manual(
            'in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] '
            'manual_axes={"x"}'
        ),
        "result 0: global shape, sharding and local shape must match",
    ),
    "manual_meshes": (
        manual(
            'in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@other, [{"x"}, {}]>] '
            'manual_axes={"x"}',
            mesh=MESH + 'sdy.mesh @other = <["x"=2]>\n',
        ),
        "all in and out shardings must be bound to the same mesh or an empty mesh",
    ),
    "manual_axis": (
        manual(
            'in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] '
            'manual_axes={"x", "w"}'
        ),
        'unknown manual axis: "w"',
    ),
    "manual_axis_bound": (
        ACCEPTED["manual_nested"].replace('manual_axes={"y"}', 'manual_axes={"x"}'),
        'operates on axis "x" which is already bound by a parent sdy.manual_computation',
    ),
    "bound_axis": (
        manual(
            'in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] '
            'manual_axes={"x"}',
            returned="%1",
        ).replace(
            "    sdy.return",
            "    %1 = stablehlo.abs %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
            '[{}, {"x"}]>]>} : tensor<4x8xf32>\n    sdy.return',
        ),
        "'stablehlo.abs' op result: operates on axis \"x\" which is already bound",
    ),
    "bound_axis_property": (
        manual(
            'in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] '
            'manual_axes={"x"}',
            returned="%1",
        ).replace(
            "    sdy.return",
            '    %1 = sdy.reshard %b <@mesh, [{}, {}], replicated={"x"}> : '
            "tensor<4x8xf32>\n    sdy.return",
        ),
        'operates on axis "x" which is already bound',
    ),
    # named computations
    "named_arguments": (
        ACCEPTED["named"].replace(f"(%b: {T})", f"(%b: {T}, %c: {T})"),
        "number of block arguments must match the number of operands: 2 != 1",
    ),
    "named_argument_type": (
        func(
            '%0 = sdy.named_computation<"foo">(%a) (%b: i32) {\n    '
            f"%1 = sdy.constant dense<1.0> : {T}\n    sdy.return %1 : {T}\n"
            f"  }} : ({T}) -> {T}"
        ),
        "expected the type of block argument 0 to match the outer type: i32",
    ),
    "named_result_type": (
        ACCEPTED["named"].replace(f"({T}) -> {T}", f"({T}) -> tensor<4xf32>"),
        "expected the type of returned value 0 to match the outer type",
    ),
    "named_shardings": (
        ACCEPTED["named_sharded"].replace('{"x"}, {}', "{}"),
        "in_shardings: sharding doesn't match tensor rank: 1 != 2",
    ),
    "named_out_shardings": (
        ACCEPTED["named_sharded"].replace(
            "out_shardings=[<", "out_shardings=[<@m, []>, <"
        ),
        "out_shardings shardings don't match number of values: 2 shardings vs 1 values",
    ),
    # collectives
    "collective_unsharded": (
        func(
            '%0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> '
            f": {T}"
        ),
        "collective on operand without sharding",
    ),
    "collective_sharding": (
        collective('sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}]>'),
        "out_sharding: sharding doesn't match tensor rank: 1 != 2",
    ),
    "collective_mesh": (
        collective(
            'sdy.all_gather [{"x"}, {}] %a out_sharding=<mesh<["x"=2]>, [{}, {}]>'
        ),
        "result mesh does not match operand mesh",
    ),
    "collective_rank": (
        collective(
            "sdy.all_gather [] %a out_sharding=<@m, []>",
            "<@m, []>",
            "sdy.mesh @m = <[], device_ids=[0]>\n",
        ).replace("all_gather []", 'all_gather [{"x"}]'),
        "",
    ),
    "gather_axis": (
        collective('sdy.all_gather [{"w"}, {}] %a out_sharding=<@mesh, [{}, {}]>'),
        'gathering axes of dim 0: unknown axis name: "w"',
    ),
    "gather_axis_twice": (
        collective('sdy.all_gather [{"x"}, {"x"}] %a out_sharding=<@mesh, [{}, {}]>'),
        'duplicate axis ref: "x"',
    ),
    "gather_merge": (
        collective(
            'sdy.all_gather [{"y":(1)2, "y":(2)2}, {}] %a out_sharding='
            "<@mesh, [{}, {}]>",
            '<@mesh, [{"y"}, {}]>',
        ),
        "gathering axes of dim 0: two consecutive sub-axes can be merged",
    ),
    "gather_lists": (
        collective('sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}, {}]>'),
        "result sharding has rank 2 but collective axes has rank 1",
    ),
    "gather_not_last": (
        collective(
            'sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{"y"}, {}]>',
            '<@mesh, [{"x", "y"}, {}]>',
        ),
        'can\'t apply gathering axis "x" to operand sharding on dimension 0: {"x", "y"} '
        "does not end with it",
    ),
    "gather_result": (
        collective('sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]>'),
        "result sharding doesn't match expected sharding {} on dimension 0",
    ),
    "slice_result": (
        collective('sdy.all_slice [{"y"}, {}] %a out_sharding=<@mesh, [{"y"}, {}]>'),
        'result sharding doesn\'t match expected sharding {"x", "y"} on dimension 0',
    ),
    "scatter_result": (
        collective(
            'sdy.reduce_scatter [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"z"}]>'
        ),
        'result sharding doesn\'t match expected sharding {"y"} on dimension 1',
    ),
    "all_to_all_empty": (
        collective('sdy.all_to_all [] %a out_sharding=<@mesh, [{"x"}, {}]>'),
        "parameter list is empty",
    ),
    "all_to_all_axis": (
        collective('sdy.all_to_all [{"w"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]>'),
        'axes moved from dim 0 to dim 1: unknown axis name: "w"',
    ),
    "all_to_all_source": (
        collective('sdy.all_to_all [{"x"}: 2->1] %a out_sharding=<@mesh, [{}, {"x"}]>'),
        "source dimension 2 is out of range [0, 2)",
    ),
    "all_to_all_target": (
        collective(
            'sdy.all_to_all [{"x"}: 0->-1] %a out_sharding=<@mesh, [{}, {"x"}]>'
        ),
        "target dimension -1 is out of range [0, 2)",
    ),
    "all_to_all_same": (
        collective('sdy.all_to_all [{"x"}: 0->0] %a out_sharding=<@mesh, [{"x"}, {}]>'),
        "overlapping source/target dimensions in all-to-all params: 0",
    ),
    "all_to_all_order": (
        ACCEPTED["all_to_all_two"].replace(
            '[{"x"}: 0->2, {"y":(2)2}: 1->3]', '[{"y":(2)2}: 1->3, {"x"}: 0->2]'
        ),
        "source dimensions are not sorted in ascending order: 0 appears after 1",
    ),
    "all_to_all_suffix": (
        collective('sdy.all_to_all [{"y"}: 0->1] %a out_sharding=<@mesh, [{}, {"y"}]>'),
        'can\'t apply all-to-all axis "y" to operand sharding on dimension 0',
    ),
    "all_to_all_moved": (
        collective('sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"y"}]>'),
        'result sharding doesn\'t match expected sharding {"x"} on dimension 1',
    ),
    "all_to_all_others": (
        ACCEPTED["all_to_all_two"].replace(', {"y":(2)2}: 1->3]', "]"),
        'result sharding doesn\'t match expected sharding {"y"} on dimension 1',
    ),
    "permute_size": (
        collective('sdy.collective_permute %a out_sharding=<@mesh, [{"y"}, {}]>'),
        "sharded size of result doesn't match operand on dimension 0",
    ),
    "permute_mesh": (
        collective(
            'sdy.collective_permute %a out_sharding=<mesh<["x"=2]>, [{"x"}, {}]>'
        ),
        "has different axes than operand mesh",
    ),
    "permute_devices": (
        collective(
            'sdy.collective_permute %a out_sharding=<@other, [{"x"}, {}]>',
            mesh=MESH + MESH.replace("@mesh", "@other"),
        ),
        "result mesh name is different but same device ids as operand",
    ),
    "reduce_layout": (
        collective('sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{}, {"x"}]>'),
        "operand and result shardings are not equivalent",
    ),
    "reduce_axis": (
        collective('sdy.all_reduce {"w"} %a out_sharding=<@mesh, [{"x"}, {}]>'),
        'reduction unknown axis name: "w"',
    ),
    "reduce_order": (
        collective('sdy.all_reduce {"z", "y"} %a out_sharding=<@mesh, [{"x"}, {}]>'),
        "reduction axes are not ordered w.r.t. mesh",
    ),
    "reduce_merge": (
        collective(
            'sdy.all_reduce {"y":(1)2, "y":(2)2} %a out_sharding=<@mesh, [{"x"}, {}]>'
        ),
        "two consecutive sub-axes can be merged",
    ),
    "reduce_sharded": (
        collective('sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{"x"}, {}]>'),
        'reduction axis "x" overlaps with operand dimension sharding',
    ),
    "reduce_replicated": (
        collective(
            'sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{"x"}, {}]>',
            '<@mesh, [{"x"}, {}], replicated={"y":(1)2}>',
        ),
        'reduction axis "y" overlaps with operand dimension sharding or replicated axes',
    ),
    "reduce_unreduced": (
        collective(
            'sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}>'
        ),
        'reduction axis "y" overlaps with result unreduced axes',
    ),
    "sharded_to_unreduced_suffix": (
        collective(
            'sdy.sharded_to_unreduced [{"y"}, {}] %a out_sharding='
            '<@mesh, [{"x"}, {}], unreduced={"y"}>'
        ),
        'can\'t apply sharded-to-unreduced axis "y"',
    ),
    "sharded_to_unreduced_axes": (
        collective(
            'sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]>'
        ),
        "out_sharding must be unreduced along",
    ),
    "replicated_to_unreduced_dims": (
        collective(
            'sdy.replicated_to_unreduced {"y"} %a out_sharding='
            '<@mesh, [{}, {}], unreduced={"y"}>'
        ),
        "input and output must share the same dimension shardings",
    ),
    "replicated_to_unreduced_empty": (
        collective(
            'sdy.replicated_to_unreduced {} %a out_sharding=<@mesh, [{"x"}, {}]>'
        ),
        "axes must not be empty",
    ),
    "replicated_to_unreduced_sharded": (
        collective(
            'sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{"x"}, {}]>'
        ),
        'axis "x" overlaps with operand dimension sharding or unreduced axes',
    ),
    "replicated_to_unreduced_twice": (
        collective(
            'sdy.replicated_to_unreduced {"y"} %a out_sharding='
            '<@mesh, [{"x"}, {}], unreduced={"y"}>',
            '<@mesh, [{"x"}, {}], unreduced={"y"}>',
        ),
        'axis "y" overlaps with operand dimension sharding or unreduced axes',
    ),
    "replicated_to_unreduced_axes": (
        collective(
            'sdy.replicated_to_unreduced {"y"} %a out_sharding='
            '<@mesh, [{"x"}, {}], unreduced={"z"}>'
        ),
        "out_sharding must be unreduced along",
    ),
}
"""For each constraint of an op a module that breaks it, and our message."""
