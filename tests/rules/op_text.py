"""The text of functions of one op each, for tests of rules."""

from collections.abc import Iterable

Shape = tuple[int, ...]


def tensor(*shape: int, of: str = "f32") -> str:
    """The text of a tensor type."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{of}>"


def function(arguments: Iterable[str], *ops: str) -> str:
    """A function of arguments `%0`, `%1`, … of these types that returns nothing."""
    listed = ", ".join(f"%{index}: {kind}" for index, kind in enumerate(arguments))
    body = "".join(f"  {op}\n" for op in ops)
    return f"func.func @main({listed}) {{\n{body}  return\n}}\n"


def call(
    name: str,
    operands: Iterable[str],
    results: Iterable[str],
    properties: str = "",
    region: str = "",
) -> str:
    """A function around one op in generic form, from operand to result types."""
    operands, results = list(operands), list(results)
    values = ", ".join(f"%{index}" for index in range(len(operands)))
    result = f"%r:{len(results)} = " if results else ""
    if properties:
        properties = f" <{{{properties}}}>"
    if region:
        region = f" ({{{region}}})"
    return function(
        operands,
        f'{result}"{name}"({values}){properties}{region} : '
        f"({', '.join(operands)}) -> ({', '.join(results)})",
    )


def binary(name: str, *elements: str, first: int = 0) -> str:
    """A region that applies `stablehlo.<name>` to the first two of its arguments."""
    kinds = [tensor(of=element) for element in elements]
    arguments = ", ".join(f"%a{index}: {kind}" for index, kind in enumerate(kinds))
    pairs = len(kinds) // 2
    body = "".join(
        f' %c{index} = "stablehlo.{name}"(%a{index + first}, %a{index + pairs}) : '
        f"({kinds[index]}, {kinds[index]}) -> {kinds[index]}"
        for index in range(pairs)
    )
    values = ", ".join(f"%c{index}" for index in range(pairs))
    return (
        f'^bb0({arguments}):{body} "stablehlo.return"({values}) : '
        f"({', '.join(kinds[:pairs])}) -> ()"
    )


def array_text(values: Iterable[int], element: str = "i64") -> str:
    listed = ", ".join(str(value) for value in values)
    return f"array<{element}: {listed}>" if listed else f"array<{element}>"


def list_text(values: Iterable[int]) -> str:
    return f"[{', '.join(str(value) for value in values)}]"


def limits_text(start: Shape, limit: Shape, strides: Shape) -> str:
    return (
        f"<{{start_indices = {array_text(start)}, limit_indices = {array_text(limit)}, "
        f"strides = {array_text(strides)}}}>"
    )
