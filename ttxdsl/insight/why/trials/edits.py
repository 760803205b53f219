"""Changes of a program, made to copies of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_function,
    set_argument_attributes,
)
from ttxdsl.analysis.values.state import BUFFER_DONOR
from ttxdsl.dialects import sdy
from ttxdsl.insight.why.answers import Change
from ttxdsl.insight.why.trials.spellings import respell
from ttxdsl.loading.program import make_context
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.other_meshes import replace_meshes
from ttxdsl.transforms.shardy.split_dimensions import SharedDimensions
from ttxdsl.transforms.stages.inline import InlinePass


@dataclass(frozen=True, slots=True)
class Edit:
    """A change with what it is made to: values and ops of the program that was given."""

    change: Change
    value: SSAValue | None = None
    sharding: TensorSharding | None = None
    index: int | None = None
    """The number of an argument or result, or of the part that gets a stored one's axes."""
    user: Operation | None = None
    operand: int = 0
    arguments: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    """What is annotated as an argument is."""
    mesh: Mesh | None = None
    """What all meshes of several devices become."""
    spelling: str | None = None
    """Of what makes the value."""
    stored: tuple[int, ...] = ()
    """Sizes that dimensions of arguments become."""
    dims: tuple[int, ...] = ()
    """Those dimensions, one for each argument."""

    def make(self, module: ModuleOp, mapped: dict[SSAValue, SSAValue]) -> None:
        """Change a copy of the program, whose values are `mapped` to its own."""
        value = None if self.value is None else mapped[self.value]
        function = entry_function(module)
        match self.change.kind:
            case "constrain":
                assert value is not None and self.sharding is not None
                user = self.user and mapped[self.user.results[0]].owner
                _constrain(value, self.sharding, user)
            case "annotate argument":
                assert self.index is not None
                sdy.set_func_argument_sharding(function, self.index, self.sharding)
                for index in self.arguments:
                    sdy.set_func_argument_sharding(function, index, self.sharding)
                for index in self.results:
                    sdy.set_func_result_sharding(function, index, self.sharding)
            case "annotate result":
                assert self.index is not None
                sdy.set_func_result_sharding(function, self.index, self.sharding)
            case "remove constraint":
                assert isinstance(value, OpResult)
                Rewriter.replace_op(value.op, [], [value.op.operands[0]])
            case "copy constant":
                assert isinstance(value, OpResult) and self.user is not None
                twin = mapped[self.user.results[0]].owner
                assert isinstance(twin, Operation)
                copy = value.op.clone()
                Rewriter.insert_op(copy, InsertPoint.before(twin))
                twin.operands[self.operand] = copy.results[value.index]
            case "lay out mesh":
                assert self.mesh is not None
                meshes = [op for op in module.ops if isinstance(op, sdy.MeshOp)]
                several = [op for op in meshes if op.mesh.data.total_size > 1]
                replace_meshes(module, dict.fromkeys(several, self.mesh))
            case "respell":
                assert isinstance(value, OpResult) and self.spelling is not None
                respell(value.op, self.spelling, self.sharding)
            case "store argument":
                assert self.index is not None
                InlinePass().apply(make_context(), module)
                inputs = function.body.block.args
                starts = [
                    (inputs[index], dim)
                    for index, dim in zip(self.arguments, self.dims, strict=True)
                ]
                shared = SharedDimensions(module, function)
                shared.split(starts, self.stored, self.index)
            case "donate argument":
                entries = argument_attributes(function)
                for index in self.arguments:
                    entries[index][BUFFER_DONOR] = BoolAttr.from_bool(True)
                set_argument_attributes(function, entries)


def changed(
    original: ModuleOp,
    edits: Sequence[Edit],
    prepare: Callable[[ModuleOp], None] | None = None,
) -> ModuleOp:
    """A copy of a program with changes; `prepare` is given it before."""
    mapped: dict[SSAValue, SSAValue] = {}
    module = original.clone(mapped)
    if prepare is not None:
        prepare(module)
    # values are other ones once functions are inlined
    ordered = sorted(edits, key=lambda edit: bool(edit.stored or edit.mesh))
    for at, edit in enumerate(ordered):
        _numbered_after(edit, ordered[:at]).make(module, mapped)
    return module


def _numbered_after(edit: Edit, earlier: Sequence[Edit]) -> Edit:
    """Return an edit with the numbers that its dimensions have after others split some."""

    def moved(index: int, dim: int) -> int:
        return dim + sum(
            len(other.stored) - 1
            for other in earlier
            for argument, split in zip(other.arguments, other.dims, strict=False)
            if argument == index and split < dim
        )

    return replace(edit, dims=tuple(map(moved, edit.arguments, edit.dims)))


def _constrain(
    value: SSAValue, sharding: TensorSharding, user: Operation | Block | None
) -> None:
    """Put a constraint behind a value, for all its users or for one."""
    constraint = sdy.ShardingConstraintOp(value, sharding)
    owner = value.owner
    if isinstance(owner, Block):
        point = InsertPoint.at_start(owner)
    else:
        point = InsertPoint.after(owner)
        constraint.location = owner.location
    Rewriter.insert_op(constraint, point)
    value.replace_uses_with_if(
        constraint.result,
        lambda use: use.operation is not constraint and user in (None, use.operation),
    )
