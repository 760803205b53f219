"""The same program with its shardings in other places: what exporters do, for tests.

    text = in_frontend_attributes(parse_program(native))
    text = as_gspmd(parse_program(native), Form.IOTA)

Programs have one mesh, and shardings on arguments, results, constraints, barriers,
groups and manual computations.
"""

from collections.abc import Sequence
from enum import StrEnum
from math import prod

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.loading.program import program_text
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding

FRONTEND = "mhlo.frontend_attributes"
HLO = "mhlo.sharding"


class Form(StrEnum):
    """How XLA writes the devices of tiles."""

    IOTA = "iota"
    LISTED = "listed"
    SERIALIZED = "serialized"


def _only_mesh(module: ModuleOp) -> tuple[str, Mesh]:
    ((name, mesh),) = sdy.mesh_table(module).items()
    return name, mesh


def _custom_call(
    target: str,
    inputs: Sequence[SSAValue],
    types: Sequence[Attribute],
    attributes: dict[str, Attribute],
    backend_config: str | None = None,
) -> stablehlo.CustomCallOp:
    properties: dict[str, Attribute] = {"call_target_name": StringAttr(target)}
    if backend_config is not None:
        properties["backend_config"] = StringAttr(backend_config)
    return stablehlo.CustomCallOp.create(
        operands=inputs,
        result_types=types,
        properties=properties,
        attributes=attributes,
    )


def _replace(op: Operation, new: Operation) -> None:
    Rewriter.insert_op(new, InsertPoint.before(op))
    Rewriter.replace_op(op, [], list(new.results)[: len(op.results)])


def _border(
    function: FuncOp, results: bool
) -> list[tuple[dict[str, Attribute], TensorSharding | None]]:
    entries = function.res_attrs if results else function.arg_attrs
    read = sdy.func_result_shardings if results else sdy.func_argument_shardings
    shardings = read(function)
    found = [dict(e.data) for e in entries] if entries else [{} for _ in shardings]
    for entry in found:
        entry.pop(sdy.SHARDING, None)
    return list(zip(found, shardings, strict=True))


def _body_as_function(op: sdy.ManualComputationOp, module: ModuleOp, name: str) -> None:
    """The body of a computation as a function; leaves the computation empty."""
    block = op.body.detach_block(0)
    returned = block.last_op
    assert returned is not None
    Rewriter.insert_op(ReturnOp(*returned.operands), InsertPoint.before(returned))
    types = [value.type for value in returned.operands]
    Rewriter.erase_op(returned)
    function = FuncOp(name, (block.arg_types, types), visibility="private")
    function.body.detach_block(0)
    function.body.add_block(block)
    Rewriter.insert_op(function, InsertPoint.at_end(module.body.block))


# --- sdy as text in frontend attributes -----------------------------------------


def _frontend(**said: object) -> dict[str, Attribute]:
    entries = {f"xla.sdy.{key}": StringAttr(str(value)) for key, value in said.items()}
    return {FRONTEND: DictionaryAttr(entries)}


def _per_value(*shardings: TensorSharding) -> str:
    return str(sdy.TensorShardingPerValueAttr(shardings))


