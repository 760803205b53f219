"""sdy's attributes as text in `mhlo.frontend_attributes`, where HLO keeps them.

    module attributes {mhlo.frontend_attributes = {
        xla.sdy.meshes = "{mesh = #sdy.mesh<[\\22x\\22=2]>}"}}
    %a: tensor<8xf32> {mhlo.frontend_attributes = {
        xla.sdy.sharding = "#sdy.sharding<@mesh, [{\\22x\\22}]>"}}

Source: XLA's `SdyRoundTripImportShardyAttrsPass`. It leaves shardings of ordinary ops
out, as XLA may have copied them to others; here they have to fit.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import ParseError, VerifyException

from ttxdsl.analysis.calls.function_attributes import (
    change_attributes,
)
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.calls.tenstorrent import FRONTEND_ATTRIBUTES
from ttxdsl.ir.traversal import all_ops
from ttxdsl.transforms.frontends.signs import HLO_SHARDING, PREFIX, carries, is_meant

MESHES = "xla.sdy.meshes"
SHARDING = "xla.sdy.sharding"
SHARDING_RULE = "xla.sdy.sharding_rule"
CUSTOM_RULE = "xla.sdy.custom_sharding_rule"
"""The same, written for the author of a kernel, as tt-xla does."""
IN_SHARDINGS = "xla.sdy.in_shardings"
OUT_SHARDINGS = "xla.sdy.out_shardings"
MANUAL_AXES = "xla.sdy.manual_axes"
GROUP = "xla.sdy.sharding_group_id"
DIRECTION = "xla.sdy.allowed_direction"
ALL_ARGUMENTS = "xla.sdy.tuple_args_shardings"
ALL_RESULTS = "xla.sdy.tuple_results_shardings"

_IDLE = frozenset({"xla.sdy.use_tuple_args", "xla.sdy.has_unreduced_axes"})
"""Keys of attributes that repeat other attributes: they are ignored."""

_ON_OPS: Mapping[str, type[Attribute]] = {
    SHARDING: sdy.TensorShardingPerValueAttr,
    SHARDING_RULE: sdy.OpShardingRuleAttr,
    CUSTOM_RULE: sdy.OpShardingRuleAttr,
    IN_SHARDINGS: sdy.TensorShardingPerValueAttr,
    OUT_SHARDINGS: sdy.TensorShardingPerValueAttr,
    MANUAL_AXES: sdy.ManualAxesAttr,
    GROUP: IntegerAttr,
    DIRECTION: IntegerAttr,
}

_ON_MODULES: Mapping[str, type[Attribute]] = {
    MESHES: DictionaryAttr,
    ALL_ARGUMENTS: sdy.TensorShardingPerValueAttr,
    ALL_RESULTS: sdy.TensorShardingPerValueAttr,
}

Carried = dict[Operation, dict[str, Attribute]]
"""Frontend attributes of ops that have no counterpart among the attributes of sdy."""

T = TypeVar("T", bound=Attribute)


class _Reader:
    """Reads the attributes that strings say; each string once."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self._known: dict[str, Attribute] = {}

    def attribute(self, key: str, attribute: Attribute, where: Operation) -> Attribute:
        """Return the attribute under a key, parsed if it is text."""
        if not isinstance(attribute, StringAttr):
            return attribute
        text = attribute.data.replace('\\"', '"')
        if text not in self._known:
            try:
                parser = Parser(self._ctx, text)
                self._known[text] = parser.parse_attribute()
                if parser.pos < len(text.rstrip()):
                    parser.raise_error("more follows")
            except (ParseError, VerifyException) as error:
                reason = error.msg if isinstance(error, ParseError) else str(error)
                raise CompileError(
                    f"{key} cannot be read: {reason.strip()}: {text}", where
                ) from error
        return self._known[text]

    def of_type(
        self, key: str, attribute: Attribute, type: type[T], where: Operation
    ) -> T:
        """Return the attribute under a key, of a class."""
        read = self.attribute(key, attribute, where)
        if isinstance(read, type):
            return read
        match read:
            case sdy.TensorShardingAttr() if type is sdy.TensorShardingPerValueAttr:
                return cast(T, sdy.TensorShardingPerValueAttr([read.data]))
            case sdy.TensorShardingPerValueAttr(data=(sharding,)) if (
                type is sdy.TensorShardingAttr
            ):
                return cast(T, sdy.TensorShardingAttr(sharding))
            case _:
                pass
        raise CompileError(f"{key} is not what it should be: {read}", where)

    def all(
        self,
        entries: Mapping[str, Attribute],
        types: Mapping[str, type[Attribute]],
        where: Operation,
    ) -> dict[str, Attribute]:
        """Return all of sdy's attributes among some entries."""
        meant: dict[str, Attribute] = {}
        for key, entry in entries.items():
            if not key.startswith(PREFIX) or key in _IDLE or _is_blank(entry):
                continue
            if key not in types:
                raise CompileError(f"{key} is not known here: {entry}", where)
            meant[key] = self.of_type(key, entry, types[key], where)
        return meant


