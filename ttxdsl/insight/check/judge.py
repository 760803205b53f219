"""Taking one step, and holding what it made against what it should compute."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError, VerifyException

from ttxdsl.analysis.boundary import results_of
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.conversion.driver import run_passes
from ttxdsl.costs.units import number_ranges
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.sdy import mesh_table
from ttxdsl.dialects.ttcore import ARGUMENT_TYPE_ATTRIBUTE, SHARD_STATUS_ATTRIBUTE
from ttxdsl.insight.check.failure import (
    Failure,
    Mode,
    Spot,
    axis_names,
    place_of,
    wrong_element,
)
from ttxdsl.insight.check.rounding import hold
from ttxdsl.insight.check.steps import Step
from ttxdsl.insight.check.trials import Trial
from ttxdsl.interpreters.compare import compare
from ttxdsl.interpreters.mesh.collectives import same_values
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.runtime.limits import NO_LIMITS, Limits
from ttxdsl.interpreters.runtime.regions import LimitError
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.state import is_same, state_of
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import ReductionKind, TensorSharding
from ttxdsl.transforms.partition.layout import without_trivial
from ttxdsl.transforms.pipeline import COLLECTIVES_STAGE, LOCAL_STAGE, RESHARDS_STAGE
from ttxdsl.transforms.shardy.meshes import mesh_lookup


class ComputedState:
    """The part of a module that a run reads: modules that agree in it compute the same.

    Of shardings a run reads those of manual computations alone, and of these the axes.
    """

    def __init__(self) -> None:
        self._parts = IdentityMemo[Attribute | None]()

    def of(self, module: ModuleOp) -> list[object]:
        """Return the state of what a run reads; see `state.is_same`."""
        return state_of(module, self._part)

    def _part(self, name: str, attribute: Attribute) -> Attribute | None:
        """Return what a run reads of an attribute or property of an op."""
        if is_unread(name):
            return None
        is_boundary = name in ("arg_attrs", "res_attrs")
        if not is_boundary and type(attribute) is not sdy.TensorShardingPerValueAttr:
            return attribute
        key = id(attribute)
        if key not in self._parts:
            part = _boundary(attribute) if is_boundary else _closed(attribute)
            self._parts.keep(key, part, attribute)
        return self._parts[key]


def is_unread(name: str) -> bool:
    """Return whether no run reads attributes of this name."""
    return sdy.is_of_sdy(name) or name in (
        ARGUMENT_TYPE_ATTRIBUTE,
        SHARD_STATUS_ATTRIBUTE,
    )


def _boundary(attribute: Attribute) -> Attribute | None:
    """Return what a run reads of the arguments or results of a function."""
    entries = [
        {name: value for name, value in entry.data.items() if not is_unread(name)}
        for entry in cast("ArrayAttr[DictionaryAttr]", attribute).data
    ]
    return ArrayAttr(map(DictionaryAttr, entries)) if any(entries) else None


def _closed(attribute: Attribute) -> Attribute:
    shardings = cast(sdy.TensorShardingPerValueAttr, attribute).data
    distinct = {id(sharding): sharding for sharding in shardings}
    closed = {key: sharding.closed_like() for key, sharding in distinct.items()}
    return sdy.TensorShardingPerValueAttr(
        closed[id(sharding)] for sharding in shardings
    )


@dataclass
class Judge:
    """Takes steps with one program and tells the first that goes wrong.

    Attributes:
        names: the axes of the mesh, for forms of the program that do not name them.
        reshards: the last stage that put reshards in, to blame if they are not right.
    """

    trials: Sequence[Trial]
    context: Context
    limits: Limits = NO_LIMITS
    names: tuple[str, ...] = ()
    reshards: Step | None = field(default=None)
    _undecided: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    _computation: ComputedState = field(default_factory=ComputedState)
    _runner: Runner | None = None
    """The runner of the program that the last step made."""

    @property
    def undecided(self) -> tuple[str, ...]:
        """Results that a step changed by no more than rounding may, for each trial."""
        return tuple(
            f"result{'s' if len(results) > 1 else ''} {number_ranges(sorted(results))}"
            f" on {trial}"
            for trial, results in self._undecided.items()
        )

    def take(self, step: Step, module: ModuleOp) -> Failure | None:
        """Take a step, changing the module in place; None if all is well.

        A program of which the step leaves all that a run reads computes what it did.

        Raises:
            CompileError: the step refuses the program, which is no fault of it.
        """
        self._remember_axes(module)
        split = _shardings(module) if step.number == COLLECTIVES_STAGE else None
        before, self._runner = self._computation.of(module), None
        failure = self._apply(step, module)
        if failure is None and split is not None:
            failure = _compare_shardings(step, split, _shardings(module))
        if step.number == RESHARDS_STAGE:
            self.reshards = step
        if failure is not None:
            return failure
        if is_same(before, self._computation.of(module)):
            return None
        self._remember_axes(module)
        for trial in self.trials:
            failure = self.run(step, module, trial)
            if failure is not None:
                return failure
        return None

    def _remember_axes(self, module: ModuleOp) -> None:
        for mesh in mesh_table(module).values():
            if mesh.axes:
                self.names = mesh.axis_names
                return

    def _apply(self, step: Step, module: ModuleOp) -> Failure | None:
        try:
            for _ in run_passes(self.context, module, [step.compiler_pass]):
                pass
        except UnsupportedError:
            raise
        except CompileError as error:
            if step.number == LOCAL_STAGE and self.reshards is not None:
                # it takes the shardings as they are; that they fit together is what
                # the stage that inserts reshards promises
                return Failure(
                    self.reshards,
                    Mode.INCONSISTENT,
                    f"{step} cannot go on from it: {_without_hint(error)}",
                )
            raise
        except VerifyException as error:
            return Failure(step, Mode.INVALID, str(error).strip())
        except Exception as error:
            return Failure(step, Mode.CRASHED, f"{type(error).__name__}: {error}")
        try:
            step.verify(module)
        except (VerifyException, CompileError) as error:
            return Failure(step, Mode.INVALID, str(error).strip())
        return None

    def run(self, step: Step, module: ModuleOp, trial: Trial) -> Failure | None:
        """Hold the program that a step made against one trial."""
        try:
            if self._runner is None:
                self._runner = Runner(module, limits=self.limits)
            results = self._runner.run(trial.inputs)
        except LimitError:
            raise
        except ReplicaMismatchError as error:
            return self._replicas(step, module, trial, error)
        except (CompileError, InterpretationError, ValueError) as error:
            return Failure(step, Mode.STOPS, str(error), trial.name, trial.tagged)
        if len(results) != len(trial.expected):
            message = f"{len(results)} results instead of {len(trial.expected)}"
            return Failure(step, Mode.STOPS, message, trial.name, trial.tagged)
        for at, (result, expected) in enumerate(
            zip(results, trial.expected, strict=True)
        ):
            if result.shape != expected.shape or result.dtype != expected.dtype:
                message = (
                    f"result {at} is {result.shape} of {result.dtype} instead of"
                    f" {expected.shape} of {expected.dtype}"
                )
                return Failure(step, Mode.STOPS, message, trial.name, trial.tagged)
            if result.tobytes() == expected.tobytes():
                continue
            if trial.exact[at]:
                comparison = compare(result, expected, rtol=0.0, atol=0.0)
            else:
                runs = partial(trial.rounded, at)
                comparison = hold(result, expected, trial.summed, runs)
                if comparison.rounded and comparison.equal:
                    self._undecided.setdefault(trial.name, set()).add(at)
            if not comparison.equal:
                first = comparison.first
                assert first is not None, "there is one where arrays differ"
                wrong = wrong_element(
                    at,
                    first,
                    result[first],
                    expected,
                    comparison.differing,
                    is_tag=trial.tagged and trial.exact[at],
                )
                place = self._place(module, at, first, result.shape)
                return Failure(
                    step,
                    Mode.DIFFERS,
                    "",
                    trial.name,
                    trial.tagged,
                    wrong,
                    place,
                )
        return None

    def _replicas(
        self, step: Step, module: ModuleOp, trial: Trial, error: ReplicaMismatchError
    ) -> Failure:
        """The element that is wrong where two devices hold different ones."""
        function = entry_function(module)
        place = Spot(error.coordinates, error.index)
        failure = Failure(
            step,
            Mode.REPLICAS,
            error.message,
            trial.name,
            trial.tagged,
            place=place,
        )
        end = function.body.block.last_op
        assert isinstance(end, ReturnOp)
        result = next((at for at, x in enumerate(end.operands) if x is error.value), -1)
        layout = results_of(function)[result].layout if result >= 0 else None
        if layout is None:
            return failure
        expected, mesh = trial.expected[result], layout.mesh
        for coordinates, actual in (
            (error.coordinates, error.found),
            (error.replica, error.expected),
        ):
            position = [coordinates[name] for name in mesh.axis_names]
            index = layout.element_at(position, error.index, expected.shape)
            if not bool(same_values(np.asarray(actual), expected[index])):
                is_tag = trial.tagged and trial.exact[result]
                wrong = wrong_element(result, index, actual, expected, is_tag=is_tag)
                names = axis_names(layout, self.names)
                device = dict(zip(names, position, strict=True))
                return replace(
                    failure,
                    message="",
                    element=wrong,
                    place=Spot(device, error.index),
                )
        return failure

    def _place(
        self,
        module: ModuleOp,
        result: int,
        index: tuple[int, ...],
        shape: tuple[int, ...],
    ) -> Spot | None:
        if not any(_has_devices(op) for op in module.walk()):
            return None
        layout = results_of(entry_function(module))[result].layout
        return place_of(layout, index, shape, self.names)


def _has_devices(op: Operation) -> bool:
    """Whether an op makes values of devices: before it there are none to blame."""
    if isinstance(op, sdy.ManualComputationOp):
        return bool(op.manual_axes.data)
    return op.name in ("ttir.mesh_shard", "ttnn.mesh_shard")


def _without_hint(error: CompileError) -> str:
    """The error for somebody who looks for what is wrong with the compiler."""
    place = f"{error.position}: " if error.position else ""
    op = f"'{error.op_name}': " if error.op_name else ""
    return f"{place}{op}{error.message}"


_MeshOf = Callable[[TensorSharding], Mesh]

Split = tuple[str, tuple[str, ...]]
"""An op and, for each operand, how it is split, as text."""


def _axes(sharding: TensorSharding | None, mesh_of: _MeshOf) -> str:
    """Return the text of a split, without axes of one device, which split nothing."""
    if sharding is None:
        return "nothing"
    mesh = mesh_of(sharding)
    dims = [without_trivial(dim.axes, mesh) for dim in sharding.dims]
    listed = (f"{{{', '.join(map(str, axes))}}}" for axes in dims)
    split = f"[{', '.join(listed)}]"
    unreduced = without_trivial(sharding.unreduced, mesh)
    if unreduced:
        along = ", ".join(map(str, unreduced))
        is_sum = sharding.reduction is ReductionKind.SUM
        parts = "unreduced" if is_sum else f"{sharding.reduction.value} unreduced"
        return f"{split}, {parts} along {along}"
    return split if any(dims) else "nothing"


def _shardings(module: ModuleOp) -> list[Split]:
    """Return the split of every operand of every op, in program order.

    Of the ops of sdy only returns count: stages may replace reshards and collectives.
    """
    mesh_of = mesh_lookup(module)
    splits: list[Split] = []
    for op in module.walk():
        moves = op.name.startswith("sdy.") and not isinstance(op, sdy.ReturnOp)
        if moves or isinstance(op, ModuleOp | FuncOp | ReturnOp):
            continue
        split = tuple(_axes(sdy.get_sharding(value), mesh_of) for value in op.operands)
        splits.append((op.name, split))
    return splits


def _compare_shardings(
    step: Step, before: Sequence[Split], after: Sequence[Split]
) -> Failure | None:
    """A stage that moves data must leave every op what it asked for."""
    for (name, split), (new_name, new_split) in zip(before, after, strict=False):
        if name != new_name:
            break
        for at, (axes, new_axes) in enumerate(zip(split, new_split, strict=False)):
            if axes != new_axes:
                message = (
                    f"operand {at} of '{name}' was split as {axes} and is now split"
                    f" as {new_axes}"
                )
                return Failure(step, Mode.INCONSISTENT, message)
    if len(before) != len(after):
        message = f"{len(before)} ops that compute have become {len(after)}"
        return Failure(step, Mode.INCONSISTENT, message)
    return None
