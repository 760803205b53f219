"""Short ways to write ttir and ttnn test programs, and to read any."""

from collections.abc import Callable
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.parser import Parser
from xdsl.universe import Universe


@cache
def _dialects() -> dict[str, Callable[[], Dialect]]:
    """The dialects that xDSL finds, looked for once."""
    return Universe.get_multiverse().all_dialects


def parse(text: str, *, verify: bool = True) -> ModuleOp:
    context = Context()
    for name, factory in _dialects().items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    if verify:
        module.verify()
    return module


def expand(type: str) -> str:
    """`@2x3xf32` is a tensor on the mesh, `2x3xf32` one on the host."""
    if type.startswith("@"):
        return f'tensor<{type[1:]}, #ttcore.tensor_mesh<"mesh">>'
    return type if type.startswith(("!", "tensor")) else f"tensor<{type}>"


def program(op: str, properties: str, operands: str, results: str) -> str:
    """A function that holds one op; types as for `expand`, separated by spaces."""
    types = [expand(type) for type in operands.split()]
    values = [f"%{number}" for number in range(len(types))]
    arguments = ", ".join(f"{v}: {t}" for v, t in zip(values, types, strict=True))
    wanted = [expand(type) for type in results.split()]
    answer = wanted[0] if len(wanted) == 1 else f"({', '.join(wanted)})"
    said = f" <{{{properties}}}>" if properties else ""
    return f"""
    module attributes {{ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>}} {{
      func.func @f({arguments}) {{
        %r:{len(wanted)} = "{op}"({", ".join(values)}){said} : ({", ".join(types)}) -> {answer}
        return
      }}
    }}
    """
