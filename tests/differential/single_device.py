"""A program as one device runs it: no shardings, no ops that only speak of them.

text = single_device_text(module)
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tests.printing import printed
from ttxdsl.dialects import sdy

SAME = (
    sdy.ReshardOp,
    sdy.ShardingConstraintOp,
    sdy.PropagationBarrierOp,
    sdy.DataFlowEdgeOp,
)
"""Ops whose result is their operand."""
OF_SEVERAL = ("sdy.", "stablehlo.all_", "stablehlo.collective_", "stablehlo.reduce_s")
"""What other ops are called that only several devices can run."""


def single_device_text(module: ModuleOp) -> str | None:
    """The module without sdy, in generic form.

    Returns:
        None if it has ops for several devices, which one cannot run.
    """
    module = module.clone()
    module.attributes.clear()  # how many partitions JAX wanted
    for op in [*module.walk()]:
        for name in [name for name in op.attributes if name.startswith("sdy.")]:
            del op.attributes[name]
        for name in ("arg_attrs", "res_attrs"):
            op.properties.pop(name, None)
        if isinstance(op, SAME):
            op.results[0].replace_all_uses_with(op.operands[0])
            _erase(op)
        elif isinstance(op, sdy.MeshOp | sdy.ShardingGroupOp):
            _erase(op)
        elif op.name.startswith(OF_SEVERAL):
            return None
    return printed(module, generic=True)


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()