def in_frontend_attributes(
    module: ModuleOp, *, inline_meshes: bool = False, result_calls: bool = True
) -> str:
    """As XLA's round trip and torch-xla write it.

    Args:
        module: changed.
        inline_meshes: write the mesh into each sharding.
        result_calls: say shardings of results in custom calls, as XLA does.
    """
    name, mesh = _only_mesh(module)

    def written(sharding: TensorSharding) -> TensorSharding:
        return sharding.with_mesh(mesh) if inline_meshes else sharding

    for op in list(module.walk()):
        match op:
            case sdy.MeshOp():
                Rewriter.erase_op(op)
            case sdy.ShardingConstraintOp():
                said = _frontend(sharding=_per_value(written(op.sharding.data)))
                call = _custom_call("Sharding", [op.input], [op.result.type], said)
                _replace(op, call)
            case sdy.ShardingGroupOp():
                said = _frontend(sharding_group_id=f"{op.group_id.value.data} : i64")
                _replace(
                    op, _custom_call("xla.sdy.ShardingGroup", [op.input], [], said)
                )
            case sdy.PropagationBarrierOp():
                said = _frontend(allowed_direction=f"{int(op.direction)} : i32")
                target = "xla.sdy.PropagationBarrier"
                _replace(op, _custom_call(target, [op.input], [op.result.type], said))
            case sdy.ManualComputationOp():
                _shardy_computation(op, module, written)
            case FuncOp():
                pass
            case _:
                if sdy.SHARDING in op.attributes:
                    said = op.attributes.pop(sdy.SHARDING)
                    op.attributes.update(_frontend(sharding=said))
    for function in [op for op in module.ops if isinstance(op, FuncOp)]:
        returned = function.body.block.last_op
        assert returned is not None
        sides = [_border(function, results) for results in (False, True)]
        for index, (entry, sharding) in enumerate(sides[1]):
            if sharding is not None and result_calls:
                said = _frontend(sharding=_per_value(written(sharding)))
                value = returned.operands[index]
                target = "xla.sdy.FuncResultSharding"
                call = _custom_call(target, [value], [value.type], said)
                Rewriter.insert_op(call, InsertPoint.before(returned))
                returned.operands[index] = call.results[0]
            elif sharding is not None:
                text = sdy.TensorShardingAttr(written(sharding))
                entry.update(_frontend(sharding=text))
        for entry, sharding in sides[0]:
            if sharding is not None:
                text = sdy.TensorShardingAttr(written(sharding))
                entry.update(_frontend(sharding=text))
        _set_entries(function, [[e for e, _ in side] for side in sides])
    if not inline_meshes:
        module.attributes.update(_frontend(meshes=f"{{{name} = #sdy.mesh{mesh}}}"))
    return program_text(module)


def _set_entries(function: FuncOp, sides: list[list[dict[str, Attribute]]]) -> None:
    arguments, results = (ArrayAttr(map(DictionaryAttr, side)) for side in sides)
    function.arg_attrs, function.res_attrs = arguments, results


def _shardy_computation(op: sdy.ManualComputationOp, module: ModuleOp, written) -> None:
    inner = f"xla.sdy.manual_computation_body_{id(op)}"
    local = list(op.body.block.arg_types)
    returned = op.body.block.last_op
    assert returned is not None
    local_results = [value.type for value in returned.operands]
    _body_as_function(op, module, inner)
    arguments: Sequence[SSAValue] = ()
    before = InsertPoint.before(op)
    if local:
        said = _frontend(
            in_shardings=_per_value(*map(written, op.in_shardings.data)),
            manual_axes=op.manual_axes,
        )
        target = "xla.sdy.GlobalToLocalShape"
        enter = _custom_call(target, op.tensors, local, said)
        Rewriter.insert_op(enter, before)
        arguments = enter.results
    call = CallOp(inner, arguments, local_results)
    said = _frontend(
        out_shardings=_per_value(*map(written, op.out_shardings.data)),
        manual_axes=op.manual_axes,
    )
    types = [result.type for result in op.results]
    leave = _custom_call("xla.sdy.LocalToGlobalShape", call.results, types, said)
    Rewriter.insert_op([call, leave], before)
    Rewriter.replace_op(op, [], leave.results)


# --- XLA's own shardings ---------------------------------------------------------


def hlo_sharding(
    sharding: TensorSharding, mesh: Mesh, form: Form, manual: Sequence[str] = ()
) -> Attribute:
    """XLA's text, or bytes, of a sharding over full axes.

    Args:
        sharding: of a tensor, which is local along `manual` axes.
        mesh: with natural or other device order.
        form: how devices are written.
        manual: axes along which devices are on their own.
    """
    names = [[axis.name for axis in dim.axes] for dim in sharding.dims]
    used = {name for dim in names for name in dim} | set(manual)
    rest = [name for name in mesh.axis_names if name not in used]
    order = [name for dim in names for name in dim] + list(manual) + rest
    tiles = [prod(map(mesh.axis_size, dim)) for dim in names]
    kinds = [("manual", manual), ("replicated", rest)]
    groups = [(k, prod(map(mesh.axis_size, axes))) for k, axes in kinds if axes]
    groups = [(kind, size) for kind, size in groups if size > 1]
    if max([*tiles, 0]) <= 1 and not any(kind == "manual" for kind, _ in groups):
        return StringAttr("{replicated}")
    if form is not Form.SERIALIZED and not rest and max([*tiles, 0]) <= 1:
        return StringAttr("{manual}")
    places = [mesh.axis_index(name) for name in order]
    devices = np.array(mesh.devices()).reshape(mesh.axis_sizes).transpose(places)
    dims = [*tiles, *(size for _, size in groups)]
    if form is Form.SERIALIZED:
        return _serialized(dims, devices.ravel().tolist(), [kind for kind, _ in groups])
    if form is Form.LISTED or mesh.device_ids:
        after = ",".join(map(str, devices.ravel()))
    else:
        turned = places != sorted(places)
        after = f"<=[{','.join(map(str, mesh.axis_sizes))}]"
        after += f"T({','.join(map(str, places))})" if turned else ""
    text = f"devices=[{','.join(map(str, dims))}]{after}"
    if [kind for kind, _ in groups] == ["replicated"]:
        text += " last_tile_dim_replicate"
    elif groups:
        text += f" last_tile_dims={{{', '.join(kind for kind, _ in groups)}}}"
    return StringAttr(f"{{{text}}}")


