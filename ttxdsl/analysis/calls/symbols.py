"""The symbols of a module: names for new functions and meshes, lookup, dead functions.

Source: MLIR's `SymbolTable` and `symbol-dce`.
"""

from collections import Counter
from collections.abc import Iterator

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.rewriter import Rewriter
from xdsl.traits import SymbolOpInterface

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.ir.data_flow import ByClass
from ttxdsl.ir.traversal import all_ops, ops_of_type

PRIVATE = StringAttr("private")


def symbol_name(op: Operation) -> str | None:
    """Return the name that an op of a module declares, if it declares one."""
    if op.get_trait(SymbolOpInterface) is None:
        return None
    name = op.properties.get("sym_name", op.attributes.get("sym_name"))
    return name.data if isinstance(name, StringAttr) else None


class Symbols:
    """The names that a module declares, and its functions by name.

    Taken names get a number behind them, `f_0`. One counter serves all names, as in
    MLIR: the next clash makes `g_1`.
    """

    def __init__(self, module: ModuleOp):
        self.module = module
        self.functions: dict[str, FuncOp] = {}
        self._taken: set[str] = set()
        self._count = 0
        for op in module.ops:
            name = symbol_name(op)
            if name is not None:
                self._taken.add(name)
            if isinstance(op, FuncOp):
                self.functions[op.sym_name.data] = op

    def take(self, wanted: str) -> str:
        """Return a free name, `wanted` itself if possible; it is taken from now on."""
        name = wanted
        while name in self._taken:
            name = f"{wanted}_{self._count}"
            self._count += 1
        self._taken.add(name)
        return name

    def free(self, name: str) -> None:
        """Say that nothing is called `name` any more."""
        self._taken.discard(name)

    def add_function(self, function: FuncOp) -> str:
        """Put a function at the end of the module; return its name, maybe a new one."""
        name = self.take(function.sym_name.data)
        function.sym_name = StringAttr(name)
        self.functions[name] = function
        self.module.body.block.add_op(function)
        return name

    def remove_function(self, name: str) -> None:
        """Erase a function, whose body may have been moved away."""
        Rewriter.erase_op(self.functions.pop(name))
        self.free(name)

    def callee(self, call: CallOp) -> FuncOp:
        """Return the function that is called.

        Raises:
            CompileError: if the module has none of that name.
        """
        name = call.callee.string_value()
        function = self.functions.get(name)
        if function is None:
            raise CompileError(f"call of undefined function '@{name}'", call)
        return function


def is_private(function: FuncOp) -> bool:
    """Whether nobody outside of the module can call the function."""
    return function.sym_visibility == PRIVATE


def calls_of_private_functions(module: ModuleOp) -> Counter[str]:
    """Return the calls of each private function that nothing but calls names."""
    private = {
        op.sym_name.data
        for op in module.ops
        if isinstance(op, FuncOp) and is_private(op)
    }
    if not private:
        return Counter()
    calls = Counter(call.callee.string_value() for call in ops_of_type(module, CallOp))
    named = Counter(_symbol_references(module))
    return Counter(
        {name: n for name, n in calls.items() if name in private and named[name] == n}
    )


def _names_symbols(attribute_class: type[object]) -> bool:
    """Whether attributes of a class may name a symbol, themselves or inside."""
    return not issubclass(attribute_class, _WITHOUT_SYMBOLS) and issubclass(
        attribute_class, (ArrayAttr, DictionaryAttr, ParametrizedAttribute)
    )


_WITHOUT_SYMBOLS = (DenseArrayBase, DenseIntOrFPElementsAttr, IntegerAttr, TensorType)
_NAMES_SYMBOLS = ByClass(_names_symbols)


def _symbol_references(op: Operation) -> Iterator[str]:
    """Root names of every symbol that the attributes of `op` and its body name."""
    for inner in all_ops(op):
        pending: list[Attribute] = []
        for entries in (inner.properties, inner.attributes):
            for attribute in entries.values():
                if _NAMES_SYMBOLS[type(attribute)]:
                    pending.append(attribute)
        while pending:
            attribute = pending.pop()
            if not _NAMES_SYMBOLS[type(attribute)]:
                continue
            match attribute:
                case SymbolRefAttr(root_reference=root):
                    yield root.data
                case ArrayAttr(data=entries):
                    pending.extend(entries)
                case DictionaryAttr(data=named):
                    pending.extend(named.values())
                case ParametrizedAttribute():
                    pending.extend(attribute.parameters)
                case _:
                    continue


def remove_unused_private_functions(module: ModuleOp) -> None:
    """Erase the private functions that nothing which stays refers to."""
    private = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, FuncOp) and is_private(op)
    }
    if not private:
        return
    roots = [
        op for op in module.ops if not isinstance(op, FuncOp) or not is_private(op)
    ]
    live: set[str] = set()
    while roots:
        for name in _symbol_references(roots.pop()):
            if name in private and name not in live:
                live.add(name)
                roots.append(private[name])
    for name, function in private.items():
        if name not in live:
            Rewriter.erase_op(function)
