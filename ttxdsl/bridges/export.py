"""A program as other compilers take it: shardings, and none of our own marks."""

from collections.abc import Collection
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from ttxdsl.analysis.attribution.origins import take_marks_off
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.api.forms import ProgramForm
from ttxdsl.dialects import sdy

_ANNOTATED = 4
"""The stage after which every program has its shardings."""


def annotated_module(
    program: ProgramForm, partition: dict[str, Any], kept: Collection[str] = ()
) -> ModuleOp:
    """Return the program with the shardings that both sides get; its entry is `@main`.

    Args:
        partition: options of `ProgramForm.partition`, which say how a program without
            shardings is split.
        kept: the attributes of arguments that are tt-mlir's and stay.
    """
    module = program.module
    if not any(isinstance(op, sdy.MeshOp) for op in module.ops):
        module = program.partition(**partition, last_stage=_ANNOTATED).module
    take_marks_off(module)
    for function in module.ops:
        if isinstance(function, FuncOp):
            _without_marks(function, kept)
    entry_function(module).sym_name = StringAttr("main")
    for name in [name for name in module.attributes if name.startswith("ttcore.")]:
        del module.attributes[name]
    return module


def _without_marks(function: FuncOp, kept: Collection[str]) -> None:
    """Take tt-mlir's attributes off arguments and results, but for those to keep."""

    def stays(name: str) -> bool:
        return name in kept or not name.startswith(("ttcore.", "ttir."))

    def cleaned(attributes: ArrayAttr[DictionaryAttr]) -> ArrayAttr[DictionaryAttr]:
        return ArrayAttr(
            DictionaryAttr({k: v for k, v in attribute.data.items() if stays(k)})
            for attribute in attributes
        )

    if function.arg_attrs is not None:
        function.arg_attrs = cleaned(function.arg_attrs)
    if function.res_attrs is not None:
        function.res_attrs = cleaned(function.res_attrs)