def _is_blank(attribute: Attribute) -> bool:
    return isinstance(attribute, StringAttr) and not attribute.data.strip()


def _taken(attributes: dict[str, Attribute]) -> Mapping[str, Attribute]:
    """Return the frontend attributes of some attributes; sdy's are removed from these."""
    dictionary = attributes.pop(FRONTEND_ATTRIBUTES)
    assert isinstance(dictionary, DictionaryAttr)
    rest = {key: value for key, value in dictionary.data.items() if not is_meant(key)}
    if HLO_SHARDING in dictionary.data:
        attributes.setdefault(HLO_SHARDING, dictionary.data[HLO_SHARDING])
    if rest:
        attributes[FRONTEND_ATTRIBUTES] = DictionaryAttr(rest)
    return dictionary.data


def import_frontend_attributes(ctx: Context, module: ModuleOp) -> Carried:
    """Replace the strings of frontend attributes by attributes and meshes of sdy.

    Returns:
        What is said of custom calls, for those who know them.

    Raises:
        CompileError: a string says no attribute, or one that does not belong there.
    """
    reader = _Reader(ctx)
    if carries(module.attributes):
        attributes_of = reader.all(_taken(module.attributes), _ON_MODULES, module)
        _declare_meshes(module, attributes_of.get(MESHES))
        _set_all_shardings(module, attributes_of)
    carried: Carried = {}
    for op in all_ops(module):
        if isinstance(op, FuncOp):
            _import_of_function(reader, op)
        if op is not module and op.attributes and carries(op.attributes):
            attributes_of = reader.all(_taken(op.attributes), _ON_OPS, op)
            if SHARDING in attributes_of:
                op.attributes.setdefault(sdy.SHARDING, attributes_of.pop(SHARDING))
            if SHARDING_RULE in attributes_of:
                op.attributes.setdefault(
                    sdy.SHARDING_RULE, attributes_of.pop(SHARDING_RULE)
                )
            if CUSTOM_RULE in attributes_of:
                written = cast(
                    sdy.OpShardingRuleAttr, attributes_of.pop(CUSTOM_RULE)
                ).data
                # propagation only keeps custom rules
                rule = sdy.OpShardingRuleAttr(replace(written, is_custom=True))
                op.attributes.setdefault(sdy.SHARDING_RULE, rule)
            if attributes_of:
                carried[op] = attributes_of
    return carried


def _declare_meshes(module: ModuleOp, meshes: Attribute | None) -> None:
    known = sdy.mesh_table(module)
    declarations: list[Operation] = []
    for name, mesh in cast(DictionaryAttr, meshes or DictionaryAttr({})).data.items():
        if not isinstance(mesh, sdy.MeshAttr):
            raise CompileError(f"{MESHES}: {name} is no mesh: {mesh}", module)
        if known.get(name, mesh.data) != mesh.data:
            raise CompileError(
                f"{MESHES}: {name} is {mesh.data}, and sdy.mesh says {known[name]}",
                module,
            )
        if name not in known:
            declarations.append(sdy.MeshOp(name, mesh.data))
    Rewriter.insert_op(declarations, InsertPoint.at_start(module.body.block))


def _set_all_shardings(module: ModuleOp, attributes: Mapping[str, Attribute]) -> None:
    """Set the shardings that the module gives all arguments or results of `main`."""
    if not attributes.keys() & {ALL_ARGUMENTS, ALL_RESULTS}:
        return
    main = next(
        (
            op
            for op in module.ops
            if isinstance(op, FuncOp) and op.sym_name.data == "main"
        ),
        None,
    )
    if main is None:
        raise CompileError("the module shards a function main that it has not", module)
    for key, types in (
        (ALL_ARGUMENTS, main.function_type.inputs),
        (ALL_RESULTS, main.function_type.outputs),
    ):
        if key not in attributes:
            continue
        shardings = cast(sdy.TensorShardingPerValueAttr, attributes[key]).data
        if len(shardings) != len(types):
            raise CompileError(
                f"{key} has {len(shardings)} shardings of {len(types)} values", main
            )
        if key == ALL_ARGUMENTS:
            sdy.set_func_shardings(main, arguments=shardings)
        else:
            sdy.set_func_shardings(main, results=shardings)


def _import_of_function(reader: _Reader, function: FuncOp) -> None:
    def imported(entry: dict[str, Attribute], _: Attribute) -> dict[str, Attribute]:
        if carries(entry):
            attributes = reader.all(
                _taken(entry), {SHARDING: sdy.TensorShardingAttr}, function
            )
            if SHARDING in attributes:
                entry.setdefault(sdy.SHARDING, attributes[SHARDING])
        return entry

    change_attributes(function, imported)
