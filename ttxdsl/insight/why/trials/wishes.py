"""Why a value is not sharded as somebody wishes: what it would cost, what is against it."""

import ast
import re
from collections import defaultdict
from itertools import islice
from typing import cast

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.hints import near_hint
from ttxdsl.dialects import sdy
from ttxdsl.insight.why.answers import Change, Counterfactual, WhyNot, WhySharding
from ttxdsl.insight.why.causes.shardings import Shardings
from ttxdsl.insight.why.names import all_values
from ttxdsl.insight.why.places import Places, sharding_text
from ttxdsl.insight.why.trials.counterfactuals import Counterfactuals
from ttxdsl.insight.why.trials.edits import Edit
from ttxdsl.ir.tensors import shape_of
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding

Spec = tuple[tuple[str, ...], ...]

_WISH = re.compile(r"(.+?)\s*=\s*(?:\w+\.)*(?:P|PartitionSpec)\((.*)\)\s*")
_HINT = "write VALUE=P(…), as x=P('data', None) or %42=P(('data', 'model'),)"


def parse_wish(text: str) -> tuple[str, Spec]:
    """Return the value and the axes of each dimension of `x=P("data", None)`.

    Raises:
        CompileError: it is no such text.
    """
    match = _WISH.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        call = ast.parse(f"P({match[2]})", mode="eval").body
        assert isinstance(call, ast.Call)
        return match[1], tuple(
            _axes(ast.literal_eval(argument)) for argument in call.args
        )
    except (TypeError, ValueError, SyntaxError) as error:
        raise CompileError(
            f"'{text}' says no sharding of a value", hint=_HINT
        ) from error


def _axes(entry: object) -> tuple[str, ...]:
    if entry is None:
        return ()
    axes = [entry] if isinstance(entry, str) else list(cast("list[object]", entry))
    if not all(isinstance(axis, str) for axis in axes):
        raise ValueError
    return tuple(map(str, axes))


def why_not(
    wish: str, places: Places, shardings: Shardings, trials: Counterfactuals
) -> WhyNot:
    """Compile the program with a value sharded as somebody wishes.

    Raises:
        CompileError: there is no such value or axis, or the value cannot be split so.
    """
    name, spec = parse_wish(wish)
    value = _value(name, places)
    mesh_name, mesh = _mesh(places, spec)
    sharding = _sharding(value, spec, mesh_name, mesh)
    given = _is_argument(value, places)
    if given is not None:
        edit = next(trials.annotations.annotated(given.index, sharding))
    else:
        position = places.value(value).position
        text = sharding_text(sharding)
        change = Change("constrain", places.known(value) or name, text, position)
        edit = Edit(change, value, sharding)
    (figures,) = trials.figures_of([(edit,)])
    now: WhySharding | None
    try:
        now = shardings.of(value)
    except CompileError:
        now = None  # the program came partitioned, or nothing uses the value
    outcome = figures and Counterfactual((edit.change,), trials.base, figures)
    return WhyNot(wish, str(edit.change), outcome, now, _against(now, spec))


def _value(name: str, places: Places) -> SSAValue:
    """Return the value of a name in the text, a path, or the words of an answer."""
    try:
        return places.names.find(name)
    except CompileError:
        if name.startswith(("%", "@")):
            raise
        called: dict[str, list[SSAValue]] = defaultdict(list)
        for value in all_values(places.names.module):
            words = places.words.value(value) or ""
            if words == name or words.startswith(f"{name} at line "):
                called[words].append(value)
        if not called:
            raise
    values = [value for of_words in called.values() for value in of_words]
    if len(values) == 1:
        return values[0]
    names = called if len(called) > 1 else filter(None, map(places.names.name, values))
    raise CompileError(
        f"{name} is the name of {len(values)} values",
        hint=f"say which: {', '.join(islice(names, 8))}",
    )


def _is_argument(value: SSAValue, places: Places) -> BlockArgument | None:
    owner = sdy.owning_op(value)
    is_own = isinstance(owner, FuncOp) and owner is places.names.entry
    return value if is_own and isinstance(value, BlockArgument) else None


def _mesh(places: Places, spec: Spec) -> tuple[str, Mesh]:
    """Return the mesh that has all axes of a wish."""
    axes = {axis for dim in spec for axis in dim}
    meshes = sdy.mesh_table(places.recorded.original)
    for name, mesh in meshes.items():
        if mesh.axes and axes <= set(mesh.axis_names):
            return name, mesh
    known = sorted({axis for mesh in meshes.values() for axis in mesh.axis_names})
    missing = sorted(axes - set(known))
    raise CompileError(
        f"no mesh has the axes {', '.join(missing) or 'these together'}",
        hint=near_hint(missing, known, "axes of its meshes"),
    )


def _sharding(value: SSAValue, spec: Spec, name: str, mesh: Mesh) -> TensorSharding:
    shape = shape_of(value)
    if len(spec) > len(shape):
        raise CompileError(
            f"P has {len(spec)} entries for a value of {len(shape)} dimensions", value
        )
    whole = (*spec, *(() for _ in range(len(shape) - len(spec))))
    dims = tuple(DimSharding(tuple(map(AxisRef, axes))) for axes in whole)
    for at, (size, dim) in enumerate(zip(shape, dims, strict=True)):
        if size % (parts := dim.sharded_size(mesh)):
            raise CompileError(
                f"dimension {at} of size {size} cannot be split in {parts} parts", value
            )
    return TensorSharding(name, dims)


def _against(now: WhySharding | None, spec: Spec) -> tuple[str, ...]:
    """Return for each dimension that is otherwise now what made it so."""
    if now is None:
        return ()
    texts: list[str] = []
    for dim in now.dims:
        wished = spec[dim.index] if dim.index < len(spec) else ()
        if tuple(dim.axes) == wished:
            continue
        for cause in dim.causes:
            texts.append(
                f"dimension {dim.index} is split by {cause.axis}: {cause.origin.text}"
            )
        for obstacle in dim.obstacles:
            if obstacle.conflict is not None:
                conflict = obstacle.conflict
                texts.append(
                    f"dimension {dim.index}, at {conflict.place}: {conflict.winner}"
                    f" wins over {conflict.loser}, {conflict.rule}"
                )
            else:
                texts.append(f"dimension {dim.index}: {obstacle.text}")
    return tuple(dict.fromkeys(texts))
