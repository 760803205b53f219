"""Modules with sdy attributes and ops: those to take, and one to refuse a constraint."""

from __future__ import annotations

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4, "z"=6]>\n'
T = "tensor<8x8xf32>"


def func(body: str, arguments: str = f"%a: {T}", *, mesh: str = MESH) -> str:
    """A module with a mesh and a function of `arguments` that returns nothing."""
    return f"{mesh}func.func @main({arguments}) {{\n  {body}\n  return\n}}\n"


def constraint(sharding: str, type: str = T, *, mesh: str = MESH) -> str:
    """A module whose only sharding is `sharding`, on a value of `type`."""
    op = f"%0 = sdy.sharding_constraint %a {sharding} : {type}"
    return func(op, f"%a: {type}", mesh=mesh)


def sharded(sharding: str, type: str = T, name: str = "%a") -> str:
    """A function argument with a sharding."""
    return f"{name}: {type} {{sdy.sharding = #sdy.sharding{sharding}}}"


def per_value(shardings: str, results: str = f"({T})", prefix: str = "%0 = ") -> str:
    """A module with an op of a foreign dialect that carries `sdy.sharding`."""
    attribute = f"sdy.sharding = #sdy.sharding_per_value<[{shardings}]>"
    return func(f'{prefix}"foreign.op"(%a) {{{attribute}}} : ({T}) -> {results}')


def rule(text: str, shapes: tuple[str, str] = ("2x8", "2x8")) -> str:
    """A module with an op of one operand and one result that carries a rule."""
    source, target = (f"tensor<{shape}{'x' if shape else ''}f32>" for shape in shapes)
    attribute = f"sdy.sharding_rule = #sdy.op_sharding_rule<{text}>"
    return func(
        f'%0 = "foreign.op"(%a) {{{attribute}}} : ({source}) -> {target}',
        f"%a: {source}",
        mesh="",
    )


def edges(text: str, mesh: str = MESH) -> str:
    """A module with an op of two operands that carries propagation edges."""
    attributes = (
        f"sdy.propagation_edges = #sdy.propagation_edges<[{text}]>, "
        'sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>'
    )
    op = f'%0 = "foreign.op"(%a, %a) {{{attributes}}} : ({T}, {T}) -> {T}'
    return func(op, mesh=mesh)


def manual(
    header: str,
    local: str = "tensor<4x8xf32>",
    returned: str = "%b",
    type: str = f"({T}) -> {T}",
    mesh: str = MESH,
    operands: str = "%a",
) -> str:
    """A module with a manual computation of one operand and one result."""
    return func(
        f"%0 = sdy.manual_computation({operands}) {header} (%b: {local}) {{\n"
        f"    sdy.return {returned} : {local}\n  }} : {type}",
        mesh=mesh,
    )


def collective(op: str, operand: str = '<@mesh, [{"x"}, {}]>', mesh: str = MESH) -> str:
    """A module with a collective on a sharded argument `%a`."""
    return func(f"%0 = {op} : {T}", sharded(operand), mesh=mesh)


SHARDINGS = [
    "<@mesh, [{}, {}]>",
    '<@mesh, [{"x"}, {?}]>',
    '<@mesh, [{"x", ?}, {"y", "z"}]>',
    '<@mesh, [{"y":(1)2}, {"z":(2)3, "y":(2)2}]>',
    '<@mesh, [{"y":(2)2, "y":(1)2}, {}]>',
    '<@mesh, [{"x"}p0, {"y", ?}p12]>',
    "<@mesh, [{?}p1, {}]>",
    '<@mesh, [{}, {}], replicated={"x", "z":(1)2}>',
    '<@mesh, [{}, {}], unreduced={"y"}>',
    '<@mesh, [{"x"}, {}], replicated={"y":(1)2}, unreduced={"y":(2)2}>',
    '<@mesh, [{"x"}, {}], unreduced={"y"}, replicated={"z"}>',
    '<mesh<["a"=2]>, [{"a"}, {}]>',
    '<mesh<["a"=2, "b"=2], device_ids=[0, 2, 1, 3]>, [{"b"}, {}]>',
    "<mesh<[]>, [{}, {}]>",
    "<mesh<[], device_ids=[5]>, []>",
    '< @mesh , [ { "x" , ? } p3 , { } ] >',
]
"""Shardings of an 8x8 tensor on `MESH`, in every spelling."""

