"""Reads a program that is bytes with jaxlib, and answers with its text.

It is a worker (`ttxdsl.loading.worker`), because jaxlib may abort on damaged bytes.
"""

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

_PLATFORM = "_platform_index"
"""JAX's name of the argument that selects one of the platforms of a program."""

_SHARDING_ATTRIBUTES = ("sdy.sharding", "mhlo.sharding", "mhlo.frontend_attributes")
"""Attributes of an argument or result that can hold its sharding."""


_ASSERTION = re.compile(
    r"error: (?:loc\(.*?\): )?(.*?)(?:Using the following| Please see|$)", re.MULTILINE
)
"""The part of a refinement error before the repeated signature."""


_STABLEHLO = re.compile(rb"ML\xefR.(StableHLO_v[\d.]+)\0", re.DOTALL)
"""How a portable artifact begins, with the version that it is for."""


class NotReadable(Exception):
    """The program cannot be read; the text has the reason, `hint` a remedy."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def _import_all(*names: str) -> list[Any]:
    return [import_module(name) for name in names]


def program_text(data: bytes, sizes: Mapping[str, int]) -> str:
    """Return the text of MLIR bytecode or of the bytes of `Exported.serialize`.

    Raises:
        NotReadable: it is neither, or see `exported_text`.
    """
    if not data.startswith(b"ML\xefR"):
        (jax_export,) = _import_all("jax.export")
        try:
            exported: Any = jax_export.deserialize(bytearray(data))
        except Exception as error:
            # flatbuffers are not verified: what is damaged may raise anything
            raise NotReadable(
                f"jax.export does not know it: {_first_line(error)}"
            ) from error
        return exported_text(exported, sizes)
    if sizes:
        raise NotReadable("it has no symbolic dimensions with names")
    (ir,) = _import_all("jaxlib.mlir.ir")
    with _context() as context, ir.Location.unknown(context):
        module = _parsed(data)
        _set_platform(module, 0)
        return _text(module)


def exported_text(exported: Any, sizes: Mapping[str, int]) -> str:
    """The text of a `jax.export.Exported`, with sizes for its symbolic dimensions.

    A program for several platforms is that for CPUs, or for the first of them.

    Raises:
        NotReadable: a symbol has no size or there is no such symbol, the sizes break a
            constraint, or a sharding is not in the program.
    """
    (ir,) = _import_all("jaxlib.mlir.ir")
    kept = [exported.in_avals[index] for index in exported.module_kept_var_idx]
    _require_sizes(exported, sizes)
    with _context() as context, ir.Location.unknown(context):
        module = _parsed(exported.mlir_module_serialized)
        platforms = list(exported.platforms)
        _set_platform(module, platforms.index("cpu") if "cpu" in platforms else 0)
        _require_shardings(exported, module)
        if sizes:
            module = _refined(module, [_shape(aval.shape, sizes) for aval in kept])
        return _text(module)


def _context() -> Any:
    """Return a context with JAX's dialects; other ops stay unparsed."""
    (mlir,) = _import_all("jax._src.interpreters.mlir")
    context: Any = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    # a thread with an error waits for Python's lock, which this thread holds
    context.enable_multithreading(False)
    return context


def _parsed(data: bytes) -> Any:
    """Return the module of bytecode, in the context that is entered."""
    ir, jaxlib, version = _import_all("jaxlib.mlir.ir", "jaxlib._jax", "jaxlib.version")
    # after the magic there are the version of the encoding and who wrote it
    stablehlo = _STABLEHLO.match(data)
    try:
        if stablehlo is not None:
            return jaxlib.mlir.deserialize_portable_artifact(data)
        return ir.Module.parse(data)
    except Exception as error:
        writer = "" if stablehlo is None else f" of {stablehlo[1].decode()}"
        raise NotReadable(
            f"jaxlib {version.__version__} does not read this bytecode{writer}:"
            f" {_first_line(error)}"
        ) from error


def _text(module: Any) -> str:
    return module.operation.get_asm(enable_debug_info=True)


def _main(module: Any) -> Any:
    (ir,) = _import_all("jaxlib.mlir.ir")
    return ir.SymbolTable(module.operation)["main"]


def _symbols(exported: Any) -> list[str]:
    avals = (*exported.in_avals, *exported.out_avals)
    dims = [dim for aval in avals for dim in aval.shape if not isinstance(dim, int)]
    return sorted({name for dim in dims for name in dim._get_vars()})


def _require_sizes(exported: Any, sizes: Mapping[str, int]) -> None:
    symbols = _symbols(exported)
    if unknown := sorted(set(sizes).difference(symbols)):
        known = ", ".join(symbols) or "none"
        raise NotReadable(f"it has no dimension {', '.join(unknown)}, but {known}")
    if missing := [name for name in symbols if name not in sizes]:
        example = ",".join(f"{name}=8" for name in symbols)
        raise NotReadable(
            f"it has symbolic dimensions without a size: {', '.join(missing)}",
            f"say --shapes {example} (shapes= in Python)",
        )


