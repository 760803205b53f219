"""The names of values in a text, and finding a value by its name.

xDSL keeps names of letters as hints and forgets numbers, so `%42` has to be taken from
the parser while it reads.
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from io import StringIO
from typing import NoReturn

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from ttxdsl.analysis.attribution.origins import unmarked
from ttxdsl.analysis.attribution.pytree_names import leaf_name
from ttxdsl.analysis.attribution.words import path_of
from ttxdsl.analysis.calls.function_attributes import entry_function, result_names
from ttxdsl.diagnostics.errors import CompileError, source_position
from ttxdsl.diagnostics.hints import near_hint
from ttxdsl.dialects import sdy
from ttxdsl.ir.traversal import all_ops, operands_of
from ttxdsl.loading.program import import_foreign_shardings, make_context
from ttxdsl.transforms.frontends.signs import CONSTRAINT, target_of


class _NamingPrinter(Printer):
    """A printer that remembers what it calls each value, and prints nothing."""

    def __init__(self) -> None:
        super().__init__(stream=StringIO())
        self.names: dict[SSAValue, str] = {}

    def print_op(self, op: Operation) -> None:
        if op.regions or any(value not in self.names for value in operands_of(op)):
            super().print_op(op)
        else:
            self._print_results(op)

    def print_ssa_value(self, value: SSAValue) -> str:
        name = super().print_ssa_value(value)
        self.names[value] = f"%{name}"
        return name

    def print_attribute(self, attribute: Attribute) -> None:
        """Attributes name no values."""

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        """Attributes name no values."""


class _Recorded(dict[str, tuple[SSAValue, ...]]):
    """A parser's values by name, which keeps the names that are forgotten, too."""

    def __init__(self) -> None:
        super().__init__()
        self.by_value: dict[SSAValue, str] = {}

    def __setitem__(self, name: str, values: tuple[SSAValue, ...]) -> None:
        super().__setitem__(name, values)
        for index, value in enumerate(values):
            text = f"%{name}" if len(values) == 1 else f"%{name}#{index}"
            self.by_value[value] = text

    def copy(self) -> "_Recorded":
        copied = _Recorded()
        copied.update(self)  # does not record
        copied.by_value = self.by_value
        return copied


def all_values(module: ModuleOp) -> Iterator[SSAValue]:
    """Every value of a module, in an order that a clone has, too."""
    for op in module.walk():
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


