"""JAX code of the doctor's mesh and of the axes of each argument, to be pasted."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ttxdsl.diagnostics.errors import place_text
from ttxdsl.insight.doctor.meshes import Candidate
from ttxdsl.insight.doctor.schemes import FULLY_SHARDED

_NUMBER = re.compile(r"\d+")

Spec = tuple[tuple[str, ...], ...]
"""The axes of each dimension."""


def axis_names(candidate: Candidate) -> tuple[str, ...]:
    """Names of axes that code can have: of those that split several groups, `model`."""
    names: list[str] = []
    for name, _ in candidate.axes:
        short = name if name.isidentifier() else "model"
        if (first := name.partition("+")[0]) in ("batch", FULLY_SHARDED):
            short = first
        count = 2
        unique = short
        while unique in names:
            unique, count = f"{short}_{count}", count + 1
        names.append(unique)
    return tuple(names)


def partition_specs(
    candidate: Candidate, arguments: Sequence[tuple[str, int]]
) -> dict[str, Spec]:
    """For each argument by its name the axes of its dimensions.

    Args:
        candidate: one with splits.
        arguments: the name and the rank of each argument.
    """
    dims: list[list[tuple[str, ...]]] = [[()] * rank for _, rank in arguments]
    for axis, split in zip(axis_names(candidate), candidate.splits or (), strict=True):
        for dim in split:
            mine = dims[dim.argument]
            mine[dim.dim] = (*mine[dim.dim], axis)
    return {name: tuple(mine) for (name, _), mine in zip(arguments, dims, strict=True)}


def spec_text(spec: Spec) -> str:
    """`P("batch", None, ("model", "fsdp"))`, without what is whole at the end."""
    parts = [_axes_text(axes) if axes else "None" for axes in spec]
    while parts and parts[-1] == "None":
        parts.pop()
    return f"P({', '.join(parts)})"


def _axes_text(axes: Sequence[str]) -> str:
    return f'"{axes[0]}"' if len(axes) == 1 else _tuple_text(axes)


def _tuple_text(names: Sequence[str]) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"({quoted}{',' if len(names) == 1 else ''})"


def jax_code(
    candidate: Candidate,
    arguments: Sequence[tuple[str, int]],
    most: int | None = None,
    becomes: Mapping[int, int] | None = None,
) -> Iterator[str]:
    """Lines of Python: the mesh, and the spec of each argument by its path.

    Paths that differ in numbers only, as those of layers, are one with `*` for each.

    Args:
        most: lines for arguments, and for constraints; all if None.
        becomes: the result that an argument becomes, by their indices.
    """
    names, count = axis_names(candidate), len(candidate.axes)
    shape = ", ".join(str(size) for _, size in candidate.axes)
    shape += "," if count == 1 else ""
    yield f"mesh = jax.make_mesh(({shape}), {_tuple_text(names)},"
    yield f"                     axis_types=(jax.sharding.AxisType.Auto,) * {count})"
    specs = partition_specs(candidate, arguments)
    texts = {name: spec_text(spec) for name, spec in specs.items()}
    lines = [(path, text) for path, text in starred(texts) if text != "P()"]
    whole = sum(not any(spec) for spec in specs.values())
    yield "specs = {" + (f"  # and P() for {whole} others" if whole else "")
    for path, text in lines[:most]:
        yield f'    "{path}": {text},'
    if most is not None and len(lines) > most:
        yield f"    # … and {len(lines) - most} more: --json has them"
    yield "}"
    if becomes:
        results = "1 result" if len(becomes) == 1 else f"{len(becomes)} results"
        yield f"# out_shardings: {results} that arguments become as these"
    yield from _constraints(candidate, most)


def starred(texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return texts by path; paths that differ in numbers only are one with `*` for each."""
    alike: dict[str, dict[str, str]] = {}
    for path, text in texts.items():
        alike.setdefault(_NUMBER.sub("*", path), {})[path] = text
    lines: list[tuple[str, str]] = []
    for star, group in alike.items():
        if len(group) > 1 and len({*group.values()}) == 1:
            group = {star: next(iter(group.values()))}
        lines += group.items()
    return lines


def _constraints(candidate: Candidate, most: int | None) -> Iterator[str]:
    """Yield code that constrains results; comments say where to call it."""
    if not candidate.constraints:
        return
    yield "U = P.UNCONSTRAINED"
    yield "def keep(x, *dims):"
    yield "    sharding = jax.sharding.NamedSharding(mesh, P(*dims))"
    yield "    return jax.lax.with_sharding_constraint(x, sharding)"
    written = (name for name, _ in candidate.axes)
    names = dict(zip(written, axis_names(candidate), strict=True))
    calls: dict[str, dict[str, None]] = {}
    for constraint in candidate.constraints:
        dims = (
            _axes_text([names[axis] for axis in axes]) if axes else "U"
            for axes in constraint.dims
        )
        text = f"x = keep(x, {', '.join(dims)})"
        place = place_text(constraint.position, constraint.function) or "?"
        calls.setdefault(text, {})[place] = None
    for text, places in list(calls.items())[:most]:
        few = list(places)[:4]
        more = f" and {len(places) - len(few)} more lines" if len(places) > 4 else ""
        yield f"# behind what is computed at {', '.join(few)}{more}:"
        yield f"#     {text}"
