"""Programs as text and modules: our dialects, reading, printing, and the way down."""

import re
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from ttxdsl.diagnostics.errors import CompileError, memory_errors, source_position
from ttxdsl.ir.collector import without_collections
from ttxdsl.ir.compat import mend_xdsl
from ttxdsl.ir.compat.faults.dominance import verify_dominance
from ttxdsl.ir.compat.faults.locations import (
    UNDEFINED_ALIAS,
    OpError,
    PositionPrinter,
)
from ttxdsl.ir.compat.speed.lexing import BYTE_ORDER_MARK
from ttxdsl.ir.traversal import all_ops, all_ops_inside_out
from ttxdsl.loading.artifacts.reading import artifact_text, not_readable
from ttxdsl.loading.doors import load
from ttxdsl.universe import PASSES, dialects

Form = Literal["stablehlo", "ttir", "ttnn"]
"""In which dialect a program computes; `stablehlo` before and after partitioning."""

_DOWN: tuple[Form, ...] = ("stablehlo", "ttir", "ttnn")

_XDSL_FAULTS = (
    VerifyException,
    AssertionError,
    IndexError,
    KeyError,
    NotImplementedError,
    OverflowError,
    TypeError,
    ValueError,
)
"""What xDSL raises besides `ParseError` while it reads malformed text."""


_SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)
"""What separates programs in one file, as in MLIR's own tests."""

_COMMENT = re.compile(r"//.*$", re.MULTILINE)


def make_context() -> Context:
    """A context with xDSL's dialects, plug-ins' and ours, each loaded when first met.

    Raises:
        CompileError: a plug-in that is installed cannot be loaded.
    """
    mend_xdsl()
    context = Context()
    for name, factory in dialects().items():
        context.register_dialect(name, factory)
    return context


