"""Run passes by name on text, as `xdsl-opt` does, without a process for each."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import PassPipeline
from xdsl.universe import Universe


def parse(text: str) -> tuple[Context, ModuleOp]:
    """A verified module, and the context that it was read in."""
    context = Context(allow_unregistered=True)
    for name, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    module.verify()
    return context, module


def run_passes(text: str, passes: str) -> str:
    """The verified module after `passes`."""
    context, module = parse(text)
    available = Universe.get_multiverse().all_passes
    PassPipeline.parse_spec(available, passes).apply(context, module)
    module.verify()
    return str(module)