class Names:
    """The names of the values of one module.

    Args:
        text: what it was parsed from, or anything that reads as the same program; None
            if it is to be called as it is printed.
    """

    def __init__(
        self, module: ModuleOp, text: str | None = None, source: str = "<text>"
    ):
        self.module = module
        self.entry = entry_function(module)
        self._constrained: dict[str, str] = {}
        """Operands by the results of constraints as custom calls, which may go."""
        if text is not None:
            self._names = self._names_in(text, source)

    @cached_property
    def _names(self) -> dict[SSAValue, str]:
        """The names as the module is printed: few programs need them for an answer."""
        printer = _NamingPrinter()
        printer.print_op(self.module)
        return printer.names

    def _names_in(self, text: str, source: str) -> dict[SSAValue, str]:
        """Return the names of the values of the module in its text."""
        parser = Parser(make_context(), text, source)
        parser.ssa_values = recorded = _Recorded()
        named = parser.parse_module()
        names = recorded.by_value
        # what replaces a value while carriers are imported takes its hint
        of_hint: dict[str | None, str] = {}
        for number, (value, name) in enumerate(names.items()):
            value.name_hint = f"v{number}"
            of_hint[value.name_hint] = name
        self._constrained = {
            names[op.results[0]]: names[op.operands[0]]
            for op in all_ops(named)
            if target_of(op) == CONSTRAINT and len(op.operands) == len(op.results) == 1
        }
        import_foreign_shardings(named, parser.ctx)
        pairs = zip(all_values(self.module), all_values(named), strict=True)
        return {
            value: name
            for value, twin in pairs
            if (name := of_hint.pop(twin.name_hint, None)) is not None
        }

    def name(self, value: SSAValue) -> str | None:
        """`%42`, or `@callee:%42` outside of the entry function; None if unnamed."""
        name = self._names.get(value)
        function = sdy.enclosing_function(value)
        if name is None or function is None or function is self.entry:
            return name
        return f"@{function.sym_name.data}:{name}"

    def find(self, name: str) -> SSAValue:
        """The value of a name; the entry function's goes first.

        Args:
            name: `%42`, `42`, `%5#1`, `@callee:%42`, or the path of an argument or a result,
                `p['w']`, `result[0]`.

        Raises:
            CompileError: there is none of that name, or several; near ones are named.
        """
        scope, colon, rest = name.rpartition(":")
        wanted = rest if rest.startswith("%") else f"%{rest}"
        by_name: dict[str, list[SSAValue]] = {}
        for value, own in self._names.items():
            function = sdy.enclosing_function(value)
            held = "" if function is None else function.sym_name.data
            if colon and held != scope.removeprefix("@"):
                continue
            if not colon and function is not self.entry:
                continue
            by_name.setdefault(own, []).append(value)
        while wanted not in by_name and wanted in self._constrained:
            wanted = self._constrained[wanted]
        values = by_name.get(wanted, [])
        if len(values) == 1 or (values and _is_one_argument(values)):
            return values[0]
        if values:
            places = [source_position(_location(value)) or "?" for value in values]
            raise CompileError(
                f"{name} is the name of {len(values)} values, at {', '.join(places)}",
                hint="give them different names in the text",
            )
        if name.startswith(("%", "@")):
            hint = self._hint(wanted, by_name)
            raise CompileError(f"there is no value {name}", hint=hint)
        return self._of_path(name) or self._unknown_path(name, wanted, by_name)

    @cached_property
    def _paths(self) -> dict[str, SSAValue | None]:
        """Arguments and results of the program by their paths; None for several of one."""
        entry, block = self.entry, self.entry.body.block
        named = [
            (leaf_name(path), argument)
            for argument in block.args
            if (path := path_of(unmarked(argument.location)))
        ]
        if (end := block.last_op) is not None:
            pairs = zip(result_names(entry), end.operands, strict=True)
            named += [(path, value) for path, value in pairs if path]
        paths: dict[str, SSAValue | None] = {}
        for path, value in named:
            paths[path] = None if path in paths else value
        return paths

    def _of_path(self, name: str) -> SSAValue | None:
        return self._paths.get(leaf_name(name.replace('"', "'")))

    def _unknown_path(
        self, name: str, wanted: str, by_name: dict[str, list[SSAValue]]
    ) -> NoReturn:
        hint = self._hint(wanted, by_name)
        if self._paths:
            path = leaf_name(name.replace('"', "'"))
            arguments = filter(None, map(self.name, self.entry.body.block.args))
            known = [*self._paths, *arguments]
            hint = near_hint([path], known, "arguments and results")
        raise CompileError(f"there is no value {name}", hint=hint)

    def _hint(self, wanted: str, by_name: dict[str, list[SSAValue]]) -> str:
        parts = [own for own in by_name if own.startswith(f"{wanted}#")]
        elsewhere = [
            f"{self.name(value)}"
            for value, own in self._names.items()
            if own == wanted and sdy.enclosing_function(value) is not self.entry
        ]
        near = parts or elsewhere or get_close_matches(wanted, by_name, n=4, cutoff=0.4)
        if near:
            return f"did you mean {', '.join(dict.fromkeys(near))}?"
        few = list(by_name)[:8]
        more = ", …" if len(by_name) > len(few) else ""
        return f"the values are {', '.join(few)}{more}" if few else "it has no values"


def _is_one_argument(values: Sequence[SSAValue]) -> bool:
    """Whether values are one argument of several regions of an op, as in a loop."""
    places = {
        (sdy.owning_op(value), value.index)
        if isinstance(value, BlockArgument)
        else None
        for value in values
    }
    return len(places) == 1 and None not in places


def _location(value: SSAValue) -> LocationAttr:
    owner = value.owner
    if isinstance(owner, Operation):
        return owner.location
    parent = owner.parent_op()
    assert parent is not None
    return parent.location