def _serialized(dims: list[int], devices: list[int], kinds: list[str]) -> Attribute:
    from jaxlib import xla_client

    proto = xla_client.OpSharding()
    types = xla_client.OpSharding.Type
    proto.type = types.OTHER
    proto.tile_assignment_dimensions = dims
    proto.tile_assignment_devices = devices
    proto.last_tile_dims = [getattr(types, kind.upper()) for kind in kinds]
    return StringAttr(proto.SerializeToString().decode("latin-1"))


def as_gspmd(module: ModuleOp, form: Form) -> str:
    """As JAX without Shardy and torch-xla write it."""
    _, mesh = _only_mesh(module)

    def written(
        sharding: TensorSharding, manual: Sequence[str] = ()
    ) -> dict[str, Attribute]:
        return {HLO: hlo_sharding(sharding, mesh, form, manual)}

    def opened(sharding: TensorSharding) -> str:
        free = [str(i) for i, dim in enumerate(sharding.dims) if not dim.closed]
        return f"unspecified_dims=[{','.join(free)}]" if free else ""

    def constrained(value: SSAValue, said: TensorSharding, *manual: str) -> SSAValue:
        call = _custom_call(
            "Sharding", [value], [value.type], written(said, manual), opened(said)
        )
        Rewriter.insert_op(call, before)
        return call.results[0]

    for op in list(module.walk())[1:]:
        if op.parent is None:
            continue
        before = InsertPoint.before(op)
        match op:
            case sdy.MeshOp():
                Rewriter.erase_op(op)
            case sdy.ShardingConstraintOp():
                value = constrained(op.input, op.sharding.data)
                Rewriter.replace_op(op, [], [value])
            case sdy.ManualComputationOp():
                manual = op.manual_axes.data
                inner = f"shmap_body_{id(op)}"
                local = list(op.body.block.arg_types)
                returned = op.body.block.last_op
                assert returned is not None
                local_results = [value.type for value in returned.operands]
                _body_as_function(op, module, inner)
                arguments: list[SSAValue] = []
                for tensor, said, type in zip(
                    op.tensors, op.in_shardings.data, local, strict=True
                ):
                    whole = TensorSharding.fully_closed(said.mesh, said.rank)
                    enter = _custom_call(
                        "SPMDFullToShardShape",
                        [constrained(tensor, said)],
                        [type],
                        written(whole, manual),
                    )
                    Rewriter.insert_op(enter, before)
                    arguments.append(enter.results[0])
                call = CallOp(inner, arguments, local_results)
                Rewriter.insert_op(call, before)
                results: list[SSAValue] = []
                for value, said, result in zip(
                    call.results, op.out_shardings.data, op.results, strict=True
                ):
                    whole = TensorSharding.fully_closed(said.mesh, said.rank)
                    leave = _custom_call(
                        "SPMDShardToFullShape",
                        [constrained(value, whole, *manual)],
                        [result.type],
                        written(said),
                        opened(said),
                    )
                    Rewriter.insert_op(leave, before)
                    results.append(leave.results[0])
                Rewriter.replace_op(op, [], results)
            case _:
                pass
    for function in [op for op in module.ops if isinstance(op, FuncOp)]:
        sides = [_border(function, results) for results in (False, True)]
        for entry, sharding in (*sides[0], *sides[1]):
            if sharding is not None:
                entry.update(written(sharding))
        _set_entries(function, [[e for e, _ in side] for side in sides])
    return program_text(module)
