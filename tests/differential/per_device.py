"""A program of one device on all devices: what `sdy-convert-global-to-local` made."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Region
from xdsl.rewriter import Rewriter

from tests.differential.partitioning import Array
from ttxdsl.dialects import sdy
from ttxdsl.interpreters.run import entry_function, run_module
from ttxdsl.program import parse_program
from ttxdsl.sharding.spec import TensorSharding


def run_everywhere(
    text: str, whole: ModuleOp, arguments: Sequence[Array]
) -> tuple[Array, ...]:
    """The results of a device's program for whole arguments.

    Args:
        text: the program; what its function's arguments and results are parts of, and
            which, their shardings say.
        whole: the program that it was made of.
        arguments: one a whole argument.
    """
    module = parse_program(text)
    meshes = sdy.mesh_table(module)
    function, types = entry_function(module), entry_function(whole).function_type
    ends = (
        *sdy.func_argument_shardings(function),
        *sdy.func_result_shardings(function),
    )
    named = {one.mesh for one in ends if one is not None and not one.is_replicated}
    # resolving reversals makes meshes whose devices are in another order
    name = max(
        meshes,
        key=lambda one: (
            one in named,
            meshes[one].total_size,
            not meshes[one].device_ids,
        ),
    )

    def placed(
        shardings: Sequence[TensorSharding | None], types: Sequence[Attribute]
    ) -> list[TensorSharding]:
        return [
            TensorSharding.fully_closed(name, sdy.tensor_rank(type_))
            if sharding is None or sharding.is_replicated
            else sharding.closed_like()
            for sharding, type_ in zip(shardings, types, strict=True)
        ]

    ins = placed(sdy.func_argument_shardings(function), types.inputs.data)
    outs = placed(sdy.func_result_shardings(function), types.outputs.data)
    for op in module.walk():
        op.attributes.pop(sdy.SHARDING, None)
    body = function.body.detach_block(0)
    returned = body.last_op
    assert isinstance(returned, ReturnOp)
    Rewriter.replace_op(returned, sdy.ReturnOp(*returned.operands))
    outer = Block(arg_types=types.inputs.data)
    function.body.add_block(outer)
    computation = sdy.ManualComputationOp(
        outer.args, ins, outs, meshes[name].axis_names, Region(body), types.outputs.data
    )
    outer.add_ops([computation, ReturnOp(*computation.results)])
    function.function_type = types
    return run_module(module, arguments)
