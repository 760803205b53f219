"""Mend: xDSL does not say which pass or option a misspelt one is near.

`xdsl-opt -p canonicalise` ends in "Unrecognized passes: ['canonicalise']", and a wrong
option in a list of all options as Python spells them. The same errors end in what may
have been meant. Nothing is looked up unless a pipeline is wrong.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from xdsl.passes import ModulePass, PassPipeline, get_pass_option_infos
from xdsl.utils.arg_spec import parse_pipeline

from ttxdsl.ir.near_names import near_names

Passes = Mapping[str, Callable[[], type[ModulePass]]]


def _near_in(passes: Passes, pipeline: str) -> Iterator[str]:
    """Yield for each unknown pass or option the known names that are close to it."""
    for spec in parse_pipeline(pipeline):
        if spec.name not in passes:
            yield from near_names(spec.name, passes)
            continue
        infos = get_pass_option_infos(passes[spec.name]())
        options = [info.name.replace("_", "-") for info in infos]
        for given in spec.parameters:
            name = given.replace("_", "-")
            if name not in options:
                near = near_names(name, options)
                yield from (f"{spec.name}{{{option}}}" for option in near)


def mend() -> None:
    """Add suggestions to the errors of `PassPipeline.parse_spec`."""
    parse_spec = PassPipeline.parse_spec

    def parse_or_suggest(
        available_passes: Any, spec: str, callback: Any = None
    ) -> PassPipeline:
        try:
            return parse_spec(available_passes, spec, callback)
        except ValueError as error:
            near = [*dict.fromkeys(_near_in(available_passes, spec))]
            if not near:
                raise
            message = f"{error}\ndid you mean {', '.join(near)}?"
        raise ValueError(message)

    PassPipeline.parse_spec = staticmethod(parse_or_suggest)