RULES = [
    ("([i, j])->([i, j]) {i=2, j=8}", ("2x8", "2x8")),
    ("([])->([])", ("", "")),
    ("([i, j])->([ij]) {i=2, j=8}", ("2x8", "16")),
    ("([i, j])->([i]) {i=2, j=8} reduction={j}", ("2x8", "2")),
    (
        "([i, j, k])->([i, k]) {i=2, j=3, k=4} reduction={j} need_replication={i} "
        "permutation={k} blocked_propagation={i, k}, custom",
        ("2x3x4", "2x4"),
    ),
    (
        f"([{', '.join('ijklmnopqrstuvwxyz')}, z_1, z_2])->"
        f"([{', '.join('ijklmnopqrstuvwxy')}, zz_1, z_2]) "
        f"{{{', '.join(f'{factor}=1' for factor in 'ijklmnopqrstuvwxy')}, "
        "z=2, z_1=2, z_2=1}",
        ("1x" * 17 + "2x2x1", "1x" * 17 + "4x1"),
    ),
    ("([i])->([i]) {i=2}, custom", ("2", "2")),
]
"""Rules and the shapes of the op's operand and result."""

ACCEPTED: dict[str, str] = {
    "mesh": MESH,
    "mesh_attributes": 'sdy.mesh @m = <["x"=2]> {stablehlo.mesh = 1 : i32, unit}',
    "mesh_empty": "sdy.mesh @m = <[]>",
    "mesh_maximal": "sdy.mesh @m = <[], device_ids=[3]>",
    "mesh_device_ids": 'sdy.mesh @m = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>',
    "mesh_iota": 'sdy.mesh @m = <["x"=2, "y"=2], device_ids=[0, 1, 2, 3]>',
    "mesh_size_one": 'sdy.mesh @m = <["x"=1, "y"=1]>',
    "mesh_quoted": r'sdy.mesh @"my mesh" = <["a \"b\"\n\\"=2]>',
    "mesh_hexadecimal": 'sdy.mesh @m = <["x"=0x10]>',
    **{f"sharding_{n}": constraint(text) for n, text in enumerate(SHARDINGS)},
    "sharding_alias": '#s = #sdy.sharding<@mesh, [{"x"}, {}]>\n' + per_value("#s"),
    "sharding_whole": per_value('#sdy.sharding<@mesh, [{"x"}, {}]>'),
    "sharding_opaque": per_value('#sdy<sharding<@mesh, [{"x"}, {}]>>'),
    "sharding_quoted": constraint(
        r'<@"my mesh", [{"a\"b"}, {}]>', mesh=r'sdy.mesh @"my mesh" = <["a\"b"=2]>'
    ),
    "sharding_scalar": constraint("<@mesh, []>", "tensor<f32>"),
    "sharding_token": constraint("<@mesh, []>", "!stablehlo.token"),
    "sharding_tuple": constraint('<@mesh, [{"x"}]>', "tuple<tensor<8xf32>>"),
    "sharding_dynamic": constraint('<@mesh, [{"x"}, {}]>', "tensor<?x8xf32>"),
    "sharding_uneven": constraint('<@mesh, [{"y"}, {}]>', "tensor<3x8xf32>"),
    # C++ propagation itself makes shardings like this one
    "sharding_of_size_0": constraint('<@mesh, [{"x"}, {}]>', "tensor<0x8xf32>"),
    "sharding_before_mesh": f"{constraint('<@late, [{}, {}]>')}sdy.mesh @late = <[]>",
    "reshard": func(f'%0 = sdy.reshard %a <@mesh, [{{"x"}}, {{}}]> {{unit}} : {T}'),
    "arguments": func(
        "", f"{sharded('<@mesh, [{?}, {}]>')}, {sharded('<@mesh, []>', 'i32', '%b')}"
    ),
    "function_result": MESH
    + f"func.func @main(%a: {T}) -> ({T} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, "
    f'{{"x"}}]>, test.other = 1 : i32}}) {{\n  return %a : {T}\n}}',
    "per_value": per_value('<@mesh, [{"x"}, {?}]>'),
    "per_value_two": per_value(
        '<@mesh, [{"x"}, {?}]>, <@mesh, []>', f"({T}, i32)", "%0:2 = "
    ),
    "per_value_none": per_value("<mesh<[], device_ids=[1]>, []>", "()", ""),
    "per_value_replicated": per_value("<@mesh, []>", "()", ""),
    **{f"rule_{n}": rule(text, shapes) for n, (text, shapes) in enumerate(RULES)},
    "rule_spaced": rule("( [ i,j ] ) -> ( [i , j] ) {i = 2,j=8} permutation = {i}"),
    "edges": edges('{step-0 = [{"x" = operand-0 -> [result-0, operand-1]}]}'),
    "edges_steps": edges(
        '{step-0 = [{"x" = operand-0 -> [result-0]}, {"y" = operand-1 -> [result-0]}]}, '
        '{step-3 = [{"y":(1)2 = result-0 -> [operand-0, operand-1]}]}'
    ),
    "edge_lists": func(
        "sdy.sharding_group %a group_id=0 {sdy.result_propagation_edges = "
        '[#sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [operand-1]}]}]>], '
        f"sdy.block_arg_propagation_edges = []}} : {T}"
    ),
    "sharding_group": func(
        f"sdy.sharding_group %a group_id=21 : {T}\n"
        f"  sdy.sharding_group %a group_id=-1 {{unit}} : {T}"
    ),
    "constant": func(
        "%0 = sdy.constant dense<1.0> : tensor<8xf32>\n"
        "  %1 = sdy.constant {unit} dense<[1, 2]> : tensor<2xi32>\n"
        "  %2 = sdy.constant dense<true> : tensor<i1>"
    ),
    "barrier": func(
        "\n".join(
            f"%{n} = sdy.propagation_barrier %a allowed_direction={name} {{unit}} : {T}"
            for n, name in enumerate(("NONE", "FORWARD", "BACKWARD"))
        )
    ),
    "data_flow_edge": func(
        f"%0 = stablehlo.abs %a : {T}\n  %1 = sdy.data_flow_edge %0 : {T}\n"
        f"  %2 = stablehlo.abs %1 : {T}\n"
        f'  %3 = sdy.data_flow_edge %2 sharding=<@mesh, [{{"x"}}, {{}}]> {{unit}} : {T}'
    ),
    "func_data_flow_edge": func(f"%0 = sdy.func_data_flow_edge %a {{unit}} : {T}"),
    "manual": manual(
        'in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] '
        'manual_axes={"x"}'
    ),
    "manual_no_axes": manual(
        "in_shardings=[<@mesh, [{?}, {}]>] out_shardings=[<@mesh, [{}, {}]>] "
        "manual_axes={}",
        T,
    ),
    "manual_free": manual(
        'in_shardings=[<@mesh, [{"x", "y", ?}, {?}]>] '
        'out_shardings=[<@mesh, [{"x"}, {"y":(1)2}], replicated={"z"}>] '
        'manual_axes={"x", "z"}'
    ),
    "manual_unsorted": manual(
        'in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] '
        'manual_axes={"y", "x"}'
    ),
    "manual_empty": func(
        "sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {\n"
        "    sdy.return\n  } : () -> ()"
    ),
    "manual_nested": func(
        '%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] '
        'out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} '
        "(%b: tensor<4x8xf32>) {\n"
        '    %1 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{}, {"y"}]>] '
        'out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"} '
        "(%c: tensor<4x2xf32>) {\n      sdy.return %c : tensor<4x2xf32>\n"
        "    } {unit} : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
        f"    sdy.return %1 : tensor<4x8xf32>\n  }} : ({T}) -> {T}"
    ),
    "manual_two": func(
        '%0:2 = sdy.manual_computation(%a, %a) in_shardings=[<@mesh, [{"x"}, {}]>, '
        '<mesh<["x"=2, "y"=4, "z"=6]>, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>, '
        '<@mesh, [{"x"}, {}]>] manual_axes={"x"} '
        f"(%b: tensor<4x8xf32>, %c: {T}) {{\n    sdy.return {{unit}} %c, %b : {T}, "
        f"tensor<4x8xf32>\n  }} : ({T}, {T}) -> ({T}, {T})"
    ),
    "named": func(
        f'%0 = sdy.named_computation<"foo">(%a) (%b: {T}) {{\n    sdy.return %b : {T}\n'
        f"  }} {{unit}} : ({T}) -> {T}"
    ),
    "named_sharded": func(
        r'%0 = sdy.named_computation<"a \"b\"">(%a) in_shardings=[<@mesh, [{"x"}, {}]>] '
        f'out_shardings=[<@mesh, [{{"x"}}, {{?}}]>] (%b: {T}) {{\n'
        f"    sdy.return %b : {T}\n  }} : ({T}) -> {T}"
    ),
    "all_gather": collective(
        'sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> {unit}'
    ),
    "all_gather_sub_axis": collective(
        'sdy.all_gather [{"x", "y":(2)2}, {}] %a out_sharding=<@mesh, [{}, {}]>',
        '<@mesh, [{"x", "y":(2)2}, {}]>',
    ),
    "all_gather_suffix": collective(
        'sdy.all_gather [{"y":(2)2}, {}] %a out_sharding=<@mesh, [{"y":(1)2}, {}]>',
        '<@mesh, [{"y"}, {}]>',
    ),
    "all_slice": collective(
        'sdy.all_slice [{"y"}, {"z"}] %a out_sharding=<@mesh, [{"x", "y"}, {"z"}]>'
    ),
    "all_slice_merged": collective(
        'sdy.all_slice [{"y":(2)2}, {}] %a out_sharding=<@mesh, [{"y"}, {}]>',
        '<@mesh, [{"y":(1)2}, {}]>',
    ),
    "all_slice_unsharded": func(
        f'%0 = sdy.all_slice [{{"x"}}, {{}}] %a out_sharding=<@mesh, [{{"x"}}, {{}}]> '
        f": {T}"
    ),
    "all_to_all": collective(
        'sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]>'
    ),
    "all_to_all_two": func(
        '%0 = sdy.all_to_all [{"x"}: 0->2, {"y":(2)2}: 1->3] %a out_sharding=<@mesh, '
        '[{}, {"y":(1)2}, {"x"}, {"y":(2)2}]> : tensor<8x8x8x8xf32>',
        sharded('<@mesh, [{"x"}, {"y"}, {}, {}]>', "tensor<8x8x8x8xf32>"),
    ),
    "collective_permute": collective(
        'sdy.collective_permute %a out_sharding=<@mesh, [{"y":(1)2}, {}]>'
    ),
    "collective_permute_devices": collective(
        'sdy.collective_permute %a out_sharding=<@other, [{"x"}, {}]>',
        mesh='sdy.mesh @mesh = <["x"=2]>\n'
        'sdy.mesh @other = <["x"=2], device_ids=[1, 0]>\n',
    ),
    "all_reduce": collective(
        'sdy.all_reduce {"y", "z":(1)2} %a out_sharding=<@mesh, [{"x"}, {}]>'
    ),
    "all_reduce_none": collective(
        'sdy.all_reduce {} %a out_sharding=<@mesh, [{"x"}, {}]>'
    ),
    "all_reduce_unreduced": collective(
        'sdy.all_reduce {"y":(1)2} %a out_sharding='
        '<@mesh, [{"x"}, {}], unreduced={"y":(2)2}>',
        '<@mesh, [{"x"}, {}], unreduced={"y"}>',
    ),
    "reduce_scatter": collective(
        'sdy.reduce_scatter [{"y"}, {}] %a out_sharding=<@mesh, [{"x", "y"}, {}]>'
    ),
    "sharded_to_unreduced": collective(
        "sdy.sharded_to_unreduced [{}, {}] %a out_sharding="
        '<@mesh, [{"x"}, {}], unreduced={"y"}>',
        '<@mesh, [{"x"}, {}], unreduced={"y"}>',
    ),
    "sharded_to_unreduced_axis": collective(
        'sdy.sharded_to_unreduced [{"y":(2)2}, {}] %a out_sharding='
        '<@mesh, [{}, {}], unreduced={"x", "y"}>',
        '<@mesh, [{"y":(2)2}, {}], unreduced={"x", "y":(1)2}>',
    ),
    "replicated_to_unreduced": collective(
        'sdy.replicated_to_unreduced {"y", "z"} %a out_sharding='
        '<@mesh, [{"x"}, {}], unreduced={"y", "z"}>'
    ),
}
"""Modules that the C++ dialect takes, by what they show."""

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
    "rule_size_order": (
        rule("([i, j])->([i, j]) {j=2, i=8}"),
        "expected 'i', got 'j'",
    ),
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
        func(
            f"%0 = sdy.data_flow_edge %a : {T}\n  %1 = stablehlo.abs %a : {T}",
        ),
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
        func(
            f"%0 = sdy.func_data_flow_edge %a : {T}\n  %1 = stablehlo.abs %a : {T}",
        ),
        "expected input of sdy.func_data_flow_edge to have a single user",
    ),
    "func_edge_of_op": (
        func(
            f"%0 = stablehlo.abs %a : {T}\n  %1 = sdy.func_data_flow_edge %0 : {T}",
        ),
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
            'sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}>',
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
