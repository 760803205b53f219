"""The module as it is at some point of a pipeline, in a file to look at."""

from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from ttxdsl.loading.files import write_whole


def save_module(module: ModuleOp, directory: str, name: str, index: int) -> None:
    """Write `NN.name.mlir` into a directory; nothing if the directory is `""`.

    Raises:
        CompileError: the file cannot be written.
    """
    if directory:
        write_module(Path(directory, f"{index:02}.{name}.mlir"), module)


def write_module(path: Path, module: ModuleOp) -> None:
    """Write a module into a file; see `write_whole` for what may go wrong."""
    stream = StringIO()
    Printer(stream=stream).print_op(module)
    stream.write("\n")
    write_whole(path, stream.getvalue())


@dataclass(frozen=True)
class SaveModule(ModulePass):
    """Write the module as one of a pipeline's files, where the pipeline has got to."""

    name = "sdy-save-module"

    directory: str
    file: str
    index: int

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write the file; see `save_module`."""
        save_module(op, self.directory, self.file, self.index)
