"""Reading and writing the attribute dictionaries of function arguments and results.

MLIR keeps them as one optional array of dictionaries beside the function type; these
helpers let passes speak of one entry at a time.
"""

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.hints import near_hint
from ttxdsl.dialects import stablehlo


def entry_functions(module: ModuleOp) -> list[FuncOp]:
    """Return the functions with a body that callers from outside may use, in order.

    A function that ends in `stablehlo.return` is the body of a custom call, such as the
    comparator of JAX's `approx_max_k`, and not meant.
    """
    return [
        op
        for op in module.ops
        if isinstance(op, FuncOp)
        and not op.is_declaration
        and op.sym_visibility != StringAttr("private")
        and not _is_body_of_call(op)
    ]


def entry_function(module: ModuleOp, entry: str | None = None) -> FuncOp:
    """Return the function of a run: `entry`, or `main`, or the only public one.

    Raises:
        CompileError: there is none, or several could be meant.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    if entry is not None:
        if entry not in functions:
            raise CompileError(
                f"the module has no function @{entry}",
                module,
                hint=near_hint(
                    [f"@{entry}"], (f"@{n}" for n in functions), "functions"
                ),
            )
        return functions[entry]
    if "main" in functions:
        return functions["main"]
    public = entry_functions(module)
    if len(public) != 1:
        names = ", ".join("@" + op.sym_name.data for op in public) or "none"
        raise CompileError(
            f"no function @main, and the public functions are: {names}",
            module,
            hint="call the one that runs first @main",
        )
    return public[0]


def _is_body_of_call(function: FuncOp) -> bool:
    last = function.body.blocks.last
    return last is not None and isinstance(last.last_op, stablehlo.ReturnOp)


def _as_dicts(
    attributes: ArrayAttr[DictionaryAttr] | None, count: int
) -> list[dict[str, Attribute]]:
    if attributes is None:
        return [{} for _ in range(count)]
    return [dict(entry.data) for entry in attributes]


def _as_array(
    entries: Sequence[Mapping[str, Attribute]],
) -> ArrayAttr[DictionaryAttr] | None:
    """MLIR prints dictionaries by name and omits the array if all are empty."""
    if not any(entries):
        return None
    return ArrayAttr([DictionaryAttr(dict(sorted(entry.items()))) for entry in entries])


def argument_attributes(function: FuncOp) -> list[dict[str, Attribute]]:
    """Return a copy of the attributes of each argument."""
    return _as_dicts(function.arg_attrs, len(function.function_type.inputs))


def result_attributes(function: FuncOp) -> list[dict[str, Attribute]]:
    """Return a copy of the attributes of each result."""
    return _as_dicts(function.res_attrs, len(function.function_type.outputs))


def result_names(function: FuncOp) -> list[str | None]:
    """Return the path of each result, `result[0]['w']`, None where JAX wrote none."""
    names: list[str | None] = []
    for entry in result_attributes(function):
        info = entry.get("jax.result_info")
        path = info.data if isinstance(info, StringAttr) else ""
        names.append(f"result{path}" if path.startswith("[") else path or None)
    return names


def set_argument_attributes(
    function: FuncOp, entries: Sequence[Mapping[str, Attribute]]
) -> None:
    """Replace the attributes of all arguments."""
    function.arg_attrs = _as_array(entries)


def set_result_attributes(
    function: FuncOp, entries: Sequence[Mapping[str, Attribute]]
) -> None:
    """Replace the attributes of all results."""
    function.res_attrs = _as_array(entries)


def change_attributes(
    function: FuncOp,
    change: Callable[[dict[str, Attribute], Attribute], Mapping[str, Attribute]],
) -> None:
    """Replace the attributes of each argument and result by `change` of them.

    `change` gets a copy of the attributes, and the type of the value.
    """
    types = function.function_type
    arguments = map(change, argument_attributes(function), types.inputs)
    results = map(change, result_attributes(function), types.outputs)
    set_argument_attributes(function, [*arguments])
    set_result_attributes(function, [*results])
