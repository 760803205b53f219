"""Ops as text, in the generic form too."""

from io import StringIO

from xdsl.ir import Operation
from xdsl.printer import Printer


def printed(op: Operation, *, generic: bool = False, debug: bool = False) -> str:
    """Return the text of an op, generic or with locations if asked for."""
    text = StringIO()
    Printer(text, print_generic_format=generic, print_debuginfo=debug).print_op(op)
    return text.getvalue()