def _shape(shape: Sequence[Any], sizes: Mapping[str, int]) -> list[int]:
    sizes_of_dims = [
        dim if isinstance(dim, int) else int(dim._evaluate(dict(sizes)))
        for dim in shape
    ]
    if any(size < 0 for size in sizes_of_dims):
        raise NotReadable(f"these sizes make a dimension of {shape} negative")
    return sizes_of_dims


def _set_platform(module: Any, index: int) -> None:
    """Put a constant in the place of the argument that says the platform."""
    ir, dialect = _import_all("jaxlib.mlir.ir", "jaxlib.mlir.dialects.stablehlo")
    table = ir.SymbolTable(module.operation)
    if "main" not in table:
        return
    main: Any = table["main"]
    if main.is_external or "arg_attrs" not in main.attributes:
        return
    attributes = list(main.arg_attrs)
    named = [
        number
        for number, attribute in enumerate(attributes)
        if "jax.global_constant" in attribute
        and ir.StringAttr(attribute["jax.global_constant"]).value == _PLATFORM
    ]
    for number in named:
        argument = main.entry_block.arguments[number]
        with ir.InsertionPoint.at_block_begin(main.entry_block):
            value = ir.DenseElementsAttr.get_splat(
                argument.type, ir.IntegerAttr.get(argument.type.element_type, index)
            )
            argument.replace_all_uses_with(dialect.constant(value))
        main.entry_block.erase_argument(number)
        del attributes[number]
        _set_inputs(main)
        main.arg_attrs = ir.ArrayAttr.get(attributes)


def _set_inputs(main: Any) -> None:
    """Make the type of a function that of its block."""
    (ir,) = _import_all("jaxlib.mlir.ir")
    inputs = [argument.type for argument in main.entry_block.arguments]
    type_ = ir.FunctionType.get(inputs, main.type.results)
    main.attributes["function_type"] = ir.TypeAttr.get(type_)


def _refined(module: Any, shapes: Sequence[Sequence[int]]) -> Any:
    """Return the module with static shapes, inferred from those of its arguments."""
    ir, mlir, jaxlib, dialect = _import_all(
        "jaxlib.mlir.ir",
        "jax._src.interpreters.mlir",
        "jaxlib._jax",
        "jaxlib.mlir.dialects.stablehlo",
    )
    main = _main(module)
    # tokens come first; a typed key is an argument of more dimensions, static ones
    arguments = list(main.entry_block.arguments)[-len(shapes) or None :]
    with ir.InsertionPoint.at_block_begin(main.entry_block):
        for argument, shape in zip(arguments, shapes, strict=True):
            old = argument.type
            rest = old.shape[len(shape) :]
            new = ir.RankedTensorType.get([*shape, *rest], old.element_type)
            if new == old:
                continue
            argument.set_type(new)
            converted = dialect.convert(old, argument)
            argument.replace_all_uses_except(converted, converted.owner.operation)
    _set_inputs(main)
    try:
        refined = jaxlib.mlir.refine_polymorphic_shapes(
            mlir_module=mlir.module_to_bytecode(module),
            enable_shape_assertions=True,
            validate_static_shapes=True,
            enable_shardy=True,
        )
    except Exception as error:
        raise NotReadable(f"the sizes do not fit it: {_complaint(error)}") from error
    module = ir.Module.parse(refined)
    arguments = _main(module).entry_block.arguments
    for op in [use.owner for argument in arguments for use in argument.uses]:
        if op.name == "stablehlo.convert" and op.operands[0].type == op.results[0].type:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()
    return module


def _complaint(error: Exception) -> str:
    """Return the message of the first assertion on shapes that fails."""
    match = _ASSERTION.search(str(error))
    return _first_line(error) if match is None else match[1].strip()


def _require_shardings(exported: Any, module: Any) -> None:
    """Raise unless a module has the shardings that its `Exported` lists."""
    main = _main(module)
    if getattr(exported, "_has_named_shardings", False):
        inputs, outputs = exported._in_named_shardings, exported._out_named_shardings
    else:
        inputs, outputs = exported.in_shardings_hlo, exported.out_shardings_hlo
    inputs = [inputs[index] for index in exported.module_kept_var_idx]
    if exported.nr_devices == 1:
        return
    for kind, shardings, key, types in (
        ("argument", inputs, "arg_attrs", main.type.inputs),
        ("result", outputs, "res_attrs", main.type.results),
    ):
        attributes = list(main.attributes[key]) if key in main.attributes else []
        # the tokens of ordered effects come first
        for number, sharding in enumerate(shardings, len(types) - len(shardings)):
            if sharding is None:
                continue
            if not attributes or not any(
                attribute in attributes[number] for attribute in _SHARDING_ATTRIBUTES
            ):
                raise NotReadable(
                    f"{kind} {number} is to be sharded as {sharding}, and the module"
                    " in it does not say so"
                )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def answer(sizes: dict[str, int], data: bytes) -> dict[str, str | None]:
    """Answer `ttxdsl.loading.worker.Worker`: the text of a program, or what is wrong."""
    try:
        return {"text": program_text(data, sizes)}
    except NotReadable as refused:
        return {"error": str(refused), "hint": refused.hint}