@memory_errors()
@without_collections()
def parse_program(
    text: str, source: str = "<text>", *, context: Context | None = None
) -> ModuleOp:
    """Parse and verify a module.

    Args:
        text: MLIR text, pretty or generic. Shardings that are not sdy's own become it,
            see `import-xla-sdy`.
        source: what to call the text in messages.
        context: dialects to use; a fresh `make_context()` by default.

    Raises:
        CompileError: the text is no module or breaks a rule of its dialects.
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    lines = map(str.strip, StringIO(text))
    if not any(line and not line.startswith("//") for line in lines):
        raise CompileError("there is no program: the text is empty", position=source)
    if (other := _OTHER_LANGUAGE.match(text)) is not None:
        language = "XLA's HLO" if other[1] == "HloModule" else "a jaxpr"
        raise CompileError(
            f"that is {language}, and a program is StableHLO",
            position=source,
            hint="give the text of jitted.lower(…).as_text(), which is not compiled",
        )
    parser: Parser | None = None
    try:
        parser = Parser(context or make_context(), text, source)
        module = parser.parse_module()
    except ParseError as error:
        raise _at(text, source, error.msg, error.span.start, error.span.end) from error
    except OpError as error:
        raise _placed(error.message, error.op, source) from error
    except RecursionError as error:
        offset = parser.pos if parser is not None else 0
        message = "the program is nested too deeply to be read"
        raise _at(text, source, message, offset, offset + 1) from error
    except _XDSL_FAULTS as error:
        # xDSL lets these through for some malformed text; the parser stands near it
        offset = parser.pos if parser is not None else 0
        if isinstance(error, VerifyException):  # at what comes after an attribute
            offset = max(0, len(text[:offset].rstrip()) - 1)
        message = str(error).strip() or type(error).__name__
        raise _at(text, source, message, offset, offset + 1) from error
    _verify(module, source)
    if any(sign in text for sign in _FOREIGN_SIGNS):
        import_foreign_shardings(module, parser.ctx)
        _verify(module, source)
    return module


_OTHER_LANGUAGE = re.compile(r"\s*(HloModule\b|\{\s*lambda\b)")
"""How texts begin that people have of programs, and are no MLIR."""

_FOREIGN_SIGNS = (
    "mhlo.sharding",
    "mhlo.frontend_attributes",
    "mhlo.version",
    "xla.sdy.",
    "tt.mark_",
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
)
"""A text in programs whose shardings `import-xla-sdy` reads."""


def import_foreign_shardings(module: ModuleOp, context: Context) -> None:
    """Import the sharding annotations of exporters other than JAX with Shardy into sdy.

    Raises:
        CompileError: some of it is not understood.
    """
    load(PASSES["import-xla-sdy"])().apply(context, module)


def _verify(module: ModuleOp, source: str) -> None:
    try:
        module.verify()
    except OpError as error:
        raise _placed(error.message, error.op, source) from error
    except _XDSL_FAULTS as error:
        message = str(error).strip()
        raise _placed(message, _first_wrong(module), source) from error


def _first_wrong(module: ModuleOp) -> Operation | None:
    """Return the first op inside that breaks a constraint by itself."""
    for op in all_ops_inside_out(module):
        try:
            op.verify(verify_nested_ops=False)
        except _XDSL_FAULTS:
            return _defined_again(module) if op is module else op
    return None


def _defined_again(module: ModuleOp) -> Operation | None:
    """Return the first op whose symbol another has."""
    names: set[Attribute] = set()
    for op in module.body.block.ops:
        if (name := op.get_attr_or_prop("sym_name")) in names:
            return op
        if name is not None:
            names.add(name)
    return None


def require_dominance(module: ModuleOp) -> None:
    """Check dominance in a module that was built, as `parse_program` does for texts.

    Raises:
        CompileError: an op uses a value that is not defined there.
    """
    try:
        verify_dominance(module)
    except OpError as error:
        raise CompileError(error.message, error.op) from error


def _placed(message: str, where: Operation | None, source: str) -> CompileError:
    """Return the error of an op, which stands in `source` if it does not say where."""
    position = None if where is None else source_position(where.location)
    return CompileError(message, where, position=position or source)


def split_programs(text: str) -> Iterator[str]:
    """Yield the programs of a file, each with its lines at their old numbers."""
    start = 0
    for mark in (*_SPLIT.finditer(text), None):
        end = len(text) if mark is None else mark.start()
        part = text[start:end]
        if _COMMENT.sub("", part).strip():
            yield "\n" * text.count("\n", 0, start) + part
        start = end if mark is None else mark.end()


def read_text(path: Path, sizes: Mapping[str, int] | None = None) -> str:
    """Return the text of the program in a file, see `text_of`.

    Raises:
        CompileError: the file cannot be read.
    """
    source = str(path)
    try:
        with memory_errors():
            data = path.read_bytes()
    except OSError as error:
        raise not_readable(source, error.strerror or str(error)) from error
    return text_of(data, source, sizes)


@memory_errors()
def text_of(data: bytes, source: str, sizes: Mapping[str, int] | None = None) -> str:
    """Bytes as MLIR text, without the byte order mark that may stand before it.

    Args:
        data: UTF-8 text, or a program that jaxlib reads, see `ttxdsl.loading.artifacts`.
        sizes: of the symbolic dimensions of a program that `jax.export` wrote.

    Raises:
        CompileError: they are no program, or need sizes that are not given.
    """
    text = artifact_text(data, source, sizes or {})
    if text is not None:
        return text
    require_no_sizes(source, sizes)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_readable(source, "it is not UTF-8 text") from error
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def require_no_sizes(source: str, sizes: Mapping[str, int] | None) -> None:
    """Refuse sizes of symbolic dimensions for a program that is text.

    Raises:
        CompileError: there are some.
    """
    if sizes:
        reason = "it is text, which has no symbolic dimensions with names"
        raise not_readable(source, reason)


def read_program(path: Path, *, sizes: Mapping[str, int] | None = None) -> ModuleOp:
    """Parse and verify the module in a file, see `text_of`.

    Raises:
        CompileError: the file cannot be read, or see `parse_program`.
    """
    return parse_program(read_text(path, sizes), str(path))


@without_collections()
def program_text(
    module: ModuleOp, *, locations: bool = False, positions: bool = False
) -> str:
    """Return a module as MLIR text, which the C++ tools parse too; the last line ends.

    Args:
        locations: whether its ops say where they come from.
        positions: the same, and of those that do not say it where their text stood.
    """
    stream = StringIO()
    if positions:
        printer = PositionPrinter(stream=stream, print_debuginfo=True)
    else:
        printer = Printer(stream=stream, print_debuginfo=locations)
    printer.print_op(module)
    stream.write("\n")
    return stream.getvalue()


def form_of(module: ModuleOp) -> Form:
    """Return the form of a module, read off the first op that tells."""
    for op in all_ops(module):
        dialect = op.name.partition(".")[0]
        if dialect == "ttir":
            return "ttir"
        if dialect == "ttnn":
            return "ttnn"
    return "stablehlo"


def require_stablehlo(form: Form) -> None:
    """Raise if a program is already partitioned.

    Raises:
        CompileError: it is beyond partitioning.
    """
    if form != "stablehlo":
        raise CompileError(
            f"the program is {form} already: it cannot be partitioned again",
            hint="partition the StableHLO program that it was made of",
        )


def require_not_beyond(form: Form, wanted: Form) -> None:
    """Raise if a program is already lowered beyond a form.

    Raises:
        CompileError: it is further down than what is wanted.
    """
    if _DOWN.index(form) > _DOWN.index(wanted):
        raise CompileError(f"the program is {form} already, not {wanted}")


_OF_MLIR = re.compile(r'\b(module|func)\b|^\s*[#%"!]', re.MULTILINE)
_TEXT_OF_JAX = "jax.jit(f).lower(…).as_text()"
_UNKNOWN = re.compile(r"(?:Operation |')(\w+)\..* is not registered")


def _at(text: str, source: str, message: str, start: int, end: int) -> CompileError:
    """An error about some characters of the text, with the line that they stand in."""
    line, column = _line_and_column(text, start)
    excerpt = _excerpt(text, line, column, end - start)
    hint, rest = None, text[start:].strip()
    if not _OF_MLIR.search(text):
        hint = f"a program begins with module or func.func, as {_TEXT_OF_JAX} writes it"
    elif not rest or ("\n" not in rest and not text.rstrip().endswith("}")):
        hint = "the text ends on that line: it may be cut off"
    elif message.startswith(UNDEFINED_ALIAS):
        hint = "MLIR defines these at the end of the text: it may be cut off"
    elif unknown := _UNKNOWN.fullmatch(message):
        hint = _hint_of_unknown(unknown[1])
    if message.startswith(" in "):
        message = f"unexpected text{message}"  # xDSL says only where
    position = f"{source}:{line}:{column}"
    return CompileError(f"{message}\n{excerpt}", position=position, hint=hint)


def _hint_of_unknown(dialect: str) -> str:
    if dialect in dialects():
        return "it may be of a newer version of its dialect than ttxdsl knows"
    if dialect in ("mhlo", "vhlo"):
        return f"StableHLO is read, not {dialect}: {_TEXT_OF_JAX} writes StableHLO"
    return f"ttxdsl has no dialect {dialect}: it reads StableHLO, ttir and ttnn"


def _line_and_column(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def _excerpt(text: str, line: int, column: int, length: int) -> str:
    """Return the offending line, cut to a readable width, with a marker below."""
    content = text.split("\n")[line - 1].removesuffix("\r")
    start = max(0, column - 1 - 60)
    shown = content[start : start + 120]
    marks = "^" * max(1, min(length, len(shown) - (column - 1 - start)))
    return f"  {shown}\n  {' ' * (column - 1 - start)}{marks}"
