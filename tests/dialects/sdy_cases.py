"""Modules with sdy attributes and ops that are right."""

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
