"""`pad-carries`: grow carries of loops that their shardings do not divide.

`even-out-shardings` would keep a carry of 50x50 elements whole in every iteration. Here
it is carried with as many elements as the axes divide: the body slices its 50 off first
and pads what it returns, as `pad-borders` does. What is in between lies between even
values, and `frame-uneven-values` splits it. Every read goes through the slice and every
write through the pad, so numbers stay.

A loop that sends nothing with whole carries may send more with split ones, so the
pipeline compiles both and takes what sends less.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.emitter import Emitter
from ttxdsl.transforms.shardy.meshes import MeshOf, mesh_lookup
from ttxdsl.transforms.stages.pad_borders import Tensor, even_type

Sent = Callable[[Context, ModuleOp], int]
"""A function that returns the bytes sent if a module, which it changes, goes on from
stage 8."""


@dataclass(frozen=True, slots=True, eq=False)
class _Carry:
    """A carry that grows."""

    loop: stablehlo.WhileOp
    index: int
    type: Tensor
    sharding: TensorSharding

    def grow(self) -> None:
        """Let the carry grow, in place."""
        loop, index = self.loop, self.index
        end = loop.body.block.last_op
        assert end is not None, "a loop returns"
        for user in (loop, end):
            pad = Emitter(Block(), user.location)
            value = user.operands[index]
            sizes = zip(self.type.get_shape(), shape_of(value), strict=True)
            high = [now - before for now, before in sizes]
            filler = pad.number(0, element_of(value))
            user.operands[index] = pad.pad(value, filler, [0] * len(high), high)
            sdy.set_sharding(user.operands[index], self.sharding)
            Rewriter.inline_block(pad.block, InsertPoint.before(user))
        for region in (loop.cond, loop.body):
            block = region.block
            self._cut(block.args[index], InsertPoint.at_start(block))
        self._cut(loop.results[index], InsertPoint.after(loop))

    def _cut(self, value: SSAValue, point: InsertPoint) -> None:
        """Let a value grow, and its users read what it was."""
        shape = shape_of(value)
        grown = Rewriter.replace_value_with_new_type(value, self.type)
        uses = list(grown.uses)
        if not uses:
            return
        emit = Emitter(Block(), self.loop.location)
        cut = emit.slice(grown, [0] * len(shape), shape)
        sdy.set_sharding(cut, self.sharding)
        for use in uses:
            use.operation.operands[use.index] = cut
        Rewriter.inline_block(emit.block, point)


def _uneven_carries(module: ModuleOp, mesh_of: MeshOf) -> list[_Carry]:
    """Return the carries that their axes do not divide, in order of the program."""
    carries: list[_Carry] = []
    for function in entry_functions(module):
        for loop in ops_of_type(function, stablehlo.WhileOp):
            for result in loop.results:
                sharding = sdy.get_sharding(result)
                if sharding is None or sharding.unreduced:
                    continue
                type_ = even_type(result.type, sharding, mesh_of)
                if type_ is not None:
                    carries.append(_Carry(loop, result.index, type_, sharding))
    return carries


@dataclass(frozen=True)
class PadCarriesPass(ModulePass):
    """Pad carries of loops to sizes that their axes divide.

    Options:
        sent: the rest of the pipeline; the carries stay as they are where devices then
            send no less.
    """

    name = "pad-carries"

    sent: Sent | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        carries = _uneven_carries(op, mesh_lookup(op))
        if not carries:
            return
        if self.sent is not None and not self._pays(ctx, op):
            return
        for carry in carries:
            carry.grow()

    def _pays(self, ctx: Context, module: ModuleOp) -> bool:
        assert self.sent is not None, "asked before"
        before, after = module.clone(), module.clone()
        with collect_remarks():
            PadCarriesPass().apply(ctx, after)
            try:
                return self.sent(ctx, after) < self.sent(ctx, before)
            except CompileError:
                return False
