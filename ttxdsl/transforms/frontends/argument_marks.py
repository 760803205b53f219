"""tt-xla's marks: what an argument is to the model, its name, and the type of a weight.

    %1 = stablehlo.custom_call @tt.mark_argument(%0) {mhlo.frontend_attributes =
        {ttcore.argument_type = "parameter", ttir.name = "w"}}
    %2 = stablehlo.custom_call @tt.weight_dtype_override(%1) {mhlo.frontend_attributes =
        {ttcore.weight_dtype = "bfp_bf8"}}
    %3 = func.call @"tt.mark_1_8xf32"(%a) {ttcore.argument_type = "parameter"}

A mark is its operand. What it says goes to the arguments of the entry function that its
operand is made of; of two marks on one argument the last one counts.

Source: tt-xla's `annotateArgumentAttributes`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from ttxdsl.analysis.calls.call_graph import callers
from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_functions,
    set_argument_attributes,
)
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import stablehlo, ttcore
from ttxdsl.dialects.calls.tenstorrent import FRONTEND_ATTRIBUTES, MARK_ARGUMENT
from ttxdsl.ir.data_flow import data_flow_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.frontends.signs import is_mark

_WEIGHT_DTYPES = ("bf16", "bfp_bf8", "bfp_bf4")


def import_argument_marks(module: ModuleOp) -> None:
    """Move attributes from marks to arguments of entry functions; erase the marks.

    Raises:
        CompileError: a mark says nothing, or nothing that an argument can be.
    """
    marks = [*filter(is_mark, ops_of_type(module, stablehlo.CustomCallOp, CallOp))]
    if not marks:
        return
    entries = {f: argument_attributes(f) for f in entry_functions(module)}
    roots = _Roots(module)
    for mark in marks:
        marked = _marked_attributes(mark)
        # JAX also marks the arguments of inner models, which are computed values: these
        # are skipped
        through_ops = isinstance(mark, stablehlo.CustomCallOp)
        for argument in roots.of(mark.operands[0], through_ops=through_ops):
            function = argument.owner.parent_op()
            if isinstance(function, FuncOp) and function in entries:
                entries[function][argument.index].update(marked)
    for function, attributes in entries.items():
        set_argument_attributes(function, attributes)
    for mark in marks:
        Rewriter.replace_op(mark, [], mark.operands)


def _marked_attributes(mark: Operation) -> dict[str, Attribute]:
    """Return the attributes of an argument that a mark speaks of."""
    if len(mark.operands) != 1 or mark.result_types != mark.operand_types:
        raise CompileError("a mark is of one tensor, which it returns", mark)
    attributes: Mapping[str, Attribute] = mark.attributes
    if isinstance(mark, stablehlo.CustomCallOp):
        frontend = attributes.get(FRONTEND_ATTRIBUTES)
        attributes = frontend.data if isinstance(frontend, DictionaryAttr) else {}
        if mark.call_target_name.data != MARK_ARGUMENT:
            dtype = _word(mark, ttcore.WEIGHT_DTYPE_ATTRIBUTE, attributes)
            if dtype not in _WEIGHT_DTYPES:
                raise _unknown(
                    mark, ttcore.WEIGHT_DTYPE_ATTRIBUTE, dtype, _WEIGHT_DTYPES
                )
            return {ttcore.WEIGHT_DTYPE_ATTRIBUTE: StringAttr(dtype)}
    key = ttcore.ARGUMENT_TYPE_ATTRIBUTE
    kind = attributes.get(key)
    if not isinstance(kind, ttcore.ArgumentTypeAttr):
        word = _word(mark, key, attributes)
        member = ttcore.ArgumentTypeAttr.named(word)
        if member is None:
            raise _unknown(mark, key, word, ttcore.ArgumentType)
        kind = ttcore.ArgumentTypeAttr(member)
    name = ttcore.ARGUMENT_NAME_ATTRIBUTE
    if name not in attributes:
        return {key: kind}
    return {key: kind, name: StringAttr(_word(mark, name, attributes))}


def _word(mark: Operation, key: str, attributes: Mapping[str, Attribute]) -> str:
    word = attributes.get(key)
    if word is None:
        raise CompileError(f"it does not say {key}", mark)
    if not isinstance(word, StringAttr):
        raise CompileError(f"{key} is no text: {word}", mark)
    return word.data


def _unknown(
    mark: Operation, key: str, word: str, known: Iterable[str]
) -> CompileError:
    return CompileError(f"{key} is none of {', '.join(known)}: {word}", mark)


class _Roots:
    """The arguments of functions without callers that values are made of."""

    def __init__(self, module: ModuleOp) -> None:
        self._callers = callers(module)

    def of(self, value: SSAValue, *, through_ops: bool) -> Iterator[BlockArgument]:
        """Yield the arguments, through loops, computations and calls.

        Args:
            value: that is made of them.
            through_ops: whether it may be computed from them.
        """
        seen, pending = {value}, [value]
        while pending:
            value = pending.pop()
            if (
                isinstance(value, BlockArgument)
                and isinstance(function := value.owner.parent_op(), FuncOp)
                and function.sym_name.data not in self._callers
            ):
                yield value
            for source in self._sources(value, through_ops):
                if source not in seen:
                    seen.add(source)
                    pending.append(source)

    def _sources(self, value: SSAValue, through_ops: bool) -> Iterable[SSAValue]:
        holder = value.owner
        if isinstance(value, BlockArgument):
            holder = value.owner.parent_op()
        assert isinstance(holder, Operation)
        if isinstance(holder, FuncOp):
            index = cast(BlockArgument, value).index
            calls = self._callers.get(holder.sym_name.data, ())
            return [c.operands[index] for c in calls if index < len(c.operands)]
        edges = data_flow_of(type(holder))
        if edges is None:
            return holder.operands if through_ops else ()
        owner = edges.edge_owner(holder, cast(OpResult | BlockArgument, value))
        sources = () if owner is None else edges.edge_sources(holder, owner)
        return [source.value for source in sources]
