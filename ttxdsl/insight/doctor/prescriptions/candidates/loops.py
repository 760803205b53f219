"""State that is gathered before a loop, once instead of in each iteration.

A step that accumulates gradients over micro-batches gathers the parameters of FSDP in each.
Held whole in the loop they are gathered once, and gradients are scattered once behind it.
"""

from collections.abc import Collection, Iterator

from xdsl.dialects.func import FuncOp

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.insight.doctor.prescriptions.candidates.changes import Candidate
from ttxdsl.insight.doctor.prescriptions.candidates.lines import SourcePlace
from ttxdsl.insight.why.answers import Change
from ttxdsl.insight.why.places import sharding_text, spec_text
from ttxdsl.insight.why.trials.edits import Edit
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.spec import TensorSharding

_BEFORE = "# before the loop, for it alone: what follows keeps the shards"


def gathered_before_loops(
    function: FuncOp, state: Collection[int], axes: Collection[str]
) -> Iterator[Candidate]:
    """Yield for each axis the state along it that loops take, whole in all of them.

    Args:
        function: the entry of a program before stage 1.
        state: the numbers of its arguments that are state.
        axes: of the mesh, of several devices.
    """
    for axis in axes:
        edits: list[Edit] = []
        lines: list[str] = [_BEFORE]
        places: list[SourcePlace] = []
        for index in state:
            given = sdy.get_func_argument_sharding(function, index)
            argument = function.body.block.args[index]
            uses = [
                use
                for use in argument.uses
                if isinstance(use.operation, stablehlo.WhileOp)
            ]
            if given is None or not uses or AxisRef(axis) not in given.sharding_axes:
                continue
            whole = _without(given, axis)
            place = SourcePlace.of_argument(function, index)
            name = place.name
            places.append(place)
            lines.append(
                f"{name} = jax.lax.with_sharding_constraint({name}, {spec_text(whole)})"
            )
            change = Change("constrain", name, sharding_text(whole), place.position)
            edits += [
                Edit(change, argument, whole, user=use.operation, operand=use.index)
                for use in uses
            ]
        if edits:
            targets = tuple(("in loops", edit.value) for edit in edits)
            write = "\n".join(lines)
            yield Candidate("constraint", write, tuple(places), tuple(edits), targets)


def _without(sharding: TensorSharding, axis: str) -> TensorSharding:
    return TensorSharding(
        sharding.mesh,
        tuple(
            dim.with_axes(tuple(a for a in dim.axes if a.name != axis))
            for dim in sharding.dims
        ),
    )
