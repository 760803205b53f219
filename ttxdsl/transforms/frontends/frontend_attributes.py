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
"""The same by whom tt-xla asks: the author of a kernel."""
IN_SHARDINGS = "xla.sdy.in_shardings"
OUT_SHARDINGS = "xla.sdy.out_shardings"
MANUAL_AXES = "xla.sdy.manual_axes"
GROUP = "xla.sdy.sharding_group_id"
DIRECTION = "xla.sdy.allowed_direction"
ALL_ARGUMENTS = "xla.sdy.tuple_args_shardings"
ALL_RESULTS = "xla.sdy.tuple_results_shardings"

_IDLE = frozenset({"xla.sdy.use_tuple_args", "xla.sdy.has_unreduced_axes"})
"""What says nothing that is not said elsewhere."""

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
"""What frontend attributes of ops said that no attribute of sdy's says there."""

T = TypeVar("T", bound=Attribute)


class _Reader:
    """Reads the attributes that strings say; each string once."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self._known: dict[str, Attribute] = {}

    def attribute(self, key: str, said: Attribute, where: Operation) -> Attribute:
        """Return the attribute under a key, parsed if it is text.

        Raises:
            CompileError: it is no attribute.
        """
        if not isinstance(said, StringAttr):
            return said
        text = said.data.replace('\\"', '"')
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

    def of_type(self, key: str, said: Attribute, type: type[T], where: Operation) -> T:
        """The same, which is of a class.

        Raises:
            CompileError: it is no such attribute.
        """
        read = self.attribute(key, said, where)
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
        """All that entries say about sdy.

        Raises:
            CompileError: a key is not known.
        """
        found: dict[str, Attribute] = {}
        for key, said in entries.items():
            if not key.startswith(PREFIX) or key in _IDLE or _is_blank(said):
                continue
            if key not in types:
                raise CompileError(f"{key} is not known here: {said}", where)
            found[key] = self.of_type(key, said, types[key], where)
        return found


def _is_blank(said: Attribute) -> bool:
    return isinstance(said, StringAttr) and not said.data.strip()


def _taken(attributes: dict[str, Attribute]) -> Mapping[str, Attribute]:
    """The frontend attributes among some, of which only what is not sdy's stays."""
    said = attributes.pop(FRONTEND_ATTRIBUTES)
    assert isinstance(said, DictionaryAttr)
    rest = {key: value for key, value in said.data.items() if not is_meant(key)}
    if HLO_SHARDING in said.data:
        attributes.setdefault(HLO_SHARDING, said.data[HLO_SHARDING])
    if rest:
        attributes[FRONTEND_ATTRIBUTES] = DictionaryAttr(rest)
    return said.data


def import_frontend_attributes(ctx: Context, module: ModuleOp) -> Carried:
    """Put sdy's attributes in the place of the strings that say them, and the meshes.

    Returns:
        What is said of custom calls, for those who know them.

    Raises:
        CompileError: a string says no attribute, or one that does not belong there.
    """
    reader = _Reader(ctx)
    if carries(module.attributes):
        said = reader.all(_taken(module.attributes), _ON_MODULES, module)
        _declare_meshes(module, said.get(MESHES))
        _set_all_shardings(module, said)
    carried: Carried = {}
    for op in all_ops(module):
        if isinstance(op, FuncOp):
            _import_of_function(reader, op)
        if op is not module and op.attributes and carries(op.attributes):
            said = reader.all(_taken(op.attributes), _ON_OPS, op)
            if SHARDING in said:
                op.attributes.setdefault(sdy.SHARDING, said.pop(SHARDING))
            if SHARDING_RULE in said:
                op.attributes.setdefault(sdy.SHARDING_RULE, said.pop(SHARDING_RULE))
            if CUSTOM_RULE in said:
                written = cast(sdy.OpShardingRuleAttr, said.pop(CUSTOM_RULE)).data
                # propagation keeps what is custom only
                rule = sdy.OpShardingRuleAttr(replace(written, is_custom=True))
                op.attributes.setdefault(sdy.SHARDING_RULE, rule)
            if said:
                carried[op] = said
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


def _set_all_shardings(module: ModuleOp, said: Mapping[str, Attribute]) -> None:
    """Set the shardings that the module gives all arguments or results of `main`."""
    if not said.keys() & {ALL_ARGUMENTS, ALL_RESULTS}:
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
        if key not in said:
            continue
        shardings = cast(sdy.TensorShardingPerValueAttr, said[key]).data
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
            said = reader.all(
                _taken(entry), {SHARDING: sdy.TensorShardingAttr}, function
            )
            if SHARDING in said:
                entry.setdefault(sdy.SHARDING, said[SHARDING])
        return entry

    change_attributes(function, imported)
